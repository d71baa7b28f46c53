"""Where the time of our jitted calls goes: gather, dispatch, write back.

The stages are those of `typed_nnx._transforms.jit`; this file is the only one here that knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from benchmarks.calls import flat_loop, flat_reading, reading, updating_step, waiting
from benchmarks.subjects import model_of, own_arrays
from benchmarks.timing import medians
from typed_nnx._transforms.engine.call import quick_call
from typed_nnx._transforms.engine.write import write_values

KINDS = ("updating step", "read-only call")


def stages(kind: str, size: int, budget: float) -> dict[str, float]:
    """Return median seconds of the stages of a call, of the whole call and of the floor.

    The stages are timed one by one, so their sum differs from the whole: "dispatch" frees its new
    arrays, while in a whole call it is "write back" that frees the old ones.
    """
    x = jnp.ones(())
    model: Any = model_of(nnx, size)
    updates = kind == KINDS[0]
    call: Any = nnx.jit(updating_step(nnx) if updates else reading)
    call(model, x)
    call(model, x)
    taken_apart: Any = quick_call((model, x), frozenset())
    signature = call._quick[taken_apart.key]
    changed, _, effects = call._jitted(signature, (), *taken_apart.values)

    def gather() -> Any:
        return quick_call((model, x), frozenset())

    def dispatch() -> Any:
        return call._jitted(signature, (), *taken_apart.values)[1]

    def write_back() -> Any:
        return write_values(taken_apart.graphs, effects, changed)

    flat = jax.jit(lambda values, x: flat_reading(values, x))
    values = own_arrays(size)
    acts: dict[str, Callable[[], Any]] = {
        "gather": gather,
        "dispatch": dispatch,
        "write back": write_back,
        "whole call": lambda: call(model, x),
        "floor": flat_loop(size) if updates else lambda: flat(values, x),
    }
    return medians(waiting(acts), budget)
