"""Which rules a run applies: from what `--select`, `--ignore` and `--from` say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Final

from typed_nnx_codegen.migrate.rule_info import RuleInfo

_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")
_MOST_NEAR: Final = 3


class BadSelection(ValueError):
    """What was given names no rule or no release; the message says what to write."""


def selected(
    rules: Sequence[RuleInfo],
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    version: tuple[int, ...] = (),
) -> tuple[RuleInfo, ...]:
    """Return the rules that are left, in their order.

    Args:
        rules: All rules.
        select: Codes, or beginnings of codes, separated by commas; none for all rules.
        ignore: The same, for rules to leave out.
        version: The release of flax that the code is written for; empty for any.

    Raises:
        BadSelection: A code is unknown, or no rule is left.
    """
    wanted = codes_named(rules, select) or {rule.code for rule in rules}
    wanted -= codes_named(rules, ignore)
    left = tuple(rule for rule in rules if rule.code in wanted and _is_due(rule, version))
    if not left:
        raise BadSelection(
            "no rule is left.\n"
            "  Fix: name other rules in --select, --ignore or --from; `typed-nnx rules` lists them"
        )
    return left


def _is_due(rule: RuleInfo, version: tuple[int, ...]) -> bool:
    return not version or not rule.since or rule.still_works or rule.since > version


def codes_named(rules: Sequence[RuleInfo], given: Iterable[str]) -> set[str]:
    """Return the codes that comma lists name; ``TN12`` names all that begin like it.

    Raises:
        BadSelection: Something in a list begins no code.
    """
    codes = [rule.code for rule in rules]
    named: set[str] = set()
    for text in given:
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not words:
            raise BadSelection("a list of rules is empty.\n  Fix: give codes such as TN101,TN12")
        for word in words:
            found = {code for code in codes if code.startswith(word.upper())}
            if not found:
                raise BadSelection(f"there is no rule {word!r}.\n  Fix: {_near(word, codes)}")
            named |= found
    return named


def _near(word: str, codes: Sequence[str]) -> str:
    near = difflib.get_close_matches(word.upper(), codes, n=_MOST_NEAR, cutoff=0.5)
    more = "`typed-nnx rules` lists all"
    return f"did you mean {', '.join(near)}? {more}" if near else more


def release_of(text: str) -> tuple[int, int, int]:
    """Return a release of flax, ``0.8`` or ``0.8.3``, as three numbers.

    Raises:
        BadSelection: The text is no release.
    """
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise BadSelection(f"{text!r} is not a release of flax.\n  Fix: write it as 0.8 or 0.10.2")
    major, minor, patch = found.groups(default="0")
    return int(major), int(minor), int(patch)
