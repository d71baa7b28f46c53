"""What was measured on an accelerator: the figures in `docs/gpu.json`, and the tables of `docs/gpu.md`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.comparison_page import REPOSITORY

FIGURES = REPOSITORY / "docs" / "gpu.json"
PAGE = REPOSITORY / "docs" / "gpu.md"
BEGIN = "<!-- figures: make gpu -->"
# What the benchmarks call the libraries, and what the tables call them.
COLUMNS = {"ours": "typed-nnx", "flax": "flax.nnx", "linen": "Linen", "equinox": "equinox"}


@dataclass(frozen=True)
class Call:
    """A compiled call, until it returns.

    Attributes:
        name: What it does.
        floor: Median seconds of `jax.jit` on the flat list of the same arrays.
        of_floor: How many times longer each library takes.
        again: The floor against itself: smaller differences mean nothing.
    """

    name: str
    floor: float
    of_floor: dict[str, float]
    again: float


@dataclass(frozen=True)
class Step:
    """A training step in which the device has much to compute, until its loss is there.

    Attributes:
        name: Whose, and whether donated.
        seconds: Median.
        of_floor: How many times longer than `jax.jit` on the flat list, donated or not as this one.
        peak: The most bytes that arrays took on the device, model and optimizer included; None if not
            measured.
    """

    name: str
    seconds: float
    of_floor: float
    peak: int | None = None


@dataclass(frozen=True)
class Return:
    """A call on a value that the device still computed.

    Attributes:
        name: Of the call.
        seconds: Until it returned.
        is_busy: Whether the value was still not there then.
    """

    name: str
    seconds: float
    is_busy: bool


@dataclass(frozen=True)
class Figures:
    """All figures, and what they depend on.

    Attributes:
        conditions: Date, card, versions.
        size: Variables of the model of the calls.
        calls: Compiled calls.
        task: In words, what the steps train.
        state: Bytes of the model and its optimizer.
        steps: Training steps.
        busy: Seconds that the device took while the calls of `returns` were made.
        returns: Calls on values that were not there yet.
    """

    conditions: dict[str, Any]
    size: int
    calls: list[Call]
    task: str
    state: int
    steps: list[Step]
    busy: float
    returns: list[Return]

    @classmethod
    def read(cls) -> Figures:
        """Return the figures that are kept."""
        found = json.loads(FIGURES.read_text(encoding="utf-8"))
        kinds = {"calls": Call, "steps": Step, "returns": Return}
        lists = {key: [kind(**one) for one in found[key]] for key, kind in kinds.items()}
        return cls(**found | lists)

    def as_json(self) -> str:
        """Return the figures as JSON text."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def tables(self) -> str:
        """Return the tables as Markdown, with a line on their conditions below."""
        return "\n\n".join(
            [self._calls(), self._steps(), self._returns(), f"Measured on {self._conditions()}."]
        )

    def _calls(self) -> str:
        libraries = [name for name in COLUMNS if any(name in call.of_floor for call in self.calls)]
        headings = [COLUMNS[name] for name in libraries]
        rows = [
            [
                call.name,
                micro(call.floor),
                *(times(call.of_floor.get(name)) for name in libraries),
                times(call.again),
            ]
            for call in self.calls
        ]
        first = f"a compiled call with {self.size} Variables"
        return table([first, "`jax.jit`", *headings, "`jax.jit` again"], rows)

    def _steps(self) -> str:
        rows = [
            [
                step.name,
                milli(step.seconds),
                times(step.of_floor),
                "" if step.peak is None else giga(step.peak),
            ]
            for step in self.steps
        ]
        first = f"a step of {self.task}; with adam's, its arrays take {giga(self.state)}"
        return table([first, "time", "of `jax.jit`", "peak memory"], rows)

    def _returns(self) -> str:
        rows = [
            [one.name, milli(one.seconds), "no" if one.is_busy else "yes"] for one in self.returns
        ]
        first = f"a call while the device computes, for {milli(self.busy)}"
        return table([first, "returns after", "waits"], rows)

    def _conditions(self) -> str:
        told = self.conditions
        versions = ", ".join(f"{name} {told[name]}" for name in ("jax", "flax", "equinox", "optax"))
        return f"{told['date']}: {told['device']}; Python {told['python']}, {versions}"


def table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a table of Markdown; all columns but the first are aligned to the right."""
    lines = [f"| {' | '.join(headings)} |", f"|---|{'---:|' * (len(headings) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def micro(seconds: float) -> str:
    """Return a time in microseconds."""
    return f"{seconds * 1e6:,.0f} µs"


def milli(seconds: float) -> str:
    """Return a time in milliseconds."""
    return f"{seconds * 1e3:,.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 2}f} ms"


def giga(size: int) -> str:
    """Return a number of bytes in GB."""
    return f"{size / 1e9:.2f} GB"


def times(ratio: float | None) -> str:
    """Return a ratio."""
    return "" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
