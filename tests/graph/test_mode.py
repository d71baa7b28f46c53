"""`graph=False` and `set_graph_mode`: an assertion that the objects are a tree."""

from __future__ import annotations

import typing as tp

import jax.numpy as jnp
import pytest

import typed_nnx as nnx

FUNCTIONS: dict[str, tp.Callable[..., tp.Any]] = {
    "split": nnx.split,
    "state": nnx.state,
    "graphdef": nnx.graphdef,
    "clone": nnx.clone,
    "flatten": nnx.flatten,
    "unpack": nnx.unpack,
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())


def shared() -> tp.Any:
    w = nnx.Param(jnp.ones(1))
    return nnx.Dict(a=w, b=nnx.List([w]))


def tree() -> tp.Any:
    return nnx.Dict(
        a=nnx.Param(jnp.ones(1)), b=nnx.List([nnx.Param(jnp.zeros(1))]), n=nnx.data([None])
    )


@every_function
def test_sharing_is_an_error_with_all_paths(function: tp.Callable[..., tp.Any]) -> None:
    with pytest.raises(nnx.errors.SharedReferenceError) as caught:
        function(shared(), graph=False)
    text = str(caught.value)
    assert "Duplicate Param found at paths:" in text
    assert "('a',)" in text
    assert "('b', 0)" in text
    assert "graph=True" in text
    function(shared(), graph=True)
    function(shared())


def test_the_mode_is_set_for_a_block_and_restored() -> None:
    assert nnx.set_graph_mode.current_value() is True
    with nnx.set_graph_mode(False):
        assert nnx.set_graph_mode.current_value() is False
        with pytest.raises(nnx.errors.SharedReferenceError):
            nnx.split(shared())
        nnx.split(shared(), graph=True)
        with nnx.set_graph_mode(True):
            nnx.split(shared())
        with pytest.raises(nnx.errors.SharedReferenceError):
            nnx.split(shared())
    nnx.split(shared())


def test_graph_updates_are_set_in_the_same_way() -> None:
    assert nnx.set_graph_updates.current_value() is True
    with nnx.set_graph_updates(False):
        assert nnx.set_graph_updates.current_value() is False
        assert nnx.set_graph_mode.current_value() is True
    assert nnx.set_graph_updates.current_value() is True
