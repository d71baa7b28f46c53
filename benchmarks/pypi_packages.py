"""Model stubs for packages of PyPI: ``python -m benchmarks.pypi_packages [NAME...]``.

Each package defines models with flax.nnx. It is downloaded, never imported, and read twice: as it
is, and as a copy that uses typed_nnx. The table says what ``typed-nnx stubs`` finds in it, and
which errors the type checkers report in its files with the overlay that they did not report before.

The overlay is in an import cycle with the package, and there mypy reports an alias of what has no
type for it (``Tree = jaxtyping.PyTree``) in each file that uses the alias, not only in the file that
defines it. Those errors of the package itself have a column of their own.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.packages import Package as Package
from benchmarks.packages import Unreachable as Unreachable
from benchmarks.packages import download, packages, with_typed_nnx
from tests.support.type_checkers import REPOSITORY, UNTYPED, Checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.support.type_checkers import Finding

# The checkers look for modules here, so it is also where the overlay goes.
FOLDER = REPOSITORY / "build" / "pypi_packages"
OVERLAY = FOLDER / "typed_nnx_models.pyi"
RUNTIMES = ("flax.nnx", "typed_nnx")
# How mypy names an alias that it could not evaluate: where it is used, and as a type.
NO_ALIAS = re.compile(r'Variable "[\w.]*\b(\w+)" is not valid as a type')
COMMAND = "from typed_nnx_codegen.cli import main; main()"
# How the overlay begins the text of a class that has all fields of a model.
WHOLE = '"""The State of `'
with_our_runtime = with_typed_nnx


# Not probjax 0.1.0: mypy refuses it as a whole, for it has a module `smc` beside a package `smc`.
PACKAGES = packages("stubs")
# Packages of which others take types, and that this project does not have.
NEEDED = {"bijx": [one for one in packages("jax") if one.name == "chex"]}


@dataclass(frozen=True)
class Place:
    """Where a checker reports an error, and which."""

    checker: str
    path: str
    line: int
    code: str

    @property
    def in_file(self) -> tuple[str, str, int]:
        """The place without the kind of error."""
        return self.checker, self.path, self.line


@dataclass
class Outcome:
    """What happened to a package with one runtime.

    Attributes:
        package: The package.
        runtime: Which NNX its code uses.
        seconds: How long the command took.
        status: With what the command ended, 0 where it succeeded.
        said: What the command wrote to its error stream.
        models: How many State classes for all of a model the overlay has.
        typed: How many of their fields have a type.
        untyped: How many of their fields are Any.
        new: Errors that the checkers report only with the overlay, with their messages.
        repeated: Those of aliases that mypy could not evaluate before either.
    """

    package: Package
    runtime: str
    seconds: float = 0.0
    status: int = 0
    said: str = ""
    models: int = 0
    typed: int = 0
    untyped: int = 0
    new: dict[Place, str] = field(default_factory=dict)
    repeated: dict[Place, str] = field(default_factory=dict)


def unpack(package: Package, wheel: Path, runtime: str) -> list[Path]:
    """Write the package's files to where the checkers look for modules, and return their paths."""
    root = FOLDER / package.module
    shutil.rmtree(root, ignore_errors=True)
    with zipfile.ZipFile(wheel) as files:
        names = [name for name in files.namelist() if name.startswith(f"{package.module}/")]
        files.extractall(FOLDER, names)
    sources = sorted(root.rglob("*.py"))
    if runtime == RUNTIMES[1]:
        for source in sources:
            source.write_text(with_our_runtime(source.read_text(encoding="utf-8")), "utf-8")
    return sources


def errors(sources: Sequence[Path]) -> dict[Place, str]:
    """Return the errors of both checkers in the files, one per line and code."""
    found: dict[str, list[Finding]] = Checks(folder=FOLDER, untyped=UNTYPED).errors(sources)
    return {
        Place(checker, str(Path(one.path).relative_to(FOLDER)), one.line, one.code): one.message
        for checker, reported in found.items()
        for one in reported
    }


def write_overlay(outcome: Outcome) -> None:
    """Run the command on the package's folder and count what the overlay has."""
    start = time.perf_counter()
    command = [sys.executable, "-c", COMMAND, "stubs", outcome.package.module]
    command += ["--runtime", outcome.runtime, "--out", str(FOLDER)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    outcome.seconds = time.perf_counter() - start
    outcome.status, outcome.said = done.returncode, done.stderr
    if OVERLAY.exists():
        count_fields(outcome, OVERLAY.read_text(encoding="utf-8"))


def count_fields(outcome: Outcome, overlay: str) -> None:
    """Count the fields of the State classes that have all of a model."""
    for text in re.split(r"^(?=class )", overlay, flags=re.MULTILINE):
        if WHOLE in text:
            fields = re.findall(r"^    (?!__)\w+: (.*)$", text, re.MULTILINE)
            untyped = sum(bool(re.match(r"_?Any\b", one)) for one in fields)
            outcome.models += 1
            outcome.untyped += untyped
            outcome.typed += len(fields) - untyped


def try_package(package: Package, runtime: str) -> Outcome:
    """Download a package, write its overlay, and compare what the checkers say.

    Raises:
        Unreachable: It could not be downloaded.
    """
    for needed in NEEDED.get(package.name, ()):
        unpack(needed, download(needed, FOLDER / "wheels"), RUNTIMES[0])
    sources = unpack(package, download(package, FOLDER / "wheels"), runtime)
    outcome = Outcome(package, runtime)
    OVERLAY.unlink(missing_ok=True)
    before = errors(sources)
    write_overlay(outcome)
    after = errors(sources) if OVERLAY.exists() else before
    compare(outcome, before, after)
    OVERLAY.unlink(missing_ok=True)
    return outcome


def compare(outcome: Outcome, before: dict[Place, str], after: dict[Place, str]) -> None:
    """Store the errors that there are only with the overlay, those of known bad aliases apart."""
    aliases = {found[1] for message in before.values() if (found := NO_ALIAS.search(message))}
    of_alias = re.compile(rf"\b({'|'.join(aliases)})(\?|\" is not valid as a type)")
    gone = {one.in_file for one in before.keys() - after.keys()}
    for place in after.keys() - before.keys():
        # Where the type of an alias is not known, the error of a line may get other words.
        known = aliases and (of_alias.search(after[place]) or place.in_file in gone)
        (outcome.repeated if known else outcome.new)[place] = after[place]


def table(outcomes: Iterable[Outcome]) -> Table:
    """Return a row for each package and runtime."""
    shown = Table("package", "licence", "runtime", title="typed-nnx stubs on packages of PyPI")
    for name in ("models", "typed fields", "Any", "seconds", "status", "new errors", "of aliases"):
        shown.add_column(name, justify="right")
    for one in outcomes:
        package = f"{one.package.name} {one.package.version}"
        counts = (one.models, one.typed, one.untyped, f"{one.seconds:.1f}", one.status)
        cells = (*map(str, counts), str(len(one.new)), str(len(one.repeated)))
        shown.add_row(package, one.package.licence, one.runtime, *cells)
    return shown


def main(arguments: list[str]) -> int:
    """Try the packages; return 1 where the command failed or a checker reports a new error."""
    parser = argparse.ArgumentParser(description="typed-nnx stubs on packages of PyPI")
    parser.add_argument("names", nargs="*", metavar="NAME", help="packages, by default all")
    parser.add_argument("--runtime", choices=RUNTIMES, action="append", help="by default both")
    chosen = parser.parse_args(arguments)
    console = Console()
    outcomes = []
    for package in PACKAGES:
        if not chosen.names or package.name in chosen.names:
            for runtime in chosen.runtime or RUNTIMES:
                outcomes.append(try_package(package, runtime))
                console.print(f"{package.name}, {runtime}: {outcomes[-1].seconds:.1f} s")
    console.print(table(outcomes))
    for one in outcomes:
        if one.status:
            console.print(f"{one.package.name}, {one.runtime}: {one.said}", markup=False)
        for place, message in one.new.items():
            console.print(f"{one.runtime} {place}: {message}", markup=False)
    return int(any(one.status or one.new for one in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
