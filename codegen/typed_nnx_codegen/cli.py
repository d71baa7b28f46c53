"""The entry point of the command ``typed-nnx``: it says what is missing before it starts."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable

_MISSING_TOOLS = """\
typed-nnx: the command needs packages that are not installed: {missing}.
  Fix: pip install 'typed-nnx[tools]'"""

_NEEDED = ("click",)


def leave_where_missing(names: Iterable[str]) -> None:
    """Leave with status 1 and a remedy where packages of these names are not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(_MISSING_TOOLS.format(missing=", ".join(missing)))


def main() -> None:
    """Run the command, or leave with status 1 and a remedy where its packages are missing."""
    leave_where_missing(_NEEDED)
    # By name and only now: the module imports click, which the check above is there for.
    importlib.import_module("typed_nnx_codegen.commands").typed_nnx()
