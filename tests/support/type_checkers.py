"""What mypy and pyright say of files that use typed_nnx as an installed package with its stubs.

The checks run in a folder of their own: by the repository's configuration the checkers would find
the package by its source, where mypy uses no stub package.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.once import locked, once
from tests.support.processes import PATIENCE, run_process

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Mapping, Sequence

REPOSITORY = Path(__file__).parents[2]
CHECKERS = ("mypy", "pyright")
# Kept from run to run, so that mypy checks jax once. Ignored by git, and not hidden: pyright
# skips hidden folders.
FOLDER = REPOSITORY / "build" / "type_checks"

MYPY = """\
[mypy]
strict = true
explicit_package_bases = true
mypy_path = {roots}
cache_dir = mypy_cache

# A page annotates what helps a reader, and may define a name again.
[mypy-pages.*]
disallow_any_generics = false
disallow_incomplete_defs = false
disallow_subclassing_any = false
disallow_untyped_calls = false
disallow_untyped_decorators = false
disallow_untyped_defs = false
warn_return_any = false
disable_error_code = no-redef

# Code on flax.linen, whose names are Any here.
[mypy-examples.linen_digits.linen_project.digit_reader.*]
disallow_subclassing_any = false
disallow_untyped_decorators = false
warn_return_any = false

# Packages without types.
[mypy-{untyped}]
follow_imports = skip
ignore_missing_imports = true
"""
UNTYPED = ("matplotlib", "optax", "orbax", "safetensors", "sklearn", "treescope")
# Its types are followed where they are what is looked at; that takes long.
FLAX = "flax"


class Finding(NamedTuple):
    """What a type checker reports of a line."""

    path: str
    line: int
    code: str
    message: str
    severity: str = "error"
    column: int = 0

    @property
    def is_error(self) -> bool:
        """Whether it is more than a note or a warning."""
        return self.severity == "error"


Findings = dict[str, dict[str, list[Finding]]]
"""The errors by checker and file."""


def findings_once(name: str, folder: Path, check: Callable[[], Findings]) -> Findings:
    """Return what a check finds; of the callers that share `folder` the first one runs it."""
    loaded = once(name, folder, check)  # JSON has lists in the place of tuples
    return {
        checker: {file: [Finding(*one) for one in errors] for file, errors in by_file.items()}
        for checker, by_file in loaded.items()
    }


@dataclass(frozen=True)
class TypeCheckers:
    """mypy and pyright, as processes that run in a folder.

    Attributes:
        folder: Where they run.
        python: The environment with the packages that the files import.
        mypy_program: What Python runs as mypy.
        environment: Variables that the processes have besides ours.
        timeout: Seconds that a process may take.
    """

    folder: Path
    python: Path = Path(sys.executable)
    mypy_program: tuple[str, ...] = ("-m", "mypy")
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = PATIENCE

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Return what Python prints with a command, such as `-m mypy`, whatever it says."""
        hidden = {"MYPYPATH", "PYTHONPATH"}  # they may lead to the source of the package
        shown = {name: value for name, value in os.environ.items() if name not in hidden}
        return run_process(
            [sys.executable, *command],
            timeout=self.timeout,
            cwd=self.folder,
            env={**shown, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", **self.environment},
        )

    def mypy_text(self, *arguments: str) -> str:
        """Return what mypy prints; it must not break."""
        python = ("--python-executable", str(self.python))
        done = self.run(*self.mypy_program, *python, *arguments)
        if done.stderr:
            raise RuntimeError(f"mypy failed:\n{done.stdout}{done.stderr}")
        return _printed(done)

    def mypy(self, *arguments: str) -> list[Finding]:
        """Return what mypy reports, notes included."""
        return self.read_mypy(self.mypy_text("--output", "json", *arguments))

    def read_mypy(self, output: str) -> list[Finding]:
        """Return what mypy or its daemon has reported with `--output json`."""
        return [
            Finding(
                str((self.folder / report["file"]).resolve()),
                report["line"] or 0,
                report["code"] or "",
                report["message"],
                report["severity"],
                report["column"] or 0,
            )
            for line in output.splitlines()
            if line.startswith("{")  # the daemon writes of itself, too
            for report in [json.loads(line)]
        ]

    def pyright(self, *arguments: str) -> list[Finding]:
        """Return what pyright reports, notes included."""
        options = ("--outputjson", "--pythonpath", str(self.python))
        done = self.run("-m", "pyright", *options, *arguments)
        reports: list[dict[str, Any]] = json.loads(_printed(done))["generalDiagnostics"]
        return [
            Finding(
                report["file"],
                report["range"]["start"]["line"] + 1,
                report.get("rule", ""),
                report["message"],
                report["severity"],
                report["range"]["start"]["character"],
            )
            for report in reports
        ]


def _printed(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{done.args} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Checks:
    """How both checkers run.

    Attributes:
        folder: Where they run; keeps the cache of mypy.
        python: The environment with the packages that the files import.
        untyped: Packages whose names mypy is to take as Any.
    """

    folder: Path = FOLDER
    python: Path = Path(sys.executable)
    untyped: tuple[str, ...] = (*UNTYPED, FLAX)

    def reports(self, files: Sequence[Path]) -> dict[str, list[Finding]]:
        """Return what mypy and pyright report, notes included; they run side by side."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._configure()
        with ThreadPoolExecutor() as pool:
            runs = {
                "mypy": pool.submit(self._mypy, files),
                "pyright": pool.submit(self._pyright, files),
            }
            return {checker: run.result() for checker, run in runs.items()}

    def errors(self, files: Sequence[Path]) -> dict[str, list[Finding]]:
        """Return the errors that mypy and pyright report."""
        return {
            checker: [one for one in reports if one.is_error]
            for checker, reports in self.reports(files).items()
        }

    def write_module(self, name: str, source: str) -> Path:
        """Write a module that is to be checked under its full name, and return its path."""
        path = self.folder.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_if_changed(path, source)
        return path

    def _configure(self) -> None:
        roots = [str(REPOSITORY), str(self.folder)]
        untyped = ",".join(f"{package}.*" for package in self.untyped)
        settings = MYPY.format(roots=",".join(roots), untyped=untyped)
        write_if_changed(self.folder / "mypy.ini", settings)
        pyright = {
            "extraPaths": roots,
            "typeCheckingMode": "standard",
            "reportRedeclaration": False,
        }
        write_if_changed(self.folder / "pyrightconfig.json", json.dumps(pyright))

    def _mypy(self, files: Iterable[Path]) -> list[Finding]:
        # Another run of the tests would write into the same cache.
        with locked(self.folder / "lock"):
            return TypeCheckers(self.folder, self.python).mypy(*map(str, files))

    def _pyright(self, files: Iterable[Path]) -> list[Finding]:
        checkers = TypeCheckers(self.folder, self.python)
        return checkers.pyright("--project", "pyrightconfig.json", *map(str, files))


def write_if_changed(path: Path, text: str) -> None:
    """Write a file, unless it has that text: mypy reads again what has a new time."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
