"""Errors of `cond`, `switch`, `scan` and the loops."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Cases, assign
from typed_nnx import errors

X = jnp.arange(3.0)
C = nnx.Carry


def bag() -> Bag:
    """Return a model with a number and, deeper, a weight."""
    return Bag(total=nnx.Variable(jnp.zeros(())), layer=Bag(w=nnx.Param(jnp.ones(3))))


# What a step does, and returns the carry.


def grow(m: Any, *_: Any) -> Any:
    m.layer.new = nnx.Param(jnp.zeros(1))
    return m


def widen(m: Any, *_: Any) -> Any:
    m.layer.w[...] = jnp.ones(3)
    m.total.set_value(jnp.ones(2))
    return m


def count(m: Any, *_: Any) -> Any:
    m.total[...] += 1
    return m


def twice(_: int, m: Any) -> Any:
    return m, m


def nothing(m: Any, *_: Any) -> Any:
    return m


def with_another_object() -> object:
    other = bag()
    return nnx.while_loop(lambda m: m["a"].total < 3, lambda m: {"a": other}, {"a": bag()})


def counting_condition(m: Any) -> Any:
    return count(m).total[...] < 3


def scanned(function: Any, *args: Any, **axes: Any) -> object:
    return nnx.scan(function, **axes)(*args)


def growing_only_one() -> object:
    model = bag()
    return nnx.switch(1, [lambda: None, lambda: assign(model.layer, "mode", "eval")])


CASES: Cases = {
    errors.CarryTypeError: {
        "a new attribute in what is carried": (
            lambda: nnx.fori_loop(0, 3, lambda i, m: grow(m), bag()),
            ("fori_loop of ", "control_flow_cases.py:", "init_val.layer.new was added (a Param)"),
            "create or remove things before or after the loop",
        ),
        "a new attribute in the carry of scan": (
            lambda: scanned(lambda m, x: (grow(m), x), bag(), X),
            ("scan of ", "control_flow_cases.py:", "m.layer.new was added (a Param)"),
            "create or remove things before or after the loop",
        ),
        "another object in the carry": (
            with_another_object,
            ("while_loop of ", "carry['a']", "another Bag was returned than was given"),
            "return them in the same places",
        ),
        "an object where an array was carried": (
            lambda: scanned(lambda c, x: (nnx.Param(c), x), 0.0, X),
            ("scan of ", "carry: an array was given, a Param was returned"),
            "return them in the same places",
        ),
        "a carry of another structure": (
            lambda: scanned(lambda c, x: ({"b": c["a"]}, x), {"a": 0.0}, X),
            ("scan of ", "carry was {'a': an array}, is {'b': an array}"),
            "return them in the same places",
        ),
        "a pair of objects for one": (
            lambda: nnx.fori_loop(0, 3, twice, bag()),
            ("fori_loop of ", "carry was a Bag, is (a Bag, a Bag)"),
            "return them in the same places",
        ),
        "an array in the carry of another shape": (
            lambda: scanned(lambda c, x: ({"n": X, "m": c["m"]}, x), {"n": X[0], "m": bag()}, X),
            ("scan of ", "carry['n']: float32[] before, float32[3] after"),
            "keep shape and dtype",
        ),
        "a value in the carry of another shape": (
            lambda: nnx.while_loop(lambda m: m.total.sum() < 3, widen, bag()),
            ("while_loop of widen at ", "init_val.total: float32[] before, float32[2] after"),
            "keep shape and dtype",
        ),
    },
    errors.StructureChangedError: {
        "a condition that changes an object": (
            lambda: nnx.while_loop(counting_condition, nothing, bag()),
            ("while_loop: ", "counting_condition at ", "control_flow_cases.py:", "init_val.total"),
            "make the change in body_fun",
        ),
        "a condition that changes a structure": (
            lambda: nnx.while_loop(lambda m: grow(m).total[...] < 3, nothing, bag()),
            ("while_loop: ", "init_val (its structure)"),
            "make the change in body_fun",
        ),
    },
    errors.BranchMismatchError: {
        "an attribute that only one branch adds": (
            lambda: nnx.cond(True, grow, nothing, bag()),
            (
                "cond: ",
                "true_fun (grow at ",
                "false_fun (nothing at ",
                "m.layer.new (a Param) is there after",
            ),
            "make the same structural changes in every branch",
        ),
        "a static value that only one branch sets": (
            growing_only_one,
            (
                "switch: ",
                "captured Bag.layer.mode (the static value 'eval')",
                "after branch 1 only",
            ),
            "make the same structural changes in every branch",
        ),
        "a value of another shape in one branch": (
            lambda: nnx.cond(True, widen, nothing, bag()),
            ("m.total is float32[2] after true_fun, float32[] after false_fun",),
            ".reshape(...) in one of the branches",
        ),
        "results of two shapes": (
            lambda: nnx.cond(True, lambda: {"a": X}, lambda: {"a": X[:2]}),
            ("cond: ", "result.a is float32[3] after true_fun, float32[2] after"),
            ".reshape(...) in one of the branches",
        ),
        "results with other keys": (
            lambda: nnx.cond(True, lambda: {"a": X}, lambda: {"b": nnx.Param(X)}),
            ("result: {'a': float32[3]} after true_fun, {'b': a Param} after false_fun",),
            "in every branch",
        ),
        "an object as the result of one branch": (
            lambda: nnx.cond(True, lambda: (1, nnx.Param(X)), lambda: (1, X)),
            ("result[1] is a Param after true_fun, an array after false_fun",),
            "in every branch",
        ),
        "results of two types of Variable": (
            lambda: nnx.cond(True, lambda: nnx.Param(X), lambda: nnx.BatchStat(X)),
            ("result is a Param after true_fun, a BatchStat after false_fun",),
            "in every branch",
        ),
        "new objects whose values have two shapes": (
            lambda: nnx.cond(True, lambda: [bag()], lambda: [widen(bag())]),
            ("result[0].total is float32[] after true_fun, float32[2] after false_fun",),
            ".reshape(...)",
        ),
    },
    errors.PrefixError: {
        "a carry that comes in but not out": (
            lambda: nnx.scan(count, in_axes=(C, 0), out_axes=0),
            ("scan: ", "the other must also have Carry", "in_axes=(Carry, 0), out_axes=0"),
            "out_axes=(nnx.Carry, 0)",
        ),
        "a result that is not stacked": (
            lambda: nnx.scan(count, out_axes=(C, None)),
            ("scan: Cannot broadcast output state", "out_axes=None at: out_axes[1]"),
            "such as 0",
        ),
        "Variables of a result that are not stacked": (
            lambda: nnx.scan(count, out_axes=(C, nnx.StateAxes({...: None}))),
            ("scan: Cannot broadcast output state. Got StateAxes", "at: out_axes[1]"),
            "such as 0",
        ),
        "two carries": (
            lambda: nnx.scan(count, in_axes=(C, C)),
            ("Found multiple Carry definitions at in_axes[0] and in_axes[1]",),
            "carry a tuple",
        ),
        "a carry inside an argument": (
            lambda: nnx.scan(count, in_axes=((C, 0), 0)),
            ("Carry must be at the top-level", "axes=(Carry, 0)"),
            "for the whole argument",
        ),
        "two arguments where all is carry": (
            lambda: scanned(count, 1, 2, in_axes=C, out_axes=C),
            ("When in_axes=Carry", "exactly one argument, got 2 arguments"),
            "an axis for each argument",
        ),
        "fewer arguments than axes": (
            lambda: scanned(count, bag()),
            ("in_axes has 2 entries", "got 1 argument"),
            "one axis for each argument",
        ),
        "one result where two have axes": (
            lambda: scanned(nothing, 1.0, X),
            ("out_axes=(Carry, 0) asks for a tuple of 2 results", "returned an array"),
            "one result for each of out_axes",
        ),
        "a keyword argument of a scanned function": (
            lambda: nnx.scan(lambda c, x, *, k: (c, x))(1.0, X, k=2),
            ("there is no axis for the keyword arguments ['k']",),
            "pass them by position",
        ),
    },
}
