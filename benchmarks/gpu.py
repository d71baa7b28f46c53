"""On an accelerator: what calls cost, what donation saves, and whether anything waits for the device.

``python -m benchmarks.gpu`` measures on the GPU or TPU that jax finds and prints tables; ``--write`` keeps the
figures in ``docs/gpu.json`` and puts the tables into ``docs/gpu.md``. ``--quick`` tries all of it with small
sizes, on a CPU too. ``make gpu`` runs the tests that need an accelerator before.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.markdown import Markdown

import typed_nnx as nnx
from benchmarks.async_calls import LongComputation, Loop, returned
from benchmarks.calls import call_cases
from benchmarks.case import PEERS
from benchmarks.comparison_page import with_table
from benchmarks.dispatch import measured_again
from benchmarks.dispatch_table import Row
from benchmarks.gpu_page import BEGIN, COLUMNS, FIGURES, PAGE, Call, Figures, Return, Step
from benchmarks.graph import conditions
from benchmarks.timing import Alternative, medians
from benchmarks.training import ADAM, nnx_loop
from benchmarks.training_models import VOCABULARY, Task, cross_entropy, decoder

SIZE, REPEATED = 702, 3
CALLS = {
    "read-only call": "one read",
    "updating step": "all rewritten",
    "updating step, donated": "all rewritten, donated",
}
# Width, blocks, heads, length, batch: on a card of 2024 a step takes some tens of milliseconds.
LARGE, SMALL = (1024, 8, 16, 512, 16), (32, 2, 2, 16, 2)


def log(text: str) -> None:
    """Say on stderr what takes long."""
    print(f"  {time.strftime('%H:%M:%S')}  {text} ...", file=sys.stderr, flush=True)


def call(name: str, found: list[Row]) -> Call:
    """Return the medians of the same case, measured some times."""
    of_floor = {
        name: statistics.median(row.of_floor[name] for row in found)
        for name in COLUMNS
        if name in found[0].of_floor
    }
    floor = statistics.median(row.seconds["flat"] for row in found)
    return Call(name, floor, of_floor, statistics.median(row.again for row in found))


def calls(size: int, budget: float) -> list[Call]:
    """Time compiled calls, until they return, against `jax.jit` on the flat list of the same arrays."""
    found = []
    for planned in call_cases(size):
        if planned.name in CALLS:
            log(planned.name)
            found.append(call(CALLS[planned.name], measured_again(planned, size, budget, REPEATED)))
            jax.clear_caches()
    return sorted(found, key=lambda one: [*CALLS.values()].index(one.name))


def large_task(sizes: tuple[int, ...]) -> Task:
    """Return a decoder with enough to compute for a device, and a batch for it."""
    width, blocks, heads, length, batch = sizes
    make = partial(decoder, width=width, blocks=blocks, heads=heads, length=length)
    tokens = jax.random.randint(jax.random.key(0), (batch, length + 1), 0, VOCABULARY)
    name = f"a decoder of {blocks} blocks of {width:,} on {batch * length:,} tokens, float32"
    return Task(name, make, cross_entropy, (tokens[:, :-1], tokens[:, 1:]))


def floor_loop(task: Task, *, donated: bool) -> Callable[[], Any]:
    """Return steps of our program under `jax.jit`, on the flat list of its arrays."""
    model = task.make(nnx, nnx.Rngs(0))
    graphdef, state = nnx.split((model, nnx.Optimizer(model, ADAM, wrt=nnx.Param)))
    leaves, treedef = jax.tree.flatten(state)

    def step(leaves: list[jax.Array], batch: Any) -> Any:
        model, optimizer = nnx.merge(graphdef, jax.tree.unflatten(treedef, leaves))
        loss, grads = nnx.value_and_grad(task.loss)(model, batch)
        optimizer.update(model, grads)
        return jax.tree.leaves(nnx.state((model, optimizer))), loss

    compiled = jax.jit(step, donate_argnums=(0,) if donated else ())

    def act() -> Any:
        nonlocal leaves
        leaves, loss = compiled(leaves, task.batch)
        return loss

    return act


def peaks(task: Task) -> dict[bool, int | None]:
    """Return the most bytes in use on the device, by whether the step is donated.

    The peak of a process never falls: nothing larger may come before, so the donated step is first.
    """
    found: dict[bool, int | None] = {}
    for donated in (True, False):
        step = nnx_loop(nnx, task, donated=donated)
        for _ in range(3):
            jax.block_until_ready(step())
        stats = jax.local_devices()[0].memory_stats() or {}
        found[donated] = stats.get("peak_bytes_in_use")
        del step
        gc.collect()
    return found


def steps(task: Task, budget: float) -> list[Step]:
    """Time training steps until their loss is there, and measure memory."""
    log(f"memory: {task.name}")
    peak = peaks(task)
    log(f"steps: {task.name}")
    acts = {
        "`jax.jit`": floor_loop(task, donated=False),
        **{COLUMNS[label]: nnx_loop(api, task) for label, api in PEERS},
        "`jax.jit`, donated": floor_loop(task, donated=True),
        "typed-nnx, donated": nnx_loop(nnx, task, donated=True),
    }
    waiting = [
        Alternative(name, lambda act=act: jax.block_until_ready(act()))
        for name, act in acts.items()
    ]
    seconds = medians(waiting, budget)
    measured = {"typed-nnx": peak[False], "typed-nnx, donated": peak[True]}
    floors = {name: "`jax.jit`, donated" if "donated" in name else "`jax.jit`" for name in acts}
    return [
        Step(name, time, time / seconds[floors[name]], measured.get(name))
        for name, time in seconds.items()
    ]


def state_size(task: Task) -> int:
    """Return the bytes of the model and its optimizer."""
    model = nnx.eval_shape(lambda: task.make(nnx, nnx.Rngs(0)))
    optimizer = nnx.eval_shape(lambda model: nnx.Optimizer(model, ADAM, wrt=nnx.Param), model)
    leaves = jax.tree.leaves(nnx.state((model, optimizer)))
    return sum(leaf.size * jnp.dtype(leaf.dtype).itemsize for leaf in leaves)


def returns(computation: LongComputation) -> list[Return]:
    """Time what a training loop calls while the device is busy."""
    loop = Loop()
    acts = loop.acts() | loop.waiting_acts()
    return [Return(name, *returned(act, computation)) for name, act in acts.items()]


def measured(*, quick: bool, budget: float) -> Figures:
    """Measure everything."""
    devices = jax.devices()
    device = f"{len(devices)} x {devices[0].device_kind}" if devices[1:] else devices[0].device_kind
    before = conditions() | {"device": device}
    task, size = large_task(SMALL if quick else LARGE), 72 if quick else SIZE
    found = steps(task, budget)  # first: it measures the peak of memory
    log("calls while the device is busy")
    computation = LongComputation(0.5)
    late = returns(computation)
    return Figures(
        before,
        size,
        calls(size, budget),
        task.name,
        state_size(task),
        found,
        computation.seconds,
        late,
    )


def main() -> None:
    """Measure, print the tables, and write them where they stand."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per row (default: 10)")
    parser.add_argument("--quick", action="store_true", help="small sizes, on a CPU too; unwritten")
    parser.add_argument("--write", action="store_true", help=f"into {FIGURES.name} and {PAGE.name}")
    options = parser.parse_args()
    if jax.default_backend() == "cpu" and not options.quick:
        print("No accelerator: jax computes on the CPU here. Nothing is measured or written.")
        return
    with tempfile.TemporaryDirectory() as folder:
        # A case is measured with fresh models, which compile to the same program.
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        figures = measured(quick=options.quick, budget=1.0 if options.quick else options.budget)
    Console(width=150).print(Markdown(figures.tables()))
    if options.write and not options.quick:
        FIGURES.write_text(figures.as_json(), encoding="utf-8")
        page = with_table(PAGE.read_text(encoding="utf-8"), figures.tables(), BEGIN)
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
