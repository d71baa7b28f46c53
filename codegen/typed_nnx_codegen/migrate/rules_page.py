"""Writes docs/migration-rules.md from the rules: ``python -m typed_nnx_codegen.migrate.rules_page``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

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
    parser = argparse.ArgumentParser(prog="python -m typed_nnx_codegen.migrate.rules_page")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the page")
    action.add_argument("--check", action="store_true", help="fail if the page is not current")
    options = parser.parse_args(arguments)
    text = render()
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.name} is not what the rules say.\n  Fix: {COMMAND}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
