"""Write ``stubs/typed_nnx-stubs`` and the generated cases of its tests, or say if they are current.

Run ``python -m typed_nnx_codegen.stubgen --write`` (or ``make stubs``) after a change of the source
of a module that has a stub, or of a family. Neither jax nor typed_nnx is imported: the same source
gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Set
from pathlib import Path

from typed_nnx_codegen.stubgen import gradient_cases, selection_cases
from typed_nnx_codegen.stubgen.errors import StubError
from typed_nnx_codegen.stubgen.skeleton import stub_text
from typed_nnx_codegen.stubgen.table import all_stubs

COMMAND = "make stubs"
_ROOT = Path(__file__).parents[3]
SOURCE = _ROOT / "src"
TARGET = _ROOT / "stubs" / "typed_nnx-stubs"
CASES = _ROOT / "tests" / "assert_type"
HEADER = f"""\
# Generated from the source of {{module}} by `{COMMAND}`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

"""


def render(modules: Set[str] = frozenset(), source: Path = SOURCE) -> dict[str, str]:
    """Return the text of every file of the stub package by its path in the package.

    Args:
        modules: Only the stubs of these modules; of all if there are none.
        source: Where the source is.

    Raises:
        StubError: What the families declare does not fit the source.
    """
    files = {"py.typed": "partial\n"}
    for stub in all_stubs():
        if modules and stub.module not in modules:
            continue
        place = stub.module.replace(".", "/")
        text = (source / f"{place}.py").read_text(encoding="utf-8")
        name = f"{place.partition('/')[2]}.pyi"
        files[name] = HEADER.format(module=stub.module) + stub_text(text, stub)
    return files


def render_cases() -> dict[str, str]:
    """Return the text of every generated case file by its name."""
    return {
        "generated_gradients.py": gradient_cases.text(),
        "generated_split.py": selection_cases.text(),
    }


def write(files: dict[str, str], target: Path = TARGET, *, is_all: bool = True) -> None:
    """Make the stub package hold these files, and if they are all that there are no others."""
    for name in stale(files, target, is_all=is_all):
        path = target / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name], encoding="utf-8")
        else:
            path.unlink()


def stale(files: dict[str, str], target: Path = TARGET, *, is_all: bool = True) -> list[str]:
    """Return the names of files that are missing, different or, if these are all, not among them."""
    there = {
        path.relative_to(target).as_posix(): path.read_text(encoding="utf-8")
        for path in target.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = files.keys() | there.keys() if is_all else files.keys()
    return sorted(name for name in names if files.get(name) != there.get(name))


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs or say whether they are current; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m typed_nnx_codegen.stubgen")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="write the stubs")
    action.add_argument("--check", action="store_true", help="fail if they are not current")
    parser.add_argument("modules", nargs="*", help="write only the stubs of these modules")
    options = parser.parse_args(arguments)
    try:
        files = render(frozenset(options.modules))
    except StubError as error:
        print(error, file=sys.stderr)
        return 1
    if options.write:
        write(files, is_all=not options.modules)
        write(render_cases(), CASES, is_all=False)
        return 0
    cases = stale(render_cases(), CASES, is_all=False)
    changed = [TARGET / name for name in stale(files)] + [CASES / name for name in cases]
    for path in changed:
        print(f"{path.relative_to(_ROOT)} is not current.\n  Fix: {COMMAND}", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
