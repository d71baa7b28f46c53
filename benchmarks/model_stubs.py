"""How long ``typed-nnx stubs`` takes for many models, and what its overlay costs pyright.

Run ``python -m benchmarks.model_stubs``. Goals for 300 classes in 30 files: under 10 s when only the
libraries are known, under 2 s after one file has changed, and at most 30 % more time for a cold
check by pyright. Every measurement is a new process; those that are compared take turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.model_sources import write_project
from tests.support.type_checkers import TypeCheckers

PACKAGE = "app"
READ = """\
import sys
from pathlib import Path
from typed_nnx_codegen.model_stubs.reading import read
models = read([sys.argv[1]], cache=Path(sys.argv[2]))
assert not models.problems, models.problems
print(len(models.roots))
"""
COMMAND = "from typed_nnx_codegen.cli import main; main()"


def seconds(command: Sequence[str], folder: Path) -> float:
    """Return the seconds that a new process takes, which must succeed."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def read(folder: Path, cache: Path) -> float:
    """Return the seconds to read all models."""
    return seconds([sys.executable, "-c", READ, PACKAGE, str(cache)], folder)


def stubs(folder: Path) -> float:
    """Return the seconds of the command that writes the overlay."""
    return seconds([sys.executable, "-c", COMMAND, "stubs", PACKAGE], folder)


def pyright(folder: Path) -> float:
    """Return the seconds of a cold check; what it says about types does not count here."""
    start = time.perf_counter()
    TypeCheckers(folder).pyright(PACKAGE)
    return time.perf_counter() - start


def change_one_file(folder: Path, number: int) -> None:
    """Add an attribute to a class of one file."""
    path = folder / PACKAGE / "models_7.py"
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n\nclass Added{number}(nnx.Module):\n    def __init__(self) -> None:\n")
        file.write("        self.scale = nnx.Param(jnp.ones(3))\n")


def reading(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the times of reading: with nothing known, with the libraries known, and again."""
    times: dict[str, list[float]] = {
        "cold": [],
        "cold, libraries known": [],
        "unchanged": [],
        "one file changed": [],
    }
    libraries, cache = folder / "libraries", folder / "cache"
    (folder / "one").mkdir()
    write_project(folder / "one", classes=1, files=1)
    for number in range(rounds):
        for place in (libraries, cache):
            shutil.rmtree(place, ignore_errors=True)
        times["cold"].append(read(folder, cache))
        read(folder / "one", libraries)
        times["cold, libraries known"].append(read(folder, libraries))
        times["unchanged"].append(read(folder, cache))
        change_one_file(folder, number)
        times["one file changed"].append(read(folder, cache))
    return times


def checking(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the times of the command and of pyright without and with its overlay, in turns."""
    times: dict[str, list[float]] = {"typed-nnx stubs": [], "pyright": [], "with overlay": []}
    overlay, aside = folder / "typings", folder / "typings_aside"
    times["typed-nnx stubs"].append(stubs(folder))
    for _ in range(rounds):
        os.replace(overlay, aside)
        times["pyright"].append(pyright(folder))
        os.replace(aside, overlay)
        times["with overlay"].append(pyright(folder))
    return times


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=300)
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("reading", "checking"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_project(folder, given.classes, given.files)
        parts = {"reading": reading, "checking": checking}
        for part in [given.only] if given.only else parts:
            for label, times in parts[part](folder, given.rounds).items():
                spread = f"{min(times):.2f} to {max(times):.2f}"
                print(f"{label:24} {statistics.median(times):6.2f} s   ({spread})")


if __name__ == "__main__":
    main()
