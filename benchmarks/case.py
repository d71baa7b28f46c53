"""What a row of the benchmark tables is: a case with alternatives and perhaps a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flax import nnx as flax_nnx

import typed_nnx as nnx
from benchmarks.models import build
from benchmarks.timing import Alternative

PEERS = (("ours", nnx), ("flax", flax_nnx))


class Target(NamedTuple):
    """What the project wants to reach.

    Attributes:
        text: The target in words.
        reached: Whether medians in seconds reach it.
    """

    text: str
    reached: Callable[[dict[str, float]], bool]


def faster(times: float) -> Target:
    """Return the target of a ratio to flax."""
    return Target(f">= {times:g}x flax:", lambda found: found["flax"] >= times * found["ours"])


def of_flat(times: float) -> Target:
    """Return the target of a ratio to the flat list."""
    return Target(f"<= {times:g}x flat:", lambda found: found["ours"] <= times * found["flat"])


def within(seconds: float) -> Target:
    """Return the target of an absolute time."""
    return Target(f"<= {seconds * 1e6:g} µs:", lambda found: found["ours"] <= seconds)


class Case(NamedTuple):
    """One row: a name, the alternatives, the target if there is one."""

    name: str
    alternatives: list[Alternative]
    target: Target | None = None


def cold(name: str, size: int, act: Callable[[Any, Any], Any], target: Target | None) -> Case:
    """Return a case in which each call gets a model that nobody has looked at."""

    def alternative(label: str, api: Any) -> Alternative:
        return Alternative(label, lambda model: act(api, model), lambda: (build(api, size),))

    return Case(name, [alternative(label, api) for label, api in PEERS], target)


def warm(name: str, acts: dict[str, Callable[[], Any]], target: Target | None = None) -> Case:
    """Return a case in which every call finds the same objects."""
    return Case(name, [Alternative(label, act) for label, act in acts.items()], target)
