"""Writes docs/migration-rules.md from the rules: ``python -m typed_nnx_codegen.migrate.rules_page``.

The file in the repository is a list with links to the source of the rules. On the site the page has
their explanations and examples too.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from typed_nnx_codegen.generated_file import write_or_check
from typed_nnx_codegen.migrate.linen.domain import class_plan
from typed_nnx_codegen.migrate.registry import all_rules
from typed_nnx_codegen.migrate.rule_info import RuleInfo, known_rules
from typed_nnx_codegen.migrate.rule_list import rules_as_markdown

COMMAND: Final = "python -m typed_nnx_codegen.migrate.rules_page --write"
PAGE: Final = Path(__file__).parents[3] / "docs" / "migration-rules.md"
_HEADING: Final = f"""\
<!-- Written by `{COMMAND}`. Do not edit. -->

# The rules of `typed-nnx migrate`

What each rule rewrites, in the order in which they apply. [Migrating older code](migrating.md) is the
guide. The markers of `--linen`, which has no rules to choose from, are at the end.
"""
_WHERE: Final = """\
A code leads to the file with the explanation of the rule and an example. `typed-nnx rules TN102` prints them, and the
documentation site (`make docs-serve`) shows them on this page.
"""
_EXAMPLES: Final = """\
The examples show what all rules together make of a module for the target `typed_nnx`, without the import of NNX.
"""
_RULES: Final = "## Rules for older NNX\n"
_MARKERS: Final = """\
## Markers of `--linen`

[Migrating Linen code](migrating-linen.md) says how they are dealt with.
"""


def render() -> str:
    """Return the page of the repository: a table of the rules and one of the markers."""
    files = {rule.code: inspect.getfile(rule) for rule in all_rules()}
    rules = _table(known_rules(), lambda code: _relative(files[code]))
    markers = _table(_markers(), lambda code: _relative(class_plan.__file__))
    return "\n".join([_HEADING, _WHERE, _RULES, rules, _MARKERS, markers])


def in_full() -> str:
    """Return the page of the site: tables, then a section for each rule and marker."""
    rules, markers = known_rules(), _markers()
    index = _table([*rules, *markers], lambda code: f"#{code.lower()}", anchors=False)
    parts = [_HEADING, _EXAMPLES, index, _RULES, _sections(rules), _MARKERS, _sections(markers)]
    return "\n".join(parts)


def _markers() -> list[RuleInfo]:
    return [
        RuleInfo(code=code, title=title, explanation=class_plan.EXPLANATIONS[code])
        for code, title in class_plan.TITLES.items()
    ]


def _relative(file: str) -> str:
    return Path(os.path.relpath(file, PAGE.parent)).as_posix()


def _table(rules: Sequence[RuleInfo], link: Callable[[str], str], *, anchors: bool = True) -> str:
    rows = [
        f"| {_anchor(rule) if anchors else ''}[{rule.code}]({link(rule.code)}) | {rule.title} |"
        for rule in rules
    ]
    return "\n".join(["| code | what it does |", "|---|---|", *rows, ""])


def _sections(rules: Sequence[RuleInfo]) -> str:
    return "\n".join(f"{_anchor(rule)}\n\n{rules_as_markdown([rule])}" for rule in rules)


def _anchor(rule: RuleInfo) -> str:
    """Return an anchor that stays when the title of the rule changes."""
    return f'<a id="{rule.code.lower()}"></a>'


def main(arguments: list[str] | None = None) -> int:
    """Write the page or say whether it is current; return the exit status."""
    return write_or_check(PAGE, render(), "the list of rules", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
