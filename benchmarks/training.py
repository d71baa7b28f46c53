"""Training: time of a step, of tracing it and of building the model, against four others.

``python -m benchmarks.training`` times adam steps of an MLP, a vision transformer and a decoder of
12 blocks, written with typed-nnx and flax.nnx (the same code), Linen, equinox, and by hand as
functions of nested dicts under `jax.jit`. No way donates its arguments.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import optax
from rich.console import Console

from benchmarks.case import PEERS
from benchmarks.graph import conditions
from benchmarks.timing import Alternative, medians
from benchmarks.training_equinox import model_of
from benchmarks.training_functional import FUNCTIONS
from benchmarks.training_linen import linen_construction, linen_state, linen_step
from benchmarks.training_models import Task, tasks
from benchmarks.training_table import Figures, Goals

ADAM = optax.adam(1e-3)
CONSTRUCTED = 2802


def nnx_step(api: Any, task: Task, *, donated: bool = False) -> tuple[Any, tuple[Any, ...]]:
    """Return the compiled step of an NNX library and its arguments."""

    def step(model: Any, optimizer: Any, batch: Any) -> Any:
        loss, grads = api.value_and_grad(task.loss)(model, batch)
        optimizer.update(model, grads)
        return loss

    model = task.make(api, api.Rngs(0))
    compiled = api.jit(step, donate_argnums=(0, 1) if donated else ())
    return compiled, (model, api.Optimizer(model, ADAM, wrt=api.Param), task.batch)


def nnx_loop(api: Any, task: Task, *, donated: bool = False) -> Callable[[], Any]:
    """Return a function that takes one more step each time."""
    step, arguments = nnx_step(api, task, donated=donated)
    return partial(step, *arguments)


def pure_step(task: Task, forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step of functions by hand, uncompiled."""

    def step(params: Any, state: Any, batch: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: task.loss(partial(forward, p), batch))(params)
        updates, state = ADAM.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return step


def hand_arguments(task: Task) -> tuple[Any, Any]:
    """Return params by hand, the values that the NNX model has, and the state of adam."""
    api = PEERS[0][1]
    params = api.to_pure_dict(api.state(task.make(api, api.Rngs(0)), api.Param))
    params = jax.tree.map(lambda leaf: leaf + 0, params)
    return params, ADAM.init(params)


def looped(step: Callable[..., Any], params: Any, state: Any, batch: Any) -> Callable[[], Any]:
    """Return a function that takes one more step each time."""

    def act() -> Any:
        nonlocal params, state
        params, state, loss = step(params, state, batch)
        return loss

    return act


def equinox_step(task: Task) -> Callable[..., Any]:
    """Return a step of equinox, uncompiled."""

    def step(model: Any, state: Any, batch: Any) -> Any:
        def loss_of(model: Any) -> Any:
            return task.loss(jax.vmap(model), batch)

        loss, grads = eqx.filter_value_and_grad(loss_of)(model)
        updates, state = ADAM.update(grads, state, eqx.filter(model, eqx.is_array))
        return eqx.apply_updates(model, updates), state, loss

    return step


def equinox_arguments(task: Task) -> tuple[Any, Any]:
    """Return the model of equinox and the state of adam."""
    model = model_of(task.name)
    return model, ADAM.init(eqx.filter(model, eqx.is_array))


def linen_loop(task: Task) -> Callable[[], Any]:
    """Return a function that takes one more step of Linen each time."""
    step, state = jax.jit(linen_step(task)), linen_state(task, ADAM)

    def act() -> Any:
        nonlocal state
        state, loss = step(state, task.batch)
        return loss

    return act


def step_alternatives(task: Task) -> list[Alternative]:
    """Return a step in each way, compiled; the result is waited for."""
    acts = {label: nnx_loop(api, task) for label, api in PEERS}
    acts["linen"] = linen_loop(task)
    equinox = eqx.filter_jit(equinox_step(task))
    acts["equinox"] = looped(equinox, *equinox_arguments(task), task.batch)
    by_hand = jax.jit(pure_step(task, FUNCTIONS[task.name]))
    acts["by hand"] = looped(by_hand, *hand_arguments(task), task.batch)
    return [
        Alternative(label, lambda act=act: jax.block_until_ready(act()))
        for label, act in acts.items()
    ]


def trace_alternatives(task: Task) -> list[Alternative]:
    """Return tracing and lowering a step in each way; the function is new each time."""
    found = []
    for label, api in PEERS:

        def fresh(api: Any = api) -> tuple[Any, ...]:
            return nnx_step(api, task)

        found.append(Alternative(label, lambda step, arguments: step.lower(*arguments), fresh))
    hand, equinox = hand_arguments(task), equinox_arguments(task)
    linen = (linen_state(task, ADAM),)

    def fresh_hand() -> tuple[Any, ...]:
        return jax.jit(pure_step(task, FUNCTIONS[task.name])), hand

    def fresh_equinox() -> tuple[Any, ...]:
        return eqx.filter_jit(equinox_step(task)), equinox

    def fresh_linen() -> tuple[Any, ...]:
        return jax.jit(linen_step(task)), linen

    lower: Callable[..., Any] = lambda step, arguments: step.lower(*arguments, task.batch)  # noqa: E731  # shared by three rows
    found.append(Alternative("linen", lower, fresh_linen))
    found.append(Alternative("by hand", lower, fresh_hand))
    found.append(Alternative("equinox", lower, fresh_equinox))
    return found


def construction_alternatives(variables: int) -> list[Alternative]:
    """Return building a network of many layers, whose operations are all compiled already."""
    layers = variables // 2

    def nnx_network(api: Any) -> Callable[[], Any]:
        class Network(api.Module):
            def __init__(self, rngs: Any) -> None:
                self.layers = api.List([api.Linear(8, 8, rngs=rngs) for _ in range(layers)])

        return lambda: Network(api.Rngs(0))

    def equinox() -> Any:
        keys = jax.random.split(jax.random.key(0), layers)
        return [eqx.nn.Linear(8, 8, key=key) for key in keys]

    acts = {label: nnx_network(api) for label, api in PEERS}
    acts["linen"], acts["equinox"] = linen_construction(layers), equinox
    # The set-up makes nothing: with one, a turn is a single call, of a second or more here.
    return [Alternative(label, act, tuple) for label, act in acts.items()]


def plan() -> list[tuple[str, Callable[[], list[Alternative]], Goals]]:
    """Return the rows: a name, what makes the alternatives, and the goals by the name of another."""
    rows: list[tuple[str, Callable[[], list[Alternative]], Goals]] = []
    goals = {"flax": 1.0, "by hand": 1.05}
    for task in tasks():
        rows.append((f"{task.name}, step", partial(step_alternatives, task), goals))
        rows.append((f"{task.name}, trace and lower", partial(trace_alternatives, task), goals))
    make = partial(construction_alternatives, CONSTRUCTED)
    return [*rows, (f"construction, {CONSTRUCTED} Variables", make, {"flax": 0.5})]


def main() -> None:
    """Measure, print the table, and write the figures to files if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per row (default: 10)")
    parser.add_argument("--only", metavar="NAME", default="", help="rows whose name contains NAME")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all medians to a file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to a file")
    options = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 150)
    figures = Figures(conditions())
    for name, alternatives, goals in plan():
        if options.only in name:
            console.log(name)
            figures.add(name, medians(alternatives(), options.budget), goals)
    console.print(figures.table(), figures.before)
    if options.json:
        options.json.write_text(figures.as_json(), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(figures.as_markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
