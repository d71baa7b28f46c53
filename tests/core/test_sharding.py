"""Sharding metadata of Variables and of initializers.

Where values lie on devices is in `tests/transforms/sharding_on_devices.py`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.errors import MeshRequiredError


@both
def test_sharding_metadata_without_a_mesh_is_an_error(lib: Any) -> None:
    with pytest.raises(ValueError, match="mesh"):
        lib.Param(jnp.ones(2), out_sharding=("data",))


class Block(nnx.Module):
    """A layer whose parameter has a partition, in a list of a model."""

    def __init__(self) -> None:
        self.norm = nnx.LayerNorm(2, rngs=nnx.Rngs(0))
        self.mlp = nnx.Linear(2, 2, kernel_metadata={"out_sharding": ("a", "b")}, rngs=nnx.Rngs(0))
        self.after = 1


class Stack(nnx.Module):
    def __init__(self) -> None:
        self.before = 1
        self.blocks = nnx.List([Block() for _ in range(2)])


class Local(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones(2), out_sharding=("a",))
        self.after = 1


class Loose(nnx.Module):
    def __init__(self) -> None:
        w = nnx.Param(jnp.ones(2), out_sharding=("a",))
        self.w = w


@pytest.mark.parametrize(
    ("make", "path"),
    [(Block, "Block.mlp.kernel"), (Stack, "Stack.blocks.mlp.kernel"), (Local, "Local.w"), (Loose, "Variable")],
    ids=["layer", "list", "own", "local variable"],
)  # fmt: skip
def test_a_missing_mesh_names_layer_and_attribute_and_what_it_names_works(
    make: Any, path: str
) -> None:
    for call in (make, nnx.jit(make)):
        with pytest.raises(MeshRequiredError) as caught:
            call()
        assert str(caught.value).startswith(f"{path}: no mesh for out_sharding=P('a'")
    with nnx.use_eager_sharding(False):
        make()
    with jax.set_mesh(
        jax.make_mesh((1, 1), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    ):
        make()


@both
def test_no_mesh_is_needed_when_the_value_is_not_placed_at_once(lib: Any) -> None:
    variable = lib.Param(jnp.ones(2), out_sharding=("data",), eager_sharding=False)
    assert variable.get_metadata("out_sharding") == ("data",)
    with lib.use_eager_sharding(False):
        lib.Param(jnp.ones(2), out_sharding=("data",))


# -- with_metadata ---------------------------------------------------------------------------------


# The oracle recommends overriding `get_value` instead.
pytestmark = pytest.mark.filterwarnings("ignore:Variable hooks are deprecated")


@both
def test_with_metadata_makes_an_initializer_whose_variable_has_metadata(lib: Any) -> None:
    def zeros(n: int, dtype: Any = jnp.float32) -> Any:
        """Make zeros."""
        return jnp.zeros(n, dtype)

    init = lib.with_metadata(zeros, tag="t", sizes=(1, 2))
    value = init(3, jnp.int32)
    assert isinstance(value, lib.VariableMetadata)
    assert value.metadata == {"tag": "t", "sizes": (1, 2)}
    variable = lib.Param(value, extra=1)
    assert (variable.tag, variable.sizes, variable.extra) == ("t", (1, 2), 1)
    assert (variable.shape, variable.dtype) == ((3,), jnp.int32)
    assert init.__name__ == "zeros"


@both
def test_each_value_of_an_initializer_has_its_own_metadata(lib: Any) -> None:
    init = lib.with_metadata(lambda: 1, tag="t")
    one, two = lib.Param(init()), lib.Param(init())
    one.set_metadata(tag="other")
    assert (two.tag, lib.Param(init()).tag) == ("t", "t")


@both
def test_variable_metadata_has_these_fields(lib: Any) -> None:
    made = lib.VariableMetadata(1)
    hooks = ("set_value", "get_value", "create_value", "add_axis", "remove_axis")
    assert made.raw_value == 1
    assert [getattr(made, f"on_{name}") for name in hooks] == [()] * 5
    assert made.metadata == {}


@both
def test_a_nested_with_metadata_adds_up(lib: Any) -> None:
    variable = lib.Param(lib.VariableMetadata(1, metadata={"a": 1, "b": 2}), c=3)
    assert variable.get_metadata(exclude_required=True) == {"a": 1, "b": 2, "c": 3}


@both
def test_metadata_of_the_initializer_win_over_keywords_and_hooks_do_not(lib: Any) -> None:
    init = lib.with_metadata(lambda: 1, a=1, on_get_value=lambda v, x: x + 1)
    variable = lib.Param(init(), a=2, on_get_value=lambda v, x: x * 10)
    assert (variable.a, variable.get_value()) == (1, 10)
