"""What the floor is made of: `jax.jit` on flat lists, with one thing more at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from benchmarks.calls import flat_reading, flat_step, waiting
from benchmarks.subjects import own_arrays
from benchmarks.timing import medians


class Part(NamedTuple):
    """Seconds of a kind of call, and what an array of it costs more than in the kind before."""

    name: str
    seconds: float
    per_array: float | None


def floor_parts(size: int, budget: float) -> list[Part]:
    """Time calls of growing content with `size` arrays of float [2].

    An unused argument is flattened, compared with the last call and dropped; a used one is handed
    to XLA; an output is allocated, computed and wrapped into a `jax.Array`.
    """
    x = jnp.ones(())
    values = own_arrays(size)

    def act(function: Any, *args: Any, **options: Any) -> Callable[[], Any]:
        # A function of its own: jax.jit of one function shares its cache of calls even where the
        # options differ, so that keep_unused would time what was compiled without it.
        call = jax.jit(lambda *args: function(*args), **options)
        return lambda: call(*args)

    def last(result: Any) -> Any:
        return result[-1]

    compiled = jax.jit(flat_step).lower(values, x).compile()
    flatten = jax.tree_util.tree_flatten
    acts: dict[str, Callable[[], Any]] = {
        "one array in, one out": act(lambda x: x + 1, x),
        "jax.tree.flatten of the list alone": lambda: flatten(values),
        "unused arguments": act(flat_reading, values, x),
        "arguments handed to XLA": act(flat_reading, values, x, keep_unused=True),
        "outputs, one argument": act(lambda x: ([x + n for n in range(size)], x), x),
        "arguments and outputs (updating step)": act(flat_step, values, x),
        "the same, donated": _donated(values, x),
        "the same, compiled ahead of time": lambda: last(compiled(values, x)),
    }
    found = medians(waiting(acts), budget)
    base = found["one array in, one out"]
    before = {
        "unused arguments": base,
        "arguments handed to XLA": found["unused arguments"],
        "outputs, one argument": base,
        "arguments and outputs (updating step)": base,
        "the same, donated": base,
        "the same, compiled ahead of time": base,
        "jax.tree.flatten of the list alone": 0.0,
    }
    return [
        Part(name, seconds, (seconds - before[name]) / size if name in before else None)
        for name, seconds in found.items()
    ]


def _donated(values: list[Any], x: Any) -> Callable[[], Any]:
    step = jax.jit(lambda values, x: flat_step(values, x), donate_argnums=0)
    values = [value + 0 for value in values]

    def act() -> Any:
        nonlocal values
        values, result = step(values, x)
        return result

    return act
