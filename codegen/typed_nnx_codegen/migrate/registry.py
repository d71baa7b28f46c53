"""The rules: what each is, and the list of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.file import File


class Rule:
    """A rule of the codemod.

    A subclass has methods ``leave_Call(self, original, updated)`` and the like, for each type of
    node that it rewrites. They return ``updated`` to leave a node as it is. ``original`` is the
    node that the analysis knows; ``updated`` has what rules did to the parts of it.

    Args:
        file: The file that is being migrated.

    Attributes:
        code: Its number.
        title: What it does, in Markdown.
        since: The release of flax from which the older spelling is out of date.
        still_works: Whether some of what it rewrites still works on the flax of today: then code for
            any release may have it.
        example: What it makes of a short module, as a difference: see `sides`.
        before: The module before it.
        after: The module after it.
        names: What it only renames: older names of NNX and what they are called now.
        handles: Other older names of NNX that it rewrites.
        gone: Older names that nothing takes the place of, and what a marker says at their uses.
    """

    code: ClassVar[str] = ""
    title: ClassVar[str] = ""
    since: ClassVar[tuple[int, ...]] = ()
    still_works: ClassVar[bool] = False
    example: ClassVar[str] = ""
    before: ClassVar[str] = ""
    after: ClassVar[str] = ""
    names: ClassVar[Mapping[str, str]] = {}
    handles: ClassVar[frozenset[str]] = frozenset()
    gone: ClassVar[Mapping[str, str]] = {}

    def __init__(self, file: File) -> None:
        self.file = file

    def plan(self) -> None:
        """Look at the whole file before any of it is rewritten."""


_rules: dict[str, type[Rule]] = {}

R = TypeVar("R", bound=type[Rule])


def register(rule: R) -> R:
    """Add a rule to the list of all: a decorator."""
    if not rule.code or rule.code in _rules:
        raise ValueError(f"{rule.__name__}: its code {rule.code!r} is empty or taken")
    rule.before, rule.after = sides(rule.example)
    _rules[rule.code] = rule
    return rule


def sides(difference: str) -> tuple[str, str]:
    """Return the texts before and after a difference.

    A line of it begins with ``- ``, with ``+ ``, or with two spaces where it is in both texts; an empty
    line is in both, too.
    """
    lines = difference.splitlines()
    before, after = (
        "".join(f"{line[2:]}\n" for line in lines if line[:1] != left_out) for left_out in "+-"
    )
    return before, after


def all_rules() -> tuple[type[Rule], ...]:
    """Return the rules in the order in which they apply."""
    return tuple(_rules[code] for code in sorted(_rules))
