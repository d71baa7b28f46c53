"""Calls of a compiled function with models that it has not seen before, or not just before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.calls import (
    Planned,
    equinox_reading,
    flat_reading,
    flat_step,
    reading,
    updating_step,
    waiting,
)
from benchmarks.case import Case, Target, of_flat
from benchmarks.models import build, build_equinox
from benchmarks.subjects import equinox_model_of, model_of, own_arrays, peers
from benchmarks.timing import Alternative

ALTERNATING = 50


def new_model_cases(size: int, alternating: int = ALTERNATING) -> list[Planned]:
    """Return the cases for models with a number of Variables."""
    return [
        Planned("first call of a step", partial(_first_call, size)),
        Planned("read-only, fresh models", partial(_fresh_read, size)),
        Planned(f"read-only, {alternating} models in turn", partial(_in_turn, size, alternating)),
    ]


def _first_call(size: int) -> Case:
    """Send a model that nobody has looked at through a step that is compiled already.

    A new function would be traced and compiled in its first call, which takes some 1000 times
    longer than the rest; subtracting that leaves noise. What the rest consists of does not depend
    on the function but on the model: it is walked through, its structure is looked up, and the
    results are written into Variables that were never written before. So the model is new and the
    function is not. The arrays of all models are one array: creating them is not the subject.
    """

    def equinox(model: Any, x: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf + x, model), x + 1

    return Case("first call of a step", _fresh(size, updating_step, equinox, flat_step), of_flat(5))


def _fresh_read(size: int) -> Case:
    """Do the same with a function that only reads, so that gathering is most of it."""
    found = _fresh(size, lambda api: reading, equinox_reading, flat_reading)
    return Case("read-only, fresh models", found)


def _fresh(
    size: int, function: Callable[[Any], Any], equinox: Callable[..., Any], flat: Callable[..., Any]
) -> list[Alternative]:
    x = jnp.ones(())

    def alternative(label: str, call: Any, fresh: Callable[[], Any]) -> Alternative:
        kept: list[Any] = []

        def setup() -> tuple[Any, ...]:
            kept.clear()
            # Another model goes first: the calls of the others have emptied the processor's caches.
            jax.block_until_ready(jax.tree.leaves(call(fresh(), x)))
            return (fresh(),)

        # The result is kept, as ours is in the Variables: nobody frees arrays while timed.
        return Alternative(label, lambda model: kept.append((model, call(model, x))), setup)

    return [
        *[
            alternative(label, api.jit(function(api)), partial(build, api, size))
            for label, api in peers("jit")
        ],
        alternative("equinox", eqx.filter_jit(equinox), partial(build_equinox, size)),
        # Not the function itself, whose compilation other cases share.
        alternative("flat", jax.jit(lambda vs, x: flat(vs, x)), lambda: [jnp.zeros((2,))] * size),
    ]


def _in_turn(size: int, alternating: int) -> Case:
    """One function, many models of equal structure: nothing may be kept for the last one only."""
    x = jnp.ones(())
    traced: list[str] = []

    def rotating(label: str, models: list[Any], jit: Any, read: Any) -> Callable[[], Any]:
        def function(model: Any, x: Any) -> Any:
            traced.append(label)
            return read(model, x)

        call, turn = jit(function), 0

        def act() -> Any:
            nonlocal turn
            turn += 1
            return call(models[turn % alternating], x)

        for _ in range(alternating):
            act()
        return act

    once = Target("traced once:", lambda _: traced.count("ours") == 1)
    acts = {
        label: rotating(label, [model_of(api, size) for _ in range(alternating)], api.jit, reading)
        for label, api in peers("jit")
    }
    third = [equinox_model_of(size) for _ in range(alternating)]
    acts["equinox"] = rotating("equinox", third, eqx.filter_jit, equinox_reading)
    lists = [own_arrays(size) for _ in range(alternating)]
    acts["flat"] = rotating("flat", lists, jax.jit, flat_reading)
    return Case(f"read-only, {alternating} models in turn", waiting(acts), once)
