"""Tracing and lowering a transformer, against functions of nested dicts under `jax.jit`.

A function is new in each round, so that it is traced again; jax's caches of what is inside (``gelu``
and its kin are jitted functions themselves) are warm for all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from benchmarks import transformer
from benchmarks.adam import ADAM, nnx_train_step, optimizer_of
from benchmarks.calls import Planned
from benchmarks.case import Case, of_flat
from benchmarks.subjects import peers
from benchmarks.timing import Alternative

BLOCKS = 48
# Makes a new compiled function, and the arguments to trace it with.
Traced = tuple[Callable[[], Any], tuple[Any, ...]]


def tracing_cases(blocks: int = BLOCKS) -> list[Planned]:
    """Return the cases; their floor is pure jax."""
    subjects = {"forward": _forward, "adam step": _adam_step}
    return [
        Planned(f"{method}, {name}", partial(_case, f"{method}, {name}", method, make, blocks))
        for name, make in subjects.items()
        for method in ("trace", "lower")
    ]


def _case(name: str, method: str, make: Callable[[int], dict[str, Traced]], blocks: int) -> Case:
    def alternative(label: str, new: Callable[[], Any], arguments: tuple[Any, ...]) -> Alternative:
        return Alternative(
            label, lambda jitted: getattr(jitted, method)(*arguments), lambda: (new(),)
        )

    found = [
        alternative(label, new, arguments)
        for label, (new, arguments) in make(blocks).items()
        if hasattr(new(), method)  # equinox cannot stop after tracing
    ]
    return Case(name, found, of_flat(1.0))


def _tokens() -> Any:
    return jnp.zeros((transformer.BATCH, transformer.LENGTH), jnp.int32)


def _forward(blocks: int) -> dict[str, Traced]:
    tokens = _tokens()

    def new(jit: Any) -> Callable[[], Any]:
        return lambda: jit(lambda model, tokens: model(tokens))

    found: dict[str, Traced] = {
        label: (new(api.jit), (transformer.nnx_transformer(api, blocks), tokens))
        for label, api in peers("jit")
    }
    found["equinox"] = (new(eqx.filter_jit), (transformer.equinox_transformer(blocks), tokens))
    found["flat"] = (
        lambda: jax.jit(lambda params, tokens: transformer.functional_forward(params, tokens)),
        (transformer.functional_params(blocks), tokens),
    )
    return found


def _adam_step(blocks: int) -> dict[str, Traced]:
    tokens = _tokens()
    found: dict[str, Traced] = {}
    for label, api in peers("jit", "value_and_grad"):
        model = transformer.nnx_transformer(api, blocks)
        found[label] = (partial(_nnx_step, api), (model, optimizer_of(api, model), tokens))
    third = transformer.equinox_transformer(blocks)
    found["equinox"] = (_equinox_step, (third, ADAM.init(eqx.filter(third, eqx.is_array)), tokens))
    params = transformer.functional_params(blocks)
    found["flat"] = (_functional_step, (params, ADAM.init(params), tokens))
    return found


def _nnx_step(api: Any) -> Any:
    return api.jit(
        nnx_train_step(api, lambda model, tokens: transformer.cross_entropy(model(tokens), tokens))
    )


def _equinox_step() -> Any:
    def step(model: Any, state: Any, tokens: Any) -> Any:
        value, grads = eqx.filter_value_and_grad(
            lambda model: transformer.cross_entropy(model(tokens), tokens)
        )(model)
        updates, state = ADAM.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, value

    return eqx.filter_jit(step)


def _functional_step() -> Any:
    def step(params: Any, state: Any, tokens: Any) -> Any:
        value, grads = jax.value_and_grad(
            lambda params: transformer.cross_entropy(
                transformer.functional_forward(params, tokens), tokens
            )
        )(params)
        updates, state = ADAM.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return jax.jit(step)
