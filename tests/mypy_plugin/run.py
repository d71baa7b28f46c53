"""Runs mypy with the plugin over case files and compares: ``python -m tests.mypy_plugin.run [NAME...]``.

``--runtime flax`` is the other runtime. ``PLUGIN_CASES`` names another folder to work in, so that
two runs do not wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.mypy_plugin.case_files import RUNTIMES, CaseFile, Mark, case_files, short
from tests.support.once import locked
from tests.support.type_checkers import REPOSITORY, Finding, TypeCheckers, write_if_changed

FOLDER = Path(os.environ.get("PLUGIN_CASES", REPOSITORY / "build" / "plugin_cases"))

PLUGIN = REPOSITORY / "mypy_plugin" / "typed_nnx_mypy"
FACTS = REPOSITORY / "codegen" / "typed_nnx_codegen" / "facts"

CONFIG = """\
[mypy]
plugins = typed_nnx_mypy
check_untyped_defs = true
cache_dir = mypy_cache
{extra}
[mypy-{untyped}]
follow_imports = skip
ignore_missing_imports = true
"""
# Packages without types, and large ones that no case needs.
UNTYPED = "optax.*,orbax.*,treescope.*,sklearn.*,matplotlib.*,IPython.*,rich.*,filelock.*"


class Report(NamedTuple):
    """What mypy says of a line."""

    line: int
    kind: str
    message: str
    code: str


def write(files: list[CaseFile], folder: Path, extra: str = "") -> list[str]:
    """Write the configuration and the case files into a folder; return the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / "mypy.ini", CONFIG.format(extra=extra, untyped=UNTYPED))
    write_if_changed(folder / "pyproject.toml", "")
    for file in files:
        write_if_changed(folder / file.path.name, file.source() + footer())
    return [file.path.name for file in files]


@cache
def footer() -> str:
    """Return a last line that is another one whenever the plugin is.

    mypy knows a plugin by its version and would repeat what an earlier state of it has found.
    """
    digest = hashlib.sha256()
    for path in sorted([*PLUGIN.rglob("*.py"), *FACTS.rglob("*.py")]):
        digest.update(path.read_bytes())
    return f"# plugin {digest.hexdigest()[:16]}\n"


def reports(
    names: list[str], folder: Path, *options: str, mypy: tuple[str, ...] = ("-m", "mypy")
) -> dict[str, list[Report]]:
    """Return what mypy reports, by file name.

    Args:
        names: The files.
        folder: Where they are, with the configuration.
        options: More options for mypy.
        mypy: What Python runs in the place of mypy.
    """
    checkers = TypeCheckers(folder, mypy_program=mypy)
    # Another run of the tests would write into the same cache.
    with locked(folder / "lock"):
        said = checkers.mypy("--show-traceback", *options, *names)
    found: dict[str, list[Report]] = defaultdict(list)
    for each in said:
        found[Path(each.path).name].append(report_of(each))
    return found


def report_of(finding: Finding) -> Report:
    """Return what mypy says, in the form of the marks of case files."""
    kind, message = "E" if finding.is_error else "N", finding.message
    if message.startswith("Revealed type is "):
        kind, message = "R", short(message.removeprefix("Revealed type is ").strip('"'))
    return Report(finding.line, kind, message, finding.code)


def differences(file: CaseFile, said: list[Report]) -> list[str]:
    """Return how reports differ from the marks of a case file, as lines for people."""
    left = list(said)
    found = []
    for mark in file.marks():
        match = next((each for each in left if _fits(mark, each)), None)
        if match is None:
            found.append(
                f"{file.path.name}:{mark.line}: missing: {mark.kind}: {mark.text} [{mark.code}]"
            )
        else:
            left.remove(match)
    # Where flax's own types are wrong, mypy says so with and without the plugin.
    ours = [
        each
        for each in left
        if each.code.startswith("nnx") or each.kind == "R" or file.runtime == "typed_nnx"
    ]
    return found + [
        f"{file.path.name}:{each.line}: not expected: {each.kind}: {each.message} [{each.code}]"
        for each in ours
    ]


def _fits(mark: Mark, report: Report) -> bool:
    if (mark.line, mark.kind) != (report.line, report.kind):
        return False
    if mark.kind == "R":
        return mark.text == report.message
    return mark.text in report.message and mark.code in ("", report.code)


def main(arguments: list[str]) -> int:
    """Run and print; return the exit status."""
    runtimes = list(RUNTIMES)
    if "--runtime" in arguments:
        at = arguments.index("--runtime")
        runtimes = [arguments[at + 1]]
        del arguments[at : at + 2]
    bad = 0
    for runtime in runtimes:
        files = case_files(runtime, arguments)
        folder = FOLDER / runtime
        said = reports(write(files, folder), folder)
        for file in files:
            for line in differences(file, said.get(file.path.name, [])):
                print(f"{runtime}: {line}")
                bad += 1
        print(f"{runtime}: {len(files)} files, {bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
