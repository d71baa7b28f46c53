"""Calls that flax's signatures allow and that no other test makes; laws run against flax too."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.helpers import has_keyword_arg


def linear(lib: Any) -> Any:
    return lib.Linear(2, 3, rngs=lib.Rngs(0))


@both
def test_a_graphdef_applies_a_state(lib: Any) -> None:
    model, x = linear(lib), jnp.ones((1, 2))
    graphdef, state = lib.split(model)
    output, (after, _) = graphdef.apply(state)(x)
    assert output.tolist() == model(x).tolist()
    assert after == graphdef
    parts = lib.split(lib.List([model]), lib.Param, ...)
    output, _ = parts[0].apply(*parts[1:], graph=True)[0](x)
    assert output.tolist() == model(x).tolist()
    nothing, (after, _) = graphdef.apply(state).train()
    assert nothing is None
    assert after == graphdef


@both
def test_a_split_context_flattens_by_filters(lib: Any) -> None:
    model = linear(lib)
    with lib.split_context() as context:
        graphdef, kernel, rest = context.flatten(model, lib.PathContains("kernel"), ...)
    assert [path for path, _ in kernel] == [("kernel",)]
    assert [path for path, _ in rest] == [("bias",)]
    with lib.merge_context() as context:
        merged = context.unflatten(graphdef, kernel, rest)
    assert merged(jnp.ones((1, 2))).tolist() == model(jnp.ones((1, 2))).tolist()


@both
def test_a_split_context_flattens_without_paths(lib: Any) -> None:
    model = linear(lib)
    with lib.split_context() as context:
        graphdef, values = context.flatten(model, with_paths=False)
    assert [value.shape for value in values] == [(3,), (2, 3)]
    with lib.merge_context() as context:
        merged = context.unflatten(graphdef, values)
    assert merged.kernel[...].tolist() == model.kernel[...].tolist()
    with lib.split_context() as context, pytest.raises(ValueError, match="with_paths=False"):
        context.flatten(model, lib.Param, with_paths=False)


@both
def test_node_states_can_be_changed(lib: Any) -> None:
    graphdef, state = lib.split(linear(lib))
    node = lib.NodeStates.from_split(graphdef, state).replace(metadata="mine")
    assert (node.metadata, node.graphdef) == ("mine", graphdef)
    with pytest.raises(TypeError):
        node.replace(unknown=1)
    with pytest.raises(TypeError):
        lib.NodeStates.from_states()


@both
def test_diff_state_says_which_variables_it_means(lib: Any) -> None:
    chosen = lib.DiffState(0, lib.Param)
    assert chosen.map_prefix(("a",), lib.Param(1)) is True
    assert chosen.map_prefix(("a",), lib.Variable(1)) is False


@both
def test_variables_with_references_can_be_marked_mutable(lib: Any) -> None:
    variables = {"a": lib.Param(jnp.ones(2)), "b": lib.Variable(jnp.ones(2))}
    found = lib.with_vars(variables, ref=True, mutable=True, only=lib.Param)
    assert found["a"].get_metadata() == {
        "hijax": False,
        "ref": True,
        "eager_sharding": True,
        "mutable": True,
    }
    assert found["b"].get_metadata() == {"hijax": False, "ref": False, "eager_sharding": True}


def test_any_variable_can_be_marked_mutable_where_flax_needs_the_item_first() -> None:
    variable = nnx.with_vars(nnx.Param(jnp.ones(2)), mutable=False)
    assert variable.get_metadata("mutable") is False


@both
def test_variables_that_are_as_asked_stay_the_same_objects(lib: Any) -> None:
    variables = {"a": lib.Param(jnp.ones(2))}
    assert lib.with_vars(variables, hijax=False)["a"] is variables["a"]
    assert lib.with_vars(variables)["a"] is variables["a"]


@both
@pytest.mark.filterwarnings("ignore:Variable hooks are deprecated:UserWarning")
def test_hooks_of_metadata_are_given_by_name_or_position(lib: Any) -> None:
    def double(variable: Any, value: Any) -> Any:
        return value * 2

    def ones(key: Any, shape: Any) -> Any:
        return jnp.ones(shape)

    for wrapped in (
        lib.with_metadata(ones, double, mine=1),
        lib.with_metadata(ones, on_set_value=double, mine=1),
        lib.with_metadata(ones, on_set_value=[double], mine=1),
    ):
        variable = lib.Param(wrapped(0, (2,)))
        variable.set_value(jnp.ones(2))
        assert variable.get_raw_value().tolist() == [2, 2]
        assert variable.get_metadata("mine") == 1


def test_parameters_that_can_be_named_are_found() -> None:
    assert has_keyword_arg(lambda a: 0, "a")
    assert has_keyword_arg(lambda *, a: 0, "a")
    assert not has_keyword_arg(lambda a, /: 0, "a")
    assert not has_keyword_arg(lambda *a, **b: 0, "a")
    assert not has_keyword_arg(lambda *a, **b: 0, "b")
