"""Types of `cond`, `switch`, `while_loop` and `fori_loop`: results, lambdas, operands, carries."""

from __future__ import annotations

from typing import Any, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import MLP, Block, Temperature

Carry = tuple[MLP, jax.Array]


def run(model: MLP, x: jax.Array) -> jax.Array:
    """A branch with a result."""
    return model(x)


def skip(model: MLP, x: jax.Array, *, scale: float = 1.0) -> float:
    """A branch with another result, and an option that it is not given."""
    return scale


def train(model: MLP) -> None:
    """A branch without a result."""
    model.train()


def counted(i: int, x: jax.Array) -> jax.Array:
    """A step that says int for the counter."""
    return x * i


def traced(i: jax.Array, x: jax.Array) -> jax.Array:
    """A step that says what the counter is."""
    return x * i


def named(i: str, x: jax.Array) -> jax.Array:
    """A step that is none."""
    return x


def cond(pred: jax.Array, count: nnx.Variable[jax.Array], model: MLP, x: jax.Array) -> None:
    """One of two."""
    assert_type(nnx.cond(pred, run, run, model, x), jax.Array)
    assert_type(nnx.cond(True, run, skip, model, x), jax.Array | float)
    assert_type(nnx.cond(count, train, train, model), None)
    assert_type(nnx.cond(pred, lambda m, y: m(y), lambda m, y: y, model, x), jax.Array)
    assert_type(nnx.cond(pred, lambda m, y: m, lambda m, y: m, model, x), MLP)
    assert_type(nnx.cond(pred, lambda: model.classes, lambda: 0), int)
    assert_type(nnx.cond(pred, model, model.first, x, graph=True), jax.Array)
    nnx.cond(pred, run, run, model)  # E: [arg-type|reportArgumentType]
    nnx.cond(pred, run, run, x, model)  # E: [arg-type|reportArgumentType]
    nnx.cond(pred, run, train, model, x)  # E: [arg-type|reportArgumentType]
    nnx.cond(pred, lambda m: m.nope, lambda m: m, model)  # E
    nnx.cond("yes", run, run, model, x)  # E: [arg-type|reportArgumentType]
    nnx.cond(pred, run, model, x)  # E


def switch(index: jax.Array, model: MLP, x: jax.Array, block: Block) -> None:
    """One of many."""
    assert_type(nnx.switch(index, [run, run], model, x), jax.Array)
    assert_type(nnx.switch(0, (run, run, run), model, x), jax.Array)
    # mypy infers no type for lambdas in a sequence.
    assert_type(nnx.switch(index, [lambda m: m, lambda m: m], model), MLP)  # E mypy: it gives Any
    assert_type(nnx.switch(index, list(model.blocks), x), jax.Array)
    nnx.switch(index, [run, skip], model, x)
    nnx.switch(index, [lambda m, y: m(y), lambda m, y: y], model, x)
    nnx.switch(index, [run, run], x, model)  # E
    nnx.switch(index, [run, skip], model)  # E
    nnx.switch(index, [lambda m: m.nope], model)  # E: [attr-defined|reportAttributeAccessIssue]
    nnx.switch(index, run, model, x)  # E
    nnx.switch("1", [run], model, x)  # E
    nnx.switch(index, [block], model)  # E


def while_loop(model: MLP, x: jax.Array, t: Temperature) -> None:
    """As long as a condition holds."""
    assert_type(nnx.while_loop(lambda y: y.sum() < 3, lambda y: y + 1, x), jax.Array)
    assert_type(nnx.while_loop(lambda c: c[1][0] < 1, lambda c: c, (model, x)), Carry)
    assert_type(nnx.while_loop(lambda c: c[...] < 1, lambda c: c, t), Temperature)
    assert_type(nnx.while_loop(lambda m: True, lambda m: m, model, graph=True), MLP)
    nnx.while_loop(lambda m: True, lambda m: "x", model)  # E
    nnx.while_loop(lambda m: m.nope, lambda m: m, model)  # E
    nnx.while_loop(lambda y: None, lambda y: y, x)  # E
    nnx.while_loop(lambda y: True, traced, x)  # E
    nnx.while_loop(lambda y: True, lambda y: y)  # E


def fori_loop(model: MLP, x: jax.Array, end: nnx.Variable[jax.Array]) -> None:
    """For each number of a range."""
    assert_type(nnx.fori_loop(0, 3, lambda i, y: y + i, x), jax.Array)
    assert_type(nnx.fori_loop(0, 3, lambda i, c: (c[0], c[1] * i), (model, x)), Carry)
    assert_type(nnx.fori_loop(0, end, lambda i, m: m, model, unroll=2), MLP)
    assert_type(nnx.fori_loop(0, 3, counted, x), jax.Array)
    assert_type(nnx.fori_loop(0, 3, traced, x), jax.Array)
    nnx.fori_loop(0, 3, named, x)  # E
    nnx.fori_loop(0, 3, counted, model)  # E
    nnx.fori_loop(0, 3, lambda i, m: "x", model)  # E
    nnx.fori_loop("0", 3, counted, x)  # E
    nnx.fori_loop(0, 3, lambda y: y, x)  # E
    nnx.fori_loop(0, 3, counted)  # E


def of_unknown_types(model: Any, anything: Any) -> None:
    """What is not typed gives no error."""
    nnx.cond(anything, run, run, model, anything)
    nnx.switch(anything, anything, model)
    nnx.while_loop(anything, anything, model)
    nnx.fori_loop(anything, anything, anything, model)
