"""What is measured of single operations on Variables and Modules."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp

from benchmarks.case import PEERS, Case, warm, within
from benchmarks.models import build


def micro_cases() -> Iterator[Case]:
    """Yield the cases of single operations."""
    value = jnp.zeros((2,))
    variables = {label: api.Param(value) for label, api in PEERS}
    models = {label: build(api, 12) for label, api in PEERS}
    norms = {label: model.stages[0].blocks[0].norm for label, model in models.items()}
    lists = {label: model.stages[0].blocks for label, model in models.items()}

    def each(make: Callable[[Any, str], Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
        return {label: make(api, label) for label, api in PEERS}

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

    yield warm("v[...]", each(read), within(0.3e-6))
    yield warm("v[...] = x", each(write), within(1.5e-6))
    yield warm("module.x (a Variable)", each(get))
    yield warm("module.x = 1 (static)", each(set_static))
    yield warm("module.x = variable", each(set_data))
    yield warm("Param(x)", each(lambda api, label: lambda: api.Param(value)))
    yield warm("Module() with 2 Variables, 6 statics", each(construct))
    yield warm("list(nnx.List of 2)", each(iterate))
