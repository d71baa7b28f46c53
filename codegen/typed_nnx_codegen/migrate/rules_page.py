"""Writes docs/migration-rules.md from the rules: ``python -m typed_nnx_codegen.migrate.rules_page``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from typed_nnx_codegen.generated_file import write_or_check
from typed_nnx_codegen.migrate.rule_info import known_rules
from typed_nnx_codegen.migrate.rule_list import rules_as_markdown

COMMAND: Final = "python -m typed_nnx_codegen.migrate.rules_page --write"
PAGE: Final = Path(__file__).parents[3] / "docs" / "migration-rules.md"
_HEADING: Final = f"""\
<!-- Written by `{COMMAND}`. Do not edit. -->

# The rules of `typed-nnx migrate`

What each rule rewrites, in the order in which they apply, and where it leaves a marker for a
person. The examples are what all rules together make of a module for the target `typed_nnx`;
tests run them. [Migrating older code](migrating.md) has the rest.

"""


def render() -> str:
    """Return the page."""
    return _HEADING + rules_as_markdown(known_rules()).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the page or say whether it is current; return the exit status."""
    return write_or_check(PAGE, render(), "the list of rules", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
