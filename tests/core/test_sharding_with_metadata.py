"""Initializers whose arrays come with metadata; laws run against flax too."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from tests.core.libraries import both

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
def test_with_metadata_carries_hooks(lib: Any) -> None:
    init = lib.with_metadata(
        lambda: 1,
        on_get_value=lambda v, x: x * 10,
        on_create_value=[lambda v, x: x + 1, lambda v, x: x + 1],
        on_set_value=lambda v, x: -x,
    )
    variable = lib.Param(init())
    assert (variable.get_raw_value(), variable.get_value()) == (3, 30)
    variable.set_value(5)
    assert variable.get_raw_value() == -5


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
