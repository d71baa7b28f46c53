"""The command line of a module that writes one generated file: ``--write`` and ``--check``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def write_or_check(
    target: Path, text: str, source: str, command: str, arguments: list[str] | None
) -> int:
    """Write a generated file or say whether it is current; return the exit status.

    Args:
        target: The file.
        text: What it is to hold.
        source: What it is made from, for the message.
        command: The command that writes it.
        arguments: The arguments of the command line; None for those of the process.
    """
    parser = argparse.ArgumentParser(prog=command.removesuffix(" --write"))
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the file")
    action.add_argument("--check", action="store_true", help="fail if the file is not current")
    options = parser.parse_args(arguments)
    if options.write:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.is_file() and target.read_text(encoding="utf-8") == text:
        return 0
    print(f"{target} is not what {source} gives.\n  Fix: {command}", file=sys.stderr)
    return 1
