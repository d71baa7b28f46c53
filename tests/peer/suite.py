"""Run the NNX tests of flax's own release against typed_nnx: `make peer-suite`.

The tests come from the package index and stay in `.peer-suite`, which git ignores. Each test that
fails is in `excused.toml` with its reason. The command fails when a test is not what the table says.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.support.processes import run_process

HERE = Path(__file__).parent
PINNED = HERE / "requirements.txt"
TABLE = HERE / "excused.toml"
CACHE = HERE.parents[1] / ".peer-suite"
KINDS = {
    "internals": "internals of flax's engine",
    "message": "a message in other words",
    "difference": "a difference of docs/differences.md",
}


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why tests may fail.

    Args:
        kind: A key of `KINDS`.
        text: What the tests ask for, or for a difference the first cell of its row.
    """

    kind: str
    text: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How the outcomes of a run differ from the table, as names of tests."""

    failing: list[str]
    passing: list[str]
    missing: list[str]

    def lines(self) -> list[str]:
        """Return what there is to do, one line for each test."""
        return [
            *(f"fails and is not in {TABLE.name}: {name}" for name in self.failing),
            *(f"passes and is in {TABLE.name}: {name}" for name in self.passing),
            *(f"is in {TABLE.name} and did not run: {name}" for name in self.missing),
        ]


def read(text: str) -> dict[str, Reason]:
    """Return the reason of each test of a table.

    Raises:
        ValueError: A kind is unknown, or a test stands twice.
    """
    table: dict[str, Reason] = {}
    for entry in tomllib.loads(text)["excused"]:
        reason = Reason(entry["kind"], entry["reason"])
        if reason.kind not in KINDS:
            raise ValueError(f"{reason.kind!r} is no kind. Fix: one of {', '.join(KINDS)}")
        for name in entry["tests"]:
            if name in table:
                raise ValueError(f"{name} stands twice. Fix: remove one")
            table[name] = reason
    return table


def compare(outcomes: Mapping[str, str], table: Mapping[str, Reason]) -> Comparison:
    """Compare what tests did with a table.

    Args:
        outcomes: "passed", "failed" or "skipped" for each test that ran.
        table: The tests that may fail. One that flax itself skips has no place in it.
    """
    return Comparison(
        failing=sorted(n for n, o in outcomes.items() if o == "failed" and n not in table),
        passing=sorted(n for n, o in outcomes.items() if o != "failed" and n in table),
        missing=sorted(table.keys() - outcomes.keys()),
    )


def summary(outcomes: Mapping[str, str], table: Mapping[str, Reason]) -> str:
    """Return how many tests passed, were skipped, and failed for each kind of reason."""
    counts = Counter(outcomes.values())
    kinds = Counter(
        table[name].kind for name, o in outcomes.items() if o == "failed" and name in table
    )
    excused = [f"  {count:4} {KINDS[kind]}" for kind, count in kinds.most_common()]
    return "\n".join(
        [
            f"{len(outcomes)} tests: {counts['passed']} passed, {counts['skipped']} skipped, "
            f"{kinds.total()} excused, {counts['failed'] - kinds.total()} other failures",
            *excused,
        ]
    )


def fetched() -> Path:
    """Return the folder with flax's tests, taken from the package index where it is missing."""
    folder = CACHE / hashlib.sha256(PINNED.read_bytes()).hexdigest()[:16]
    if folder.exists():
        return folder
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        command = ["pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--require-hashes", "--requirement", str(PINNED), "--dest", name]
        run_process([sys.executable, "-m", *command], timeout=900, check=True)
        (path,) = Path(name).glob("*.tar.gz")
        unpacked = Path(name) / "unpacked"
        with tarfile.open(path) as archive:
            for member in archive:
                _, _, inside = member.name.partition("/")
                if inside == "pyproject.toml" or inside.startswith("tests/nnx/"):
                    member.name = inside.removeprefix("tests/")
                    archive.extract(member, unpacked, filter="data")
        unpacked.rename(folder)
    return folder


def run(folder: Path, arguments: list[str]) -> dict[str, str]:
    """Run the tests, with the settings of flax, and return the outcome of each.

    Args:
        folder: Where `nnx` with the tests is.
        arguments: For pytest.
    """
    outcomes = folder / "outcomes.json"
    outcomes.unlink(missing_ok=True)
    command = ["pytest", "-p", "aliased", "-p", "no:cacheprovider", "-q", "--tb=short"]
    # Its settings turn warnings into errors, also ours of a row of docs/differences.md.
    command += ["-W", "ignore:hijax=True is only metadata:UserWarning"]
    command += [f"--outcomes={outcomes}", *arguments]
    # Four devices, as in flax's own run.
    variables = {
        "PYTHONPATH": str(HERE),
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_PLATFORMS": "cpu",
    }
    with (folder / "output.txt").open("w") as output:
        run_process(
            [sys.executable, "-m", *command],
            cwd=folder,
            env={**os.environ, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=2 * 3600,
        )
    if not outcomes.exists():
        raise SystemExit((folder / "output.txt").read_text())
    found: dict[str, str] = json.loads(outcomes.read_text())
    return found


def main() -> int:
    """Run all tests, or those that are named; return 1 where the table is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.peer.suite", description=__doc__)
    parser.add_argument("tests", nargs="*", help="files or tests as in the table; without any, all")
    parser.add_argument("--workers", default="0", help="how many processes")
    given = parser.parse_args()
    folder = fetched()
    names = [f"nnx/{name}" for name in given.tests] or ["nnx"]
    outcomes = run(folder, [*names, "-n", given.workers])
    outcomes = {name.removeprefix("nnx/"): outcome for name, outcome in outcomes.items()}
    table = read(TABLE.read_text(encoding="utf-8"))
    if given.tests:
        table = {name: reason for name, reason in table.items() if name in outcomes}
    lines = compare(outcomes, table).lines()
    print("\n".join([summary(outcomes, table), *lines]))
    if lines:
        print(f"The output of the tests: {folder / 'output.txt'}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
