"""Writes docs/migration-rules.md from the rules: ``python -m typed_nnx_codegen.migrate.rules_page``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from typed_nnx_codegen.generated_file import write_or_check
from typed_nnx_codegen.migrate.linen.domain.class_plan import EXPLANATIONS, TITLES
from typed_nnx_codegen.migrate.rule_info import RuleInfo, known_rules
from typed_nnx_codegen.migrate.rule_list import rules_as_markdown

COMMAND: Final = "python -m typed_nnx_codegen.migrate.rules_page --write"
PAGE: Final = Path(__file__).parents[3] / "docs" / "migration-rules.md"
_HEADING: Final = f"""\
<!-- Written by `{COMMAND}`. Do not edit. -->

# The rules of `typed-nnx migrate`

What each rule rewrites, in the order in which they apply, and where it leaves a marker for a
person. The examples show what all rules together make of a module for the target `typed_nnx`,
without the import of NNX; tests run them. [Migrating older code](migrating.md) is the guide. The
markers of `--linen`, which has no rules to choose from, are at the end.
"""
_MARKERS: Final = """\
## Markers of `--linen`

[Migrating Linen code](migrating-linen.md) says how they are dealt with.
"""


def render() -> str:
    """Return the page: an index, the rules, the markers."""
    rules = known_rules()
    markers = [
        RuleInfo(code=code, title=title, explanation=EXPLANATIONS[code])
        for code, title in TITLES.items()
    ]
    parts = [
        _HEADING,
        _index([*rules, *markers]),
        "## Rules for older NNX\n",
        _sections(rules),
        _MARKERS,
        _sections(markers),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _index(rules: Sequence[RuleInfo]) -> str:
    rows = [f"| [{rule.code}](#{rule.code.lower()}) | {rule.title} |" for rule in rules]
    return "\n".join(["| code | what it does |", "|---|---|", *rows, ""])


def _sections(rules: Sequence[RuleInfo]) -> str:
    """Return the sections, each with its code as an anchor that stays when its title changes."""
    return "\n".join(
        f'<a id="{rule.code.lower()}"></a>\n\n{rules_as_markdown([rule])}' for rule in rules
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the page or say whether it is current; return the exit status."""
    return write_or_check(PAGE, render(), "the list of rules", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
