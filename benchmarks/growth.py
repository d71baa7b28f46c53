"""What many fresh models through one compiled function leave in memory."""

from __future__ import annotations

import gc
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.calls import equinox_reading, flat_reading, reading, updating_step
from benchmarks.models import build, build_equinox
from benchmarks.subjects import peers

MODELS = 10_000
# Variables of each model.
SIZE = 12
# More than this of objects or bytes per model is growth; a counter here or there is none. Resident
# memory comes in pages, but it alone sees what is allocated outside of Python.
OBJECTS, BYTES, RESIDENT = 0.01, 8.0, 64.0


class Growth(NamedTuple):
    """What was left behind.

    Attributes:
        name: Of the library and the function.
        models: How many fresh models there were.
        objects: Objects that the garbage collector knows, more per model.
        allocated: Bytes that Python allocated (`tracemalloc`), more per model.
        resident: Bytes of resident memory, more per model of the second half.
    """

    name: str
    models: int
    objects: float
    allocated: float
    resident: float

    @property
    def grows(self) -> bool:
        """Whether something is left behind by each model."""
        return self.objects > OBJECTS or self.allocated > BYTES or self.resident > RESIDENT


def growths(models: int = MODELS) -> Iterator[Growth]:
    """Send fresh models through compiled functions, library by library."""
    x = jnp.ones(())
    for label, api in peers("jit"):
        for kind, function in (("read", reading), ("update", updating_step(api))):
            yield _growth(
                f"{label}, {kind}", api.jit(function), partial(build, api, SIZE), x, models
            )
    third = eqx.filter_jit(equinox_reading)
    yield _growth("equinox, read", third, lambda: build_equinox(SIZE), x, models)
    flat = jax.jit(flat_reading)
    yield _growth("floor, read", flat, lambda: [jnp.zeros((2,))] * SIZE, x, models)


def _growth(
    name: str, call: Callable[..., Any], fresh: Callable[[], Any], x: Any, models: int
) -> Growth:
    def send(count: int) -> None:
        for _ in range(count):
            call(fresh(), x)
        gc.collect()

    send(models // 20)  # fills caches of fixed size, and the allocator's arenas
    before = len(gc.get_objects())
    send(models // 2)
    resident = _resident()
    send(models - models // 2)
    resident = _resident() - resident
    objects = len(gc.get_objects()) - before
    traced = models // 10  # tracemalloc is slow
    tracemalloc.start()
    send(traced)
    allocated = -tracemalloc.get_traced_memory()[0]
    send(traced)
    allocated += tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return Growth(
        name, models, objects / models, allocated / traced, resident / (models - models // 2)
    )


def _resident() -> int:
    """Return the bytes of resident memory; where the system does not tell, the most there was."""
    counts = Path("/proc/self/statm")
    if counts.exists():
        return int(counts.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
