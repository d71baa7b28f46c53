"""Run a program with the libraries and compare what a user can see."""

from __future__ import annotations

import dataclasses
import typing as tp
import warnings

import flax.nnx
import numpy as np

import typed_nnx
from tests.fuzz import reference, slow_objects
from tests.fuzz.helpers import Helpers, ProgramError
from tests.fuzz.source import Program, smaller

EXCUSES = {
    "scan changed what has axis None": "a Module with axis None that changes in `scan`, in the default mode",
    "removed": "a Variable or Module that is removed from its parent inside, and changed",
    "array in fixed structure": "a plain array attribute that is replaced, with `graph_updates=False`",
    "bound and changed": "bound objects of `jit_partial` and `cached_partial` whose structure changes outside",
    "bound in fixed structure": "`cached_partial` with `graph_updates=False`",
    "metadata": "metadata that was set inside, in the default mode",
    "closures": "reading one",
    "grown": "a list, dict, set or unfrozen dataclass in a static attribute that is changed in place "
    "after a jitted call",
}
"""What happens in a program where flax does otherwise -> the row of docs/differences.md."""


@dataclasses.dataclass
class Outcome:
    """What came of a program: what was seen, the error if there was one, and the objects at the end."""

    seen: list[tp.Any]
    error: BaseException | None
    helpers: Helpers

    def until(self, count: int | None) -> Outcome:
        """Return what was seen in the first views only; all without a count."""
        return self if count is None else Outcome(self.seen[:count], None, self.helpers)


def run(source: str, nnx: tp.Any) -> Outcome:
    """Run a program with a library."""
    helpers = Helpers(nnx)
    names: dict[str, tp.Any] = {}
    exec(compile(source, "<program>", "exec"), names)
    error: BaseException | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            names["program"](nnx, helpers)
        except Exception as raised:  # noqa: BLE001 - any error is compared
            error = raised
    return Outcome(helpers.seen, error, helpers)


def differs(ours: Outcome, theirs: Outcome, part: int) -> str | None:
    """Say how two outcomes differ; None if they agree."""
    for n, (one, two) in enumerate(zip(ours.seen, theirs.seen, strict=False)):
        text = differs_seen(one[part], two[part])
        if text:
            return f"view {n}: {text}"
    if (ours.error is None) != (theirs.error is None):
        which = "ours" if ours.error is not None else "theirs"
        return f"only {which} fails: {(ours.error or theirs.error)!r}"[:600]
    if len(ours.seen) != len(theirs.seen):
        return "they fail at other places"
    if ours.error is None:
        return None
    if isinstance(ours.error, ProgramError) != isinstance(theirs.error, ProgramError):
        return f"they fail for other reasons: {ours.error!r}, {theirs.error!r}"
    one, two = (side.helpers.describe(side.helpers.roots) for side in (ours, theirs))
    text = differs_seen(one, two)
    return f"after the error: {text}" if text else None


def differs_seen(one: tp.Any, two: tp.Any) -> str | None:
    (entries, arrays), (entries2, arrays2) = one, two
    if entries != entries2:
        new = [e for e in entries if e not in entries2][:3]
        lost = [e for e in entries2 if e not in entries][:3]
        return f"structure: ours {new}, theirs {lost}"
    places = [e for e in entries if e[1] == "array"]
    for place, a, b in zip(places, arrays, arrays2, strict=True):
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"value: at {place[0]} ours {a.tolist()}, theirs {b.tolist()}"
    return None


@dataclasses.dataclass
class Verdict:
    """What the comparison of one program gave.

    Attributes:
        mismatch: How ours differs from the reference, or None.
        peer: How ours differs from flax, or None.
        row: The row of docs/differences.md that says why, or None.
        peer_ran: Whether flax accepted the program.
        unclear: Whether the reference does not say what the program means.
        failed: Whether the program ends with an error, by the reference.
    """

    mismatch: str | None
    peer: str | None
    row: str | None
    peer_ran: bool
    unclear: bool
    failed: bool

    @property
    def unexcused(self) -> str | None:
        """How ours differs from flax where no row of docs/differences.md says why."""
        return self.peer if self.row is None else None


def judge(source: str, closures: bool) -> Verdict:
    """Run a program with the three libraries.

    Args:
        source: The program.
        closures: Whether functions close over objects: constants for flax.
    """
    slow = reference.Reference()
    expected = run(source, slow)
    ours = run(source, typed_nnx)
    unclear = isinstance(expected.error, slow_objects.UnclearError) or (
        # Values of branches differ between elements for jax, even where they happen to be equal.
        isinstance(ours.error, typed_nnx.errors.BroadcastChangedError)
        and "branch under vmap" in slow.facts
    )
    mismatch = None if unclear else differs(ours, expected, 1)
    peer, ran, row = None, False, None
    if ours.error is None:
        theirs = run(source, flax.nnx)
        ran = theirs.error is None
        if ran:
            # What comes after the reference has no answer is not known to be no difference of a row.
            until = len(expected.seen) if unclear else None
            peer = differs(ours.until(until), theirs.until(until), 0)
            row = "closures" if closures else next(iter(slow.facts & EXCUSES.keys()), None)
    return Verdict(mismatch, peer, row if peer else None, ran, unclear, expected.error is not None)


def kind_of(text: str | None) -> str | None:
    """Return the first words of a mismatch: what stays the same while it is cut down."""
    if text is None:
        return None
    if "fails: " in text:
        return text.split("(")[0]
    return text.split(":")[1].strip() if text.startswith("view") else text


def smallest(program: Program, wanted: tp.Callable[[Program], bool], limit: int = 400) -> Program:
    """Return the smallest program that is found to be wanted."""
    tried, again = 0, True
    while again and tried < limit:
        again = False
        for candidate in smaller(program):
            tried += 1
            if wanted(candidate):
                program, again = candidate, True
                break
            if tried >= limit:
                break
    return program


def cut_down(program: Program, peer: bool = False) -> Program:
    """Return the smallest program found that has the same kind of mismatch."""

    def look(candidate: Program) -> str | None:
        try:
            verdict = judge(candidate.source(), candidate.closures)
        except SyntaxError:
            return None
        return kind_of(verdict.unexcused if peer else verdict.mismatch)

    kind = look(program)
    return smallest(program, lambda candidate: look(candidate) == kind)
