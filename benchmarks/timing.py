"""Fair timing of alternatives: they take turns, and the median of each counts.

The machine may slow down while a benchmark runs. Turns spread that over all alternatives, so that
their ratios hold even where the absolute times do not. The garbage collector is treated in the same
way for all: off while anything is timed, and run between the rounds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any, NamedTuple

# A timed stretch is at least this long, by repetition, so that the clock's resolution is no matter.
STRETCH = 500e-6
ROUNDS = (7, 201)


class Alternative(NamedTuple):
    """One way to do what a row of a table is about.

    Attributes:
        name: Whose way: ``"ours"``, ``"flax"``, ``"flat"``, ``"equinox"``.
        run: What is timed.
        setup: Returns fresh arguments of `run` for each call, untimed; for cold measurements.
        finish: Waits for the result, untimed; for calls that jax completes asynchronously.
    """

    name: str
    run: Callable[..., Any]
    setup: Callable[[], tuple[Any, ...]] | None = None
    finish: Callable[[Any], Any] | None = None


def seconds_of(alternative: Alternative, number: int) -> float:
    """Return the seconds of one call, as the mean of `number` calls; one call if there is a set-up."""
    run = alternative.run
    if alternative.setup:
        arguments = alternative.setup()
        start = time.perf_counter()
        run(*arguments)
        return time.perf_counter() - start
    if alternative.finish:
        return _seconds_to_return(run, alternative.finish, number)
    run()  # warm means warm: what ran before has filled the caches of the processor
    start = time.perf_counter()
    for _ in repeat(None, number):
        run()
    return (time.perf_counter() - start) / number


def _seconds_to_return(run: Callable[[], Any], finish: Callable[[Any], Any], number: int) -> float:
    finish(run())
    seconds = 0.0
    for _ in repeat(None, number):
        start = time.perf_counter()
        result = run()
        seconds += time.perf_counter() - start
        finish(result)
    return seconds / number


@contextmanager
def collector_off() -> Iterator[None]:
    """Keep the garbage collector from running inside the block."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def medians(alternatives: Sequence[Alternative], budget: float) -> dict[str, float]:
    """Return the median seconds of each alternative.

    Args:
        alternatives: What to time, in turns.
        budget: Seconds for all of it, set-up included; there are at least 7 rounds in any case.
    """
    samples: dict[str, list[float]] = {each.name: [] for each in alternatives}
    with collector_off():
        started = time.perf_counter()
        first = {each.name: seconds_of(each, 1) for each in alternatives}  # warms up
        for each in alternatives:
            first[each.name] = min(first[each.name], seconds_of(each, 1))
        round_ = (time.perf_counter() - started) / 2 + len(alternatives) * STRETCH
        numbers = {name: max(2, round(STRETCH / seconds)) for name, seconds in first.items()}
        rounds = min(max(round(budget / round_), ROUNDS[0]), ROUNDS[1])
        for turn in range(rounds):
            gc.collect()
            # Each goes first in turn: what the one before left in the caches is nobody's privilege.
            shift = turn % len(alternatives)
            for each in (*alternatives[shift:], *alternatives[:shift]):
                samples[each.name].append(seconds_of(each, numbers[each.name]))
    return {name: statistics.median(taken) for name, taken in samples.items()}
