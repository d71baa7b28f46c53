"""What is measured: the cases, each with the alternatives that do the same thing."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx

import typed_nnx as nnx
from benchmarks.models import build, build_equinox
from benchmarks.timing import Alternative

_PEERS = (("ours", nnx), ("flax", flax_nnx))


class Target(NamedTuple):
    """What the project wants to reach.

    Attributes:
        text: The target in words.
        reached: Whether medians in seconds reach it.
    """

    text: str
    reached: Callable[[dict[str, float]], bool]


def _faster(times: float) -> Target:
    return Target(f">= {times:g}x flax:", lambda found: found["flax"] >= times * found["ours"])


def _of_flat(times: float) -> Target:
    return Target(f"<= {times:g}x flat:", lambda found: found["ours"] <= times * found["flat"])


def _within(seconds: float) -> Target:
    return Target(f"<= {seconds * 1e6:g} µs:", lambda found: found["ours"] <= seconds)


class Case(NamedTuple):
    """One row: a name, the alternatives, the target if there is one."""

    name: str
    alternatives: list[Alternative]
    target: Target | None = None


def _cold(name: str, size: int, act: Callable[[Any, Any], Any], target: Target | None) -> Case:
    """Return a case in which each call gets a model that nobody has looked at."""

    def alternative(label: str, api: Any) -> Alternative:
        return Alternative(label, lambda model: act(api, model), lambda: (build(api, size),))

    return Case(name, [alternative(label, api) for label, api in _PEERS], target)


def _warm(name: str, acts: dict[str, Callable[[], Any]], target: Target | None = None) -> Case:
    return Case(name, [Alternative(label, act) for label, act in acts.items()], target)


def size_cases(size: int) -> Iterator[Case]:
    """Yield the cases for models with a number of Variables; lazily, as they need memory."""
    yield from _split_cases(size)
    yield from _change_cases(size)
    yield from _write_cases(size)
    yield from _jax_cases(size)


def _split_cases(size: int) -> Iterator[Case]:
    ours, theirs, third = build(nnx, size), build(flax_nnx, size), build_equinox(size)
    yield _cold("split, cold", size, lambda api, model: api.split(model), _faster(8))
    yield _warm(
        "split",
        {
            "ours": lambda: nnx.split(ours),
            "flax": lambda: flax_nnx.split(theirs),
            "equinox": lambda: eqx.partition(third, eqx.is_array),
        },
        _faster(50),
    )
    yield _warm(
        "split(Param, ...)",
        {
            "ours": lambda: nnx.split(ours, nnx.Param, ...),
            "flax": lambda: flax_nnx.split(theirs, flax_nnx.Param, ...),
        },
        _faster(50),
    )
    yield _cold(
        "state(Param), cold", size, lambda api, model: api.state(model, api.Param), _faster(8)
    )
    yield _warm(
        "state(Param)",
        {
            "ours": lambda: nnx.state(ours, nnx.Param),
            "flax": lambda: flax_nnx.state(theirs, flax_nnx.Param),
        },
        _faster(50),
    )
    yield _warm(
        "graphdef",
        {"ours": lambda: nnx.graphdef(ours), "flax": lambda: flax_nnx.graphdef(theirs)},
    )


def _change_cases(size: int) -> Iterator[Case]:
    """Yield the cases in which something structural or static changes between two looks."""

    def change_static(api: Any, model: Any) -> Callable[[], Any]:
        norm = model.stages[0].blocks[0].norm

        def act() -> Any:
            norm.use_running_average = not norm.use_running_average
            return api.graphdef(model)

        return act

    def toggle(api: Any, model: Any) -> Callable[[], Any]:
        def act() -> Any:
            model.train()
            api.graphdef(model)
            model.eval()
            return api.graphdef(model)

        return act

    def sow(api: Any, model: Any, value: jax.Array) -> Callable[[], Any]:
        blocks = [block for stage in model.stages for block in stage.blocks]

        def act() -> Any:
            for block in blocks:
                block.seen = api.Intermediate(value)
            return api.pop(model, api.Intermediate)

        return act

    value = jnp.zeros((2,))
    for name, make in (
        ("graphdef, one static changed", change_static),
        ("train(), graphdef, eval(), graphdef", toggle),
        ("one Intermediate per block, pop", lambda api, model: sow(api, model, value)),
    ):
        yield _warm(name, {label: make(api, build(api, size)) for label, api in _PEERS})


def _write_cases(size: int) -> Iterator[Case]:
    ours, theirs, third = build(nnx, size), build(flax_nnx, size), build_equinox(size)
    new, their_new = nnx.state(nnx.clone(ours)), flax_nnx.state(flax_nnx.clone(theirs))
    graphdef, state = nnx.split(ours)
    their_graphdef, their_state = flax_nnx.split(theirs)
    arrays, rest = eqx.partition(third, eqx.is_array)
    yield _warm(
        "update",
        {
            "ours": lambda: nnx.update(ours, new),
            "flax": lambda: flax_nnx.update(theirs, their_new),
        },
        _faster(20),
    )
    yield _warm(
        "merge",
        {
            "ours": lambda: nnx.merge(graphdef, state),
            "flax": lambda: flax_nnx.merge(their_graphdef, their_state),
            "equinox": lambda: eqx.combine(arrays, rest),
        },
        _faster(4),
    )
    yield _warm(
        "clone",
        {"ours": lambda: nnx.clone(ours), "flax": lambda: flax_nnx.clone(theirs)},
        _faster(10),
    )


def _read(tree: Any) -> jax.Array:
    return jax.tree.leaves(tree)[0].sum()


def _add_one(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf + 1, tree)


def _jax_cases(size: int) -> Iterator[Case]:
    """Yield what jax does with a State: it should cost little more than with the flat list."""
    # Each leaf is its own array, as in a real model.
    forms: dict[str, Any] = {
        "ours": jax.tree.map(lambda leaf: leaf + 0, nnx.state(build(nnx, size))),
        "flax": jax.tree.map(lambda leaf: leaf + 0, flax_nnx.state(build(flax_nnx, size))),
        "equinox": jax.tree.map(
            lambda leaf: leaf + 0, eqx.filter(build_equinox(size), eqx.is_array)
        ),
    }
    forms["flat"] = jax.tree.leaves(forms["ours"])

    def compiled(function: Callable[[Any], Any]) -> list[Alternative]:
        def alternative(name: str, form: Any) -> Alternative:
            call = jax.jit(lambda tree: function(tree))
            return Alternative(name, lambda: call(form), finish=jax.block_until_ready)

        return [alternative(name, form) for name, form in forms.items()]

    def traced(function: Callable[[Any], Any]) -> list[Alternative]:
        def alternative(name: str, form: Any) -> Alternative:
            return Alternative(
                name, lambda call: call.trace(form), lambda: (jax.jit(lambda t: function(t)),)
            )

        return [alternative(name, form) for name, form in forms.items()]

    def mapped(form: Any) -> Callable[[], Any]:
        return lambda: jax.tree.map(lambda leaf: leaf, form)

    yield _warm("jax.tree.map", {name: mapped(form) for name, form in forms.items()})
    yield Case("jax.jit, reads, trace (cold)", traced(_read))
    yield Case("jax.jit, reads", compiled(_read), _of_flat(1.7))
    yield Case("jax.jit, updates, trace (cold)", traced(_add_one))
    yield Case("jax.jit, updates", compiled(_add_one), _of_flat(1.7))


def micro_cases() -> Iterator[Case]:
    """Yield the cases of single operations."""
    value = jnp.zeros((2,))
    variables = {label: api.Param(value) for label, api in _PEERS}
    models = {label: build(api, 12) for label, api in _PEERS}
    norms = {label: model.stages[0].blocks[0].norm for label, model in models.items()}
    lists = {label: model.stages[0].blocks for label, model in models.items()}

    def each(make: Callable[[Any, str], Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
        return {label: make(api, label) for label, api in _PEERS}

    def read(api: Any, label: str) -> Callable[[], Any]:
        variable = variables[label]
        return lambda: variable[...]

    def write(api: Any, label: str) -> Callable[[], Any]:
        variable = variables[label]
        return lambda: operator.setitem(variable, ..., value)

    def get(api: Any, label: str) -> Callable[[], Any]:
        norm = norms[label]
        return lambda: norm.scale

    def set_static(api: Any, label: str) -> Callable[[], Any]:
        norm = norms[label]
        return lambda: setattr(norm, "axis", -1)

    def set_data(api: Any, label: str) -> Callable[[], Any]:
        norm, scale = norms[label], norms[label].scale
        return lambda: setattr(norm, "scale", scale)

    def construct(api: Any, label: str) -> Callable[[], Any]:
        norm = type(norms[label])
        return lambda: norm(4, value)

    def iterate(api: Any, label: str) -> Callable[[], Any]:
        blocks = lists[label]
        return lambda: list(blocks)

    yield _warm("v[...]", each(read), _within(0.3e-6))
    yield _warm("v[...] = x", each(write), _within(1.5e-6))
    yield _warm("module.x (a Variable)", each(get))
    yield _warm("module.x = 1 (static)", each(set_static))
    yield _warm("module.x = variable", each(set_data))
    yield _warm("Param(x)", each(lambda api, label: lambda: api.Param(value)))
    yield _warm("Module() with 2 Variables, 6 statics", each(construct))
    yield _warm("list(nnx.List of 2)", each(iterate))
