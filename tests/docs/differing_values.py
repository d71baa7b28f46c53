"""Rows of docs/differences.md about values and attributes that are changed in place: a program for each."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp

from tests.docs.differing import Case


def model_of(nnx: Any, **attributes: Any) -> Any:
    """Return a Module with a Param and further attributes."""

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.array(2.0))
            self.calls = nnx.BatchStat(jnp.array(0.0))
            for name, value in attributes.items():
                setattr(self, name, value)

        def __call__(self) -> None:
            self.calls[...] += 1

    return Model()


def held(nnx: Any) -> float:
    variable = nnx.Variable({"a": jnp.array(1.0)})
    variable.get_value()["a"] = jnp.array(5.0)
    return float(variable.get_value()["a"])


def static_list(nnx: Any) -> tuple[float, float]:
    model = model_of(nnx, sizes=nnx.static([1, 2]))
    scaled = nnx.jit(lambda model: model.w[...] * sum(model.sizes))
    first = float(scaled(model))
    model.sizes.append(7)
    return first, float(scaled(model))


def static_dataclass(nnx: Any) -> tuple[float, float]:
    @dataclasses.dataclass
    class Config:
        factor: int = 1

    model = model_of(nnx, config=Config())
    scaled = nnx.jit(lambda model: model.w[...] * model.config.factor)
    first = float(scaled(model))
    model.config.factor = 10
    return first, float(scaled(model))


def equal_statics(nnx: Any) -> tuple[float, float]:
    model = model_of(nnx, sign=0.0)
    scaled = nnx.jit(lambda model: jnp.copysign(model.w[...], model.sign))
    first = float(scaled(model))
    model.sign = -0.0
    return first, float(scaled(model))


def applied(nnx: Any) -> float:
    model = model_of(nnx)
    graphdef, state = nnx.split(model)
    graphdef.apply(state)()
    return float(model.calls[...])


def written_past(nnx: Any) -> tuple[float, float]:
    model = model_of(nnx)
    double = nnx.jit(lambda model: model.w[...] * 2)
    double(model)
    object.__setattr__(model, "w", nnx.Param(jnp.array(5.0)))
    unseen = float(double(model))
    if hasattr(nnx, "invalidate"):
        nnx.invalidate(model)
    return unseen, float(double(model))


def slots(nnx: Any) -> float:
    class Model(nnx.Module):
        __slots__ = ("cache",)

        def __init__(self) -> None:
            self.w = nnx.Param(jnp.array(2.0))  # type: ignore[misc]  # it has a `__dict__` too

    return float(nnx.jit(lambda model: model.w[...])(Model()))


STATICS = "a list, dict, set or unfrozen dataclass in a static attribute that is changed in place after a jitted call"

PAST = (
    "`object.__setattr__(model, name, value)` or `vars(model)[name] = value` from outside its class"
)

CASES = [
    Case("a dict or list that `get_value()` returned, changed in place", held, 1.0, 5.0),
    Case(STATICS, static_list, (6.0, 6.0), (6.0, 20.0)),
    Case(STATICS, static_dataclass, (2.0, 2.0), (2.0, 20.0)),
    Case(
        "static numbers that are equal, `1` and `1.0`, `0.0` and `-0.0`",
        equal_statics,
        (2.0, 2.0),
        (2.0, -2.0),
    ),
    Case("`graphdef.apply(state)` of a model that changes its statistics", applied, 1.0, 0.0),
    Case(PAST, written_past, (10.0, 10.0), (4.0, 10.0)),
    Case("a Module class with `__slots__`", slots, TypeError, 2.0),
]
