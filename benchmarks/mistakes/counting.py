"""Runs mypy and pyright on the programs, and tells which of their mistakes each reports."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mistakes.programs import EQUINOX, LINEN, MISTAKES, NNX
from tests.support.type_checkers import REPOSITORY, Finding, TypeCheckers

FOLDER = REPOSITORY / "build" / "mistakes"
OURS, FLAX = "typed-nnx", "flax.nnx"
SETUPS = {
    OURS: NNX.format(import_nnx="import typed_nnx as nnx"),
    FLAX: NNX.format(import_nnx="from flax import nnx"),
    "Linen": LINEN,
    "equinox": EQUINOX,
}
PLUGIN = """\
plugins = typed_nnx_mypy
"""
SETTINGS = """\
[mypy]
check_untyped_defs = true
ignore_missing_imports = true
cache_dir = {cache}
{plugin}"""
# The plugin looks at programs of flax.nnx where it is asked to.
COMMAND = "from typed_nnx_codegen.cli import main; main()"
RUNTIMES = '[tool.typed_nnx]\nruntimes = ["typed_nnx", "flax.nnx"]\n'


@dataclass(frozen=True)
class Checked:
    """What one checker says of one library's program.

    Attributes:
        reported: Whether each of the mistakes is reported, in their order.
        complaints: The errors in lines that are correct.
    """

    reported: tuple[bool, ...]
    complaints: tuple[str, ...]


def lines_of(library: str) -> list[str]:
    """Return the wrong lines in the idiom of a library."""
    field = {"Linen": "linen", "equinox": "equinox"}.get(library, "nnx")
    return [getattr(mistake, field) for mistake in MISTAKES]


def program_of(library: str) -> str:
    """Return the program of a library with each mistake in a function of its own."""
    parts = [
        f"\n\ndef mistake_{i}() -> None:\n    {line}\n" for i, line in enumerate(lines_of(library))
    ]
    return SETUPS[library] + "".join(parts)


def file_of(library: str) -> Path:
    """Return the module that a library's program is written to."""
    return FOLDER / "app" / f"with_{library.replace('.', '_').replace('-', '_').lower()}.py"


def count() -> dict[tuple[str, str], Checked]:
    """Return what is reported, by library and the name of the check."""
    (FOLDER / "app").mkdir(parents=True, exist_ok=True)
    (FOLDER / "pyproject.toml").write_text(RUNTIMES, encoding="utf-8")
    (FOLDER / "app" / "__init__.py").write_text("", encoding="utf-8")
    for library in SETUPS:
        file_of(library).write_text(program_of(library), encoding="utf-8")
    command = [sys.executable, "-c", COMMAND, "stubs", "app/with_typed_nnx.py"]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True)
    seen = {"mypy": _mypy(""), "mypy and our plugin": _mypy(PLUGIN), "pyright": _pyright()}
    return {
        (library, check): checked(library, errors[file_of(library).name])
        for check, errors in seen.items()
        for library in SETUPS
        if check != "mypy and our plugin" or library in (OURS, FLAX)
    }


def checked(library: str, errors: list[tuple[int, str]]) -> Checked:
    """Sort the errors of a program into mistakes that are found and complaints about correct lines."""
    first = SETUPS[library].count("\n")
    # Two blank lines, the `def`, the mistake.
    places = {first + 4 * (number + 1): number for number in range(len(MISTAKES))}
    found = {places[line] for line, _ in errors if line in places}
    others = [f"{line}: {message}" for line, message in errors if line not in places]
    return Checked(tuple(number in found for number in range(len(MISTAKES))), tuple(others))


Errors = dict[str, list[tuple[int, str]]]


def _mypy(plugin: str) -> Errors:
    name = "with_plugin" if plugin else "plain"
    settings = SETTINGS.format(cache=f"cache_{name}", plugin=plugin)
    (FOLDER / f"{name}.ini").write_text(settings, encoding="utf-8")
    return _by_file(TypeCheckers(FOLDER).mypy("--config-file", f"{name}.ini", "app"))


def _pyright() -> Errors:
    return _by_file(TypeCheckers(FOLDER).pyright("app"))


def _by_file(reports: list[Finding]) -> Errors:
    found: Errors = {file_of(library).name: [] for library in SETUPS}
    for report in reports:
        name = Path(report.path).name
        if report.is_error and name in found:
            found[name].append((report.line, report.message))
    return found
