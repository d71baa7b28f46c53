"""The log of an evaluation: immutable events, and trials that leave none."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, eq=False)
class Event:
    """Something that the evaluation of methods finds out; its first field is what it is about."""


E = TypeVar("E", bound=Event)


class Log:
    """Events in the order in which they were appended.

    Evaluation appends without asking whether it counts. In a trial it appends to a log of its own,
    in which queries see the events around too, and which is dropped at the end.

    Args:
        outer: The log around that of a trial.
    """

    def __init__(self, outer: Log | None = None) -> None:
        self._outer = outer
        self._kinds: dict[type[Event], list[Event]] = {}
        self._subjects: dict[tuple[type[Event], Hashable], list[Event]] = {}
        self._events: list[Event] = []
        self._dropped: set[int] = set()

    def append(self, event: Event) -> None:
        """Append an event."""
        kind = type(event)
        self._events.append(event)
        self._kinds.setdefault(kind, []).append(event)
        self._subjects.setdefault((kind, _subject(event)), []).append(event)

    def extend(self, other: Log) -> None:
        """Append the events of another log, without those around it."""
        for event in other._events:
            self.append(event)
        self._dropped |= other._dropped

    def drop(self, *events: Event) -> None:
        """Take back events: queries do not find them any more."""
        self._dropped.update(id(one) for one in events)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        found = (one for log in self._chain() for one in log._kinds.get(kind, ()))
        return self._present(found, kind)

    def about(self, kind: type[E], subject: Hashable) -> list[E]:
        """Return the events of a kind that are about something."""
        key = kind, subject
        found = (one for log in self._chain() for one in log._subjects.get(key, ()))
        return self._present(found, kind)

    def groups(self, kind: type[E]) -> list[list[E]]:
        """Return the events of a kind, those about the same together."""
        found: dict[Hashable, list[E]] = {}
        for one in self.of(kind):
            found.setdefault(_subject(one), []).append(one)
        return list(found.values())

    def _chain(self) -> list[Log]:
        """Return this log and those around, outermost first."""
        return [*([] if self._outer is None else self._outer._chain()), self]

    def _present(self, events: Iterator[Event], kind: type[E]) -> list[E]:
        dropped = [log._dropped for log in self._chain() if log._dropped]
        return [
            one
            for one in events
            if isinstance(one, kind) and not any(id(one) in each for each in dropped)
        ]


def _subject(event: Event) -> Hashable:
    subject: Hashable = next(iter(vars(event).values()))
    return subject
