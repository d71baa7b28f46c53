"""Compiled functions, and functions with bound arguments."""

from __future__ import annotations

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Case, assign
from typed_nnx import errors


def scaled(bag: Bag, x: object) -> object:
    return bag.weight * x


def bag(size: int = 3) -> Bag:
    return Bag(weight=nnx.Param(jnp.ones(size)), mode="train")


def in_another_mode() -> object:
    compiled = nnx.jit(scaled).lower(bag(), 2.0).compile()
    other = bag()
    assign(other, "mode", "eval")
    return compiled(other, 2.0)


def grow_what_is_cached() -> object:
    step = nnx.jit(lambda bag: assign(bag, "mode", "eval"))
    return nnx.cached_partial(step, bag())()


CASES = [
    Case(
        "a static value that a function was not compiled for",
        errors.CompiledCallError,
        in_another_mode,
        ("scaled at ", "bag.mode was the static value 'train', is the static value 'eval'"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a shape that a function was not compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled).lower(bag(), 2.0).compile()(bag(4), 2.0),
        ("scaled at ", "bag.weight", "float32[3] before, float32[4] now"),
        "or call the function that nnx.jit returned",
        TypeError,
    ),
    Case(
        "fewer arguments than a function was compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled).lower(bag(), 2.0).compile()(bag()),
        ("scaled at ", "2 positional arguments before, 1 now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a keyword argument that a function was not compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled).lower(bag(), 2.0).compile()(bag(), 2.0, y=1.0),
        ("scaled at ", "keyword arguments: [] before, ['y'] now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a Module where a function was compiled for an array",
        errors.CompiledCallError,
        lambda: nnx.jit(scaled).lower(bag(), 2.0).compile()(2.0, bag()),
        ("bag: a Bag before, plain values now", "x: plain values before, a Bag now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a dict with other keys than a function was compiled for",
        errors.CompiledCallError,
        lambda: nnx.jit(lambda d: d["x"]).lower({"x": 1.0}).compile()({"y": 1.0}),
        ("d: ", "'x'", "before", "'y'", "now"),
        "call it with arguments of the same structure",
        TypeError,
    ),
    Case(
        "a cached_partial of a function that is not jitted",
        errors.NotJittedError,
        lambda: nnx.cached_partial(scaled, bag()),  # type: ignore[arg-type]  # as tested
        ("cached_partial: expected a function made by nnx.jit, got scaled at ",),
        "nnx.cached_partial(nnx.jit(function), ...)",
    ),
    Case(
        "a cached argument whose structure the function changes",
        errors.StructureChangedError,
        grow_what_is_cached,
        (
            "cached_partial of ",
            "bag.mode was the static value 'train', is the static value 'eval'",
        ),
        "change the structure outside, or pass the object to the function that nnx.jit returned",
    ),
]
