"""Paths with names in braces: ``params/Dense_{i}/kernel`` and where such a path leads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

Bindings: TypeAlias = Mapping[str, str]

_BRACES: Final = re.compile(r"\{([^{}]*)\}")
# `i`, `i+1`, `i-2`, `2*i`, `2*i+1`: what can be solved for the name.
_TERM: Final = re.compile(r"(?:(\d+)\s*\*\s*)?([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+))?")


class BadPattern(ValueError):
    """A path that cannot be read; the message says what is wrong with it."""


@dataclass(frozen=True)
class Term:
    """What stands in braces: a name, or a number that is computed from it.

    Attributes:
        name: The name.
        factor: What the number of the name is multiplied by.
        offset: What is added to it then.
    """

    name: str
    factor: int = 1
    offset: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the braces hold the name alone."""
        return self.factor == 1 and self.offset == 0

    def solved(self, text: str) -> str | None:
        """Return the text of the name where a path has `text` for the braces, None if it cannot."""
        if self.is_plain:
            return text
        number, rest = divmod(int(text) - self.offset, self.factor)
        return str(number) if rest == 0 and number >= 0 else None

    def written(self, bindings: Bindings) -> str:
        """Return what stands for the braces.

        Raises:
            BadPattern: Nothing is bound to the name, or no number where one is computed.
        """
        if self.name not in bindings:
            raise BadPattern(f"nothing says what {{{self.name}}} is")
        bound = bindings[self.name]
        if self.is_plain:
            return bound
        if not bound.isdecimal():
            raise BadPattern(f"{{{self.name}}} is {bound!r}, and a number is computed from it")
        return str(self.factor * int(bound) + self.offset)


@dataclass(frozen=True)
class Part:
    """One part of a path: text and terms in turn.

    Attributes:
        pieces: What it is made of, in order.
    """

    pieces: tuple[str | Term, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """What stands in braces."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Term))

    @property
    def weight(self) -> tuple[int, int]:
        """How exactly it says what it matches: more is more exact."""
        literal = sum(len(piece) for piece in self.pieces if isinstance(piece, str))
        computed = sum(not term.is_plain for term in self.terms)
        return (2 if not self.terms else 1 if literal or computed else 0, literal + computed)

    def matched(self, text: str, bindings: Bindings) -> Bindings | None:
        """Return the bindings with those of this part, None where the text does not match."""
        found = _expression(self.pieces).fullmatch(text)
        if found is None:
            return None
        merged = dict(bindings)
        for term, group in zip(self.terms, found.groups(), strict=True):
            value = term.solved(group)
            if value is None or merged.setdefault(term.name, value) != value:
                return None
        return merged

    def written(self, bindings: Bindings) -> str:
        """Return the text of the part under bindings."""
        return "".join(
            piece if isinstance(piece, str) else piece.written(bindings) for piece in self.pieces
        )


@lru_cache(maxsize=4096)
def _expression(pieces: tuple[str | Term, ...]) -> re.Pattern[str]:
    return re.compile(
        "".join(
            re.escape(piece) if isinstance(piece, str) else "(.+?)" if piece.is_plain else r"(\d+)"
            for piece in pieces
        ),
        re.DOTALL,
    )


@dataclass(frozen=True)
class Pattern:
    """A path whose parts may have names in braces.

    Attributes:
        parts: Its parts.
    """

    parts: tuple[Part, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names in braces."""
        return frozenset(term.name for part in self.parts for term in part.terms)

    @property
    def weight(self) -> tuple[object, ...]:
        """How exactly it says what it matches; of two that match, the greater one counts."""
        return (len(self.parts), tuple(part.weight for part in self.parts))

    def matched(self, path: Sequence[str], skipped: int = 0) -> Bindings | None:
        """Return what the names stand for where a path begins like this, None where it does not.

        Args:
            path: The parts of the path; it may be longer.
            skipped: How many parts at the beginning may be anything.
        """
        if len(path) < len(self.parts):
            return None
        bindings: Bindings | None = {}
        for part, text in list(zip(self.parts, path, strict=False))[skipped:]:
            bindings = part.matched(text, bindings or {})
            if bindings is None:
                return None
        return bindings

    def written(self, bindings: Bindings) -> tuple[str, ...]:
        """Return the parts of the path under bindings.

        Raises:
            BadPattern: A name is not bound, or not to a number where one is needed.
        """
        return tuple(part.written(bindings) for part in self.parts)


@lru_cache(maxsize=4096)
def pattern(text: str, separator: str) -> Pattern:
    """Read a path.

    Args:
        text: The path.
        separator: What stands between its parts.

    Raises:
        BadPattern: A part is empty, or what stands in braces is neither a name nor computed from
            one.
    """
    parts = text.split(separator)
    if not all(parts):
        raise BadPattern("a part of it is empty")
    return Pattern(tuple(Part(tuple(_pieces(part))) for part in parts))


def _pieces(text: str) -> Iterator[str | Term]:
    end = 0
    for found in _BRACES.finditer(text):
        if found.start() > end:
            yield _plain(text[end : found.start()])
        yield _term(found[1])
        end = found.end()
    if end < len(text):
        yield _plain(text[end:])


def _plain(text: str) -> str:
    if "{" in text or "}" in text:
        raise BadPattern("a brace in it has no partner")
    return text


def _term(text: str) -> Term:
    found = _TERM.fullmatch(text.strip())
    if found is None:
        raise BadPattern(f"{{{text}}} is neither a name nor like {{i+1}} or {{2*i}}")
    factor, name, sign, offset = found.groups()
    if factor is not None and int(factor) == 0:
        raise BadPattern(f"{{{text}}} is the same number for every {name}")
    return Term(name, int(factor or 1), int(f"{sign or ''}{offset or 0}"))
