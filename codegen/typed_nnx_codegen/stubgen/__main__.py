"""Write ``stubs/typed_nnx-stubs``, or say if it is current.

The source says its types itself, but for overloads for every number and kind of arguments: those are
made here, in modules that only type checkers know. Run ``python -m typed_nnx_codegen.stubgen --write``
(or ``make stubs``) after a change of one of them. Neither jax nor typed_nnx is imported: the same source
gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from typed_nnx_codegen.stubgen import filters, gradients, linearizations, partials, stages
from typed_nnx_codegen.stubgen.documentation import documented

COMMAND = "make stubs"
_ROOT = Path(__file__).parents[3]
TARGET = _ROOT / "stubs" / "typed_nnx-stubs"
HEADER = f"""\
# Written by `{COMMAND}`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

"""
MODULES = (
    *filters.MODULES,
    *gradients.MODULES,
    *linearizations.MODULES,
    *partials.MODULES,
    *stages.MODULES,
)


def render() -> dict[str, str]:
    """Return the text of every file of the stub package by its path in the package."""
    files = {of.path: HEADER + documented(of.module, of.text()) for of in MODULES}
    return {"py.typed": "partial\n", **files}


def write(files: dict[str, str], target: Path = TARGET) -> None:
    """Make the stub package hold these files and no others."""
    for name in stale(files, target):
        path = target / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name], encoding="utf-8")
        else:
            path.unlink()


def stale(files: dict[str, str], target: Path = TARGET) -> list[str]:
    """Return the names of files of the stub package that are missing, different or not among these."""
    there = {
        path.relative_to(target).as_posix(): path.read_text(encoding="utf-8")
        for path in target.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return sorted(
        name for name in files.keys() | there.keys() if files.get(name) != there.get(name)
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs or say whether they are current; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m typed_nnx_codegen.stubgen")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the stubs")
    action.add_argument("--check", action="store_true", help="fail if they are not current")
    options = parser.parse_args(arguments)
    files = render()
    if options.write:
        write(files)
        return 0
    changed = stale(files)
    for name in changed:
        print(
            f"{(TARGET / name).relative_to(_ROOT)} is not current.\n  Fix: {COMMAND}",
            file=sys.stderr,
        )
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
