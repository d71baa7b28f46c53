"""What is measured on models of several sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx

import typed_nnx as nnx
from benchmarks.case import PEERS, Case, cold, faster, of_flat, warm
from benchmarks.models import build, build_equinox
from benchmarks.timing import Alternative


def size_cases(size: int) -> Iterator[Case]:
    """Yield the cases for models with a number of Variables; lazily, as they need memory."""
    yield from _split_cases(size)
    yield from _change_cases(size)
    yield from _write_cases(size)
    yield from _jax_cases(size)


def _split_cases(size: int) -> Iterator[Case]:
    ours, theirs, third = build(nnx, size), build(flax_nnx, size), build_equinox(size)
    yield cold("split, cold", size, lambda api, model: api.split(model), faster(8))
    yield warm(
        "split",
        {
            "ours": lambda: nnx.split(ours),
            "flax": lambda: flax_nnx.split(theirs),
            "equinox": lambda: eqx.partition(third, eqx.is_array),
        },
        faster(50),
    )
    yield warm(
        "split(Param, ...)",
        {
            "ours": lambda: nnx.split(ours, nnx.Param, ...),
            "flax": lambda: flax_nnx.split(theirs, flax_nnx.Param, ...),
        },
        faster(50),
    )
    yield cold(
        "state(Param), cold", size, lambda api, model: api.state(model, api.Param), faster(8)
    )
    yield warm(
        "state(Param)",
        {
            "ours": lambda: nnx.state(ours, nnx.Param),
            "flax": lambda: flax_nnx.state(theirs, flax_nnx.Param),
        },
        faster(50),
    )
    yield warm(
        "graphdef", {"ours": lambda: nnx.graphdef(ours), "flax": lambda: flax_nnx.graphdef(theirs)}
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
        yield warm(name, {label: make(api, build(api, size)) for label, api in PEERS})


def _write_cases(size: int) -> Iterator[Case]:
    ours, theirs, third = build(nnx, size), build(flax_nnx, size), build_equinox(size)
    new, their_new = nnx.state(nnx.clone(ours)), flax_nnx.state(flax_nnx.clone(theirs))
    graphdef, state = nnx.split(ours)
    their_graphdef, their_state = flax_nnx.split(theirs)
    arrays, rest = eqx.partition(third, eqx.is_array)
    yield warm(
        "update",
        {"ours": lambda: nnx.update(ours, new), "flax": lambda: flax_nnx.update(theirs, their_new)},
        faster(20),
    )
    yield warm(
        "merge",
        {
            "ours": lambda: nnx.merge(graphdef, state),
            "flax": lambda: flax_nnx.merge(their_graphdef, their_state),
            "equinox": lambda: eqx.combine(arrays, rest),
        },
        faster(4),
    )
    yield warm(
        "clone",
        {"ours": lambda: nnx.clone(ours), "flax": lambda: flax_nnx.clone(theirs)},
        faster(10),
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

    yield warm("jax.tree.map", {name: mapped(form) for name, form in forms.items()})
    yield Case("jax.jit, reads, trace (cold)", traced(_read))
    yield Case("jax.jit, reads", compiled(_read), of_flat(1.7))
    yield Case("jax.jit, updates, trace (cold)", traced(_add_one))
    yield Case("jax.jit, updates", compiled(_add_one), of_flat(1.7))
