"""`to_refs`, `to_arrays`, `with_vars`: arrays and references, bare and in Variables."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

Tree = tp.Any


@functools.cache
def model_class() -> tp.Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones(2), note="n")
            self.inner = nnx.List([nnx.BatchStat(jnp.zeros(1)), jnp.zeros(3)])
            self.name = "model"

    return Model


def kinds(tree: Tree) -> list[tp.Any]:
    """Whether each leaf is a reference: R or A, in Variables lower case."""
    leaves = jax.tree.leaves(
        tree, is_leaf=lambda x: isinstance(x, nnx.Variable) or nnx.is_array_ref(x)
    )
    return [
        ("r" if nnx.is_array_ref(x.get_raw_value()) else "a")
        if isinstance(x, nnx.Variable)
        else ("R" if nnx.is_array_ref(x) else "A")
        for x in leaves
    ]


def test_arrays_become_references_and_arrays_again() -> None:
    model = model_class()()
    refs = nnx.to_refs(model)
    assert kinds(model) == ["a", "A", "a"]
    assert kinds(refs) == ["r", "R", "r"]
    assert kinds(nnx.to_arrays(refs)) == ["a", "A", "a"]
    assert (refs.name, refs.w.note, refs.w.ref) == ("model", "n", True)
    assert nnx.to_arrays(refs).w.ref is False


def test_writing_to_a_reference_changes_it_in_place_and_not_the_original() -> None:
    model = model_class()()
    refs = nnx.to_refs(model)
    raw = refs.w.get_raw_value()
    refs.w[...] = jnp.full(2, 5.0)
    refs.inner[1][...] = jnp.ones(3)
    assert refs.w.get_raw_value() is raw
    assert raw[...].tolist() == [5.0, 5.0]
    assert model.w[...].tolist() == [1.0, 1.0]
    assert nnx.to_arrays(refs).inner[1].tolist() == [1.0, 1.0, 1.0]


def test_a_filter_chooses_what_is_converted() -> None:
    model = model_class()()
    assert kinds(nnx.to_refs(model, nnx.BatchStat)) == ["r", "A", "a"]
    refs = nnx.to_refs(model)
    assert kinds(nnx.to_arrays(refs, only=nnx.Param)) == ["r", "R", "a"]
    assert kinds(nnx.to_refs([jnp.ones(1), jnp.ones(1)], only=lambda p, x: p[0] == 0)) == ["R", "A"]


def test_what_is_converted_already_stays_the_same_object() -> None:
    ref = nnx.array_ref(jnp.ones(1))
    assert nnx.to_refs([ref])[0] is ref
    array = jnp.ones(1)
    assert nnx.to_arrays([array])[0] is array


X, R, V = jnp.ones(1), nnx.array_ref(jnp.ones(1)), nnx.Param(jnp.ones(1))


def test_duplicates_may_be_allowed() -> None:
    first, second = nnx.to_arrays([R, R], allow_duplicates=True)
    assert first.tolist() == second.tolist() == [1.0]
    one, other = nnx.with_vars([V, V], ref=True, allow_duplicates=True)
    assert one.get_raw_value() is not other.get_raw_value()


def test_with_vars_changes_variables_alone() -> None:
    model = model_class()()
    refs = nnx.with_vars(model, ref=True)
    assert kinds(refs) == ["r", "A", "r"]
    assert kinds(nnx.with_vars(refs, ref=False)) == ["a", "A", "a"]
    assert kinds(nnx.with_vars(model, ref=True, only=nnx.Param)) == ["a", "A", "r"]
    assert kinds(nnx.with_vars(refs)) == ["r", "A", "r"]
    with pytest.warns(UserWarning, match="hijax"):
        assert nnx.with_vars(model, hijax=True).w.hijax is True
    assert nnx.vars_as is nnx.with_vars


def test_array_ref_and_its_test_and_type() -> None:
    ref = nnx.array_ref(jnp.ones(2))
    assert isinstance(ref, nnx.ArrayRef)
    assert nnx.is_array_ref(ref)
    assert not nnx.is_array_ref(jnp.ones(2))
    assert not nnx.is_array_ref(nnx.Param(jnp.ones(2), ref=True))


def test_a_shared_reference_stays_shared_through_split_and_merge() -> None:
    shared = nnx.array_ref(jnp.ones(1))
    model: tp.Any = nnx.Dict(a=shared, b=nnx.List([shared]))
    graphdef, state = nnx.split(model)
    assert list(nnx.to_flat_state(state).paths) == [("a",)]
    merged = nnx.merge(graphdef, state)
    assert merged["a"] is merged["b"][0] is shared
