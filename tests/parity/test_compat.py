"""`nnx.compat`: functions over object graphs, whatever mode is set."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both


def shared(lib: Any) -> Any:
    w = lib.Param(jnp.ones(2))
    return lib.Dict(a=w, b=lib.List([w]))


@both
def test_objects_that_share_others_are_split_in_any_mode(lib: Any) -> None:
    with lib.set_graph_mode(False):
        with pytest.raises(ValueError, match="Duplicate"):
            lib.split(shared(lib))
        graphdef, state = lib.compat.split(shared(lib))
        model = lib.merge(graphdef, state)
        assert model.a is model.b[0]
        clone = lib.compat.clone(model)
        assert clone.a is clone.b[0]
        assert clone.a is not model.a
        assert [path for path, _ in lib.compat.iter_modules(model)] == [("b",), ()]


@both
def test_transforms_update_structure_in_any_mode(lib: Any) -> None:
    def grow(model: Any) -> Any:
        model.count = lib.Variable(jnp.zeros(()))
        return model.a[...].sum()

    with lib.set_graph_mode(False), lib.set_graph_updates(False):
        model = shared(lib)
        assert lib.compat.jit(grow)(model) == 2
        assert model.count[...] == 0
        grads = lib.compat.grad(lambda model: (model.a[...] * model.b[0][...]).sum())(shared(lib))
        assert grads["a"][...].tolist() == [2, 2]


def test_the_functions_are_those_of_flax() -> None:
    names = {name for name in vars(flax_nnx.compat) if not name.startswith("_")} - {"functools"}
    assert {name for name in names if not hasattr(nnx.compat, name)} == set()
