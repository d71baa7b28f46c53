"""When two values are equal, and how far they are from each other."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from typed_nnx_codegen.verify.comparable import leaves_by_path
from typed_nnx_codegen.verify.differences import Tolerance, compared

TOLERANCE = Tolerance()
ONES = np.ones(3, np.float32)

EQUAL: dict[str, tuple[Any, Any]] = {
    "arrays": (ONES, ONES + 1e-6),
    "large numbers": (ONES * 1e6, ONES * 1e6 + 1),
    "a small number beside a large one": (np.array([1e6, 1.0]), np.array([1e6, 1.5])),
    "NaN": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
    "infinity": (np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf])),
    "numbers": (1, 1.0),
    "text": ("a", "a"),
    "None": (None, None),
    "keys": (jax.random.key(3), jax.random.key(3)),
    "bfloat16": (jnp.ones(2, jnp.bfloat16), jnp.ones(2, jnp.bfloat16)),
    "bfloat16, a step apart": (jnp.ones(2, jnp.bfloat16), jnp.full(2, 1.01, jnp.bfloat16)),
    "float16, a step apart": (jnp.ones(2, jnp.float16), jnp.full(2, 1.001, jnp.float16)),
    "no elements": (np.ones((0, 3)), np.ones((0, 3))),
    "functions": (jax.nn.relu, jax.nn.gelu),
    "a tuple and a list": ((ONES, 1), [ONES, 1]),
}
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "arrays": (ONES, ONES + 1e-4),
    "bfloat16": (jnp.ones(2, jnp.bfloat16), jnp.full(2, 1.1, jnp.bfloat16)),
    "float16": (jnp.ones(2, jnp.float16), jnp.full(2, 1.01, jnp.float16)),
    "shapes": (ONES, np.ones((3, 1), np.float32)),
    "dtypes": (ONES, np.ones(3, np.int32)),
    "NaN on one side": (np.array([np.nan, 1.0]), np.array([0.0, 1.0])),
    "infinity on one side": (np.array([np.inf]), np.array([1.0])),
    "infinities of two signs": (np.array([np.inf]), np.array([-np.inf])),
    "text": ("a", "b"),
    "None and an array": (None, ONES),
    "keys": (jax.random.key(3), jax.random.key(4)),
    "more elements": ((ONES, ONES), (ONES,)),
    "fewer elements": ((ONES,), (ONES, ONES)),
    "booleans": (np.array([True]), np.array([False])),
    "complex numbers": (np.array([1 + 1j]), np.array([1 - 1j])),
}


def states(found: Any, expected: Any) -> set[str]:
    items = compared("outputs", leaves_by_path(found), leaves_by_path(expected), TOLERANCE)
    return {item.state for item in items}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name: str) -> None:
    assert states(*EQUAL[name]) == {"equal"}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    assert "differs" in states(*DIFFERENT[name])


def test_the_largest_differences_are_told() -> None:
    (item,) = compared("outputs", {"": np.array([1.0, 2.5])}, {"": np.array([1.0, 2.0])}, TOLERANCE)

    assert (item.max_abs, item.max_rel) == (0.5, 0.25)


def test_numbers_that_are_not_finite_are_told() -> None:
    (item,) = compared("outputs", {"": np.array([np.nan])}, {"": np.array([np.nan])}, TOLERANCE)

    assert item.note == "1 of 1 are not finite"


def test_classes_of_two_sides_are_compared_by_field() -> None:
    def one_side() -> Any:
        point = namedtuple("point", "x y")

        @dataclasses.dataclass
        class Result:
            value: Any
            where: Any

        class Normal:
            def __init__(self, loc: Any) -> None:
                self.loc = loc

        return [Result(Normal(ONES), point(1, 2))]

    leaves = leaves_by_path(one_side())

    assert set(leaves) == {"[0].value.loc", "[0].where.x", "[0].where.y"}
    assert states(one_side(), one_side()) == {"equal"}
