"""The examples of the seed document ``graph_api_reference.txt`` that walk over a graph."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from typed_nnx import Linear

from .printed import assert_printed

older_spelling = pytest.mark.filterwarnings("ignore::DeprecationWarning")
"""For examples that NNX has since given a newer name, with a warning at the old one."""


class PlainLinear(nnx.Module):
    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs) -> None:
        self.din, self.dout = din, dout
        self.w = nnx.Param(jax.random.uniform(rngs.next(), (din, dout)))
        self.b = nnx.Param(jnp.zeros((dout,)))


def test_iter_graph_visits_each_node_and_leaf_once_children_first() -> None:
    module = PlainLinear(3, 4, rngs=nnx.Rngs(0))
    rows = [f"{path} {type(value).__name__}" for path, value in nnx.iter_graph([module, module])]
    public = [row for row in rows if "_pytree__" not in row]
    assert_printed(
        "\n".join(public),
        """
        (0, 'b') Param
        (0, 'din') int
        (0, 'dout') int
        (0, 'w') Param
        (0,) PlainLinear
        () list
        """,
    )


def test_iter_graph_prints_the_bookkeeping_rows_of_the_document() -> None:
    module = PlainLinear(3, 4, rngs=nnx.Rngs(0))
    rows = [f"{path} {type(value).__name__}" for path, value in nnx.iter_graph([module, module])]
    assert_printed(
        "\n".join(rows),
        """
        (0, '_pytree__nodes') HashableMapping
        (0, '_pytree__state') PytreeState
        (0, 'b') Param
        (0, 'din') int
        (0, 'dout') int
        (0, 'w') Param
        (0,) PlainLinear
        () list
        """,
    )


@older_spelling
def test_a_clone_shares_no_variable_with_its_model() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    cloned_model = nnx.clone(model)
    assert model.bias is not None
    assert cloned_model.bias is not None
    model.bias.value += 1
    assert (model.bias.value != cloned_model.bias.value).all()


def test_find_duplicates_names_the_paths_of_a_shared_variable() -> None:
    class SharedVariables(nnx.Module):
        def __init__(self) -> None:
            self.a = nnx.Param(jnp.array(1.0))
            self.b = nnx.Param(jnp.array(2.0))
            self.c = self.b  # shared Variable

    duplicates = nnx.find_duplicates(SharedVariables())
    assert len(duplicates) == 1
    assert [str(path) for path in duplicates[0]] == ["('b',)", "('c',)"]


def test_find_duplicates_names_the_paths_of_a_shared_module() -> None:
    class SharedModules(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.a = Linear(1, 1, rngs=rngs)
            self.b = Linear(1, 1, rngs=rngs)
            self.c = self.a  # shared Module

    model = SharedModules(nnx.Rngs(0))
    assert [str(paths) for paths in nnx.find_duplicates(model)] == ["[('a',), ('c',)]"]
    assert nnx.find_duplicates(model, only=nnx.Param) == []


@older_spelling
@pytest.mark.parametrize("pure", [nnx.pure, nnx.as_pure])
def test_pure_replaces_variables_by_their_values(pure: tp.Any) -> None:
    _, state = nnx.split(Linear(2, 3, rngs=nnx.Rngs(0)))
    assert_printed(
        repr(jax.tree.map(jnp.shape, state)),
        """
        State({
          'bias': Param(
            value=(3,)
          ),
          'kernel': Param(
            value=(2, 3)
          )
        })
        """,
    )
    assert_printed(
        repr(jax.tree.map(jnp.shape, pure(state))),
        """
        State({
          'bias': (3,),
          'kernel': (2, 3)
        })
        """,
    )


def test_flatten_pairs_paths_with_leaves_or_gives_the_inner_values_alone() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    graphdef, flat_state = nnx.flatten(model)
    assert graphdef == nnx.graphdef(model)
    assert [path for path, _ in flat_state] == [("bias",), ("kernel",)]
    leaves = dict(flat_state)
    assert leaves["bias",] is model.bias
    assert leaves["kernel",] is model.kernel
    _, values = nnx.flatten(model, with_paths=False)
    assert isinstance(values, list)
    assert [value.shape for value in values] == [(3,), (2, 3)]


def test_unflatten_reuses_the_variables_unless_told_to_copy_them() -> None:
    model = Linear(2, 3, rngs=nnx.Rngs(0))
    graphdef, flat_state = nnx.flatten(model)
    assert nnx.unflatten(graphdef, flat_state).kernel is model.kernel
    copied = nnx.unflatten(graphdef, flat_state, copy_variables=True)
    assert copied.kernel is not model.kernel
    assert jnp.array_equal(copied.kernel[...], model.kernel[...])


def test_two_nodes_flattened_with_one_index_keep_the_reference_that_they_share() -> None:
    shared = nnx.Param(jnp.ones(2))
    ref_index = nnx.graph.RefMap()
    graphdef1, state1 = nnx.flatten([shared], ref_index=ref_index)
    graphdef2, state2 = nnx.flatten({"x": shared}, ref_index=ref_index)
    assert [len(list(state1)), len(list(state2)), len(ref_index)] == [1, 0, 1]

    index_ref = nnx.graph.IndexMap()
    list_ = nnx.unflatten(graphdef1, state1, index_ref=index_ref)
    dict_ = nnx.unflatten(graphdef2, state2, index_ref=index_ref)
    assert list_[0] is dict_["x"]
