"""Runs the modules of packages before and after the migration, and judges each class.

``typed-nnx verify`` runs in a process of its own for each file, in an environment that has this
project, flax, and the few packages that the sources need. What they name and do not need stands
in `benchmarks/linen_standins`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from benchmarks.linen_packages import EXAMPLES, FOLDER, PACKAGES, REPOSITORY, unpacked
from benchmarks.packages import Unreachable
from typed_nnx_codegen.migrate.linen.trace.record import Trace, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Verdict = Literal["equal", "marked", "fails", "other numbers", "not run"]
VERDICTS: Final[tuple[Verdict, ...]] = ("equal", "marked", "fails", "other numbers", "not run")
REQUIREMENTS = EXAMPLES / "requirements.txt"
STANDINS = Path(__file__).with_name("linen_standins")
COMMAND = "from typed_nnx_codegen.cli import main; main()"
_OWN_PACKAGES = ("flax", "jax", "jaxlib")
# Packages of the sweep that others import.
_LIBRARIES = ("e3x", "kauldron", "transformers")
_RECORDING = "typed_nnx_codegen.verify.recording"
_LINEN_FAILED = "Linen side failed"
_LONGEST = 300


@dataclass
class Ran:
    """What the examples of a file gave.

    Attributes:
        rows: What the command wrote of each example.
        said: Why there are none; empty where there are.
        is_new: Whether that is because of the migrated file.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    said: str = ""
    is_new: bool = False


@dataclass(frozen=True)
class Judged:
    """What was found about a class.

    Attributes:
        verdict: How it compares with what it was.
        why: What is not equal, in words.
    """

    verdict: Verdict
    why: str = ""


# -- the environment ----------------------------------------------------------------------------


def environment() -> Path:
    """Return the Python in which modules of the packages can be run; made where there is none yet.

    Raises:
        Unreachable: pip could not install something.
    """
    folder = FOLDER / "environment"
    python = folder / "bin" / "python"
    stamp = folder / "requirements.txt"
    pinned = REQUIREMENTS.read_text(encoding="utf-8")
    wanted = "\n".join((*_own_requirements(), pinned))
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--requirement"]
        command += [str(REQUIREMENTS), *_own_requirements(), "--editable", f"{REPOSITORY}[tools]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unreachable(f"the environment: {done.stderr.strip()}")
        stamp.write_text(wanted, encoding="utf-8")
    return python


def _own_requirements() -> list[str]:
    """Return what this project asks for to be tested: flax, and a jax that it works with."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted: list[str] = project["optional-dependencies"]["demo"]
    return [one for one in wanted if one.partition("<")[0].partition("==")[0] in _OWN_PACKAGES]


# -- running ------------------------------------------------------------------------------------


def run_examples(python: Path, old: Path, new: Path, example_file: Path, seconds: float) -> Ran:
    """Run the examples of a file on both sides.

    Args:
        python: The Python to run them with.
        old: The file before the migration.
        new: The migrated file; its map is beside it.
        example_file: The examples.
        seconds: How long it may take.
    """
    out = new.with_suffix(".verify.json")
    out.unlink(missing_ok=True)
    command = [str(python), "-c", COMMAND, "verify", str(old), str(new)]
    command += ["--example", str(example_file), "--json", str(out)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
            env=_variables(),
            cwd=new.parent,
        )
    except subprocess.TimeoutExpired:
        return Ran(said=f"it took more than {seconds:.0f} s")
    if not out.is_file():
        said = (done.stderr.strip() or done.stdout.strip())[-_LONGEST:]
        return Ran(said=said, is_new=f"{new}: " in done.stderr)
    return Ran(json.loads(out.read_text(encoding="utf-8"))["examples"])


def recorded_examples(
    python: Path, folder: Path, examples: Mapping[str, Path], seconds: float
) -> Trace:
    """Return what Linen tells of the sizes in the examples of a package.

    Args:
        python: The Python to run them with.
        folder: The package before the migration.
        examples: The example file of each of its files.
        seconds: How long the examples of a file may take.
    """
    found: list[dict[str, Any]] = []
    for file, example_file in examples.items():
        with tempfile.TemporaryDirectory() as out:
            command = [str(python), "-m", _RECORDING, out, str(example_file), str(folder / file)]
            try:
                subprocess.run(
                    command,
                    capture_output=True,
                    check=False,
                    timeout=seconds,
                    env=_variables(),
                    cwd=(folder / file).parent,
                )
            except subprocess.TimeoutExpired:
                continue
            for part in Path(out).glob("*.json"):
                record = json.loads(part.read_text(encoding="utf-8"))
                # Names of examples are those of classes, which files have in common.
                runs = [{**run, "name": f"{file}: {run['name']}"} for run in record["runs"]]
                found.append({**record, "runs": runs})
    return Trace(merged(found), [folder / file for file in examples])


def _variables() -> dict[str, str]:
    """Return the variables of the environment: the processor alone, and what is not installed."""
    search = [STANDINS, *(unpacked(one) for one in PACKAGES if one.name in _LIBRARIES)]
    path = os.pathsep.join(map(str, search))
    own = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **own, "USE_TF": "0", "USE_TORCH": "0", "USE_FLAX": "1"}


# -- judging ------------------------------------------------------------------------------------


def judged(ran: Ran, marks: Mapping[str, Sequence[str]]) -> dict[str, Judged]:
    """Return the verdict on each class of a file that has an example.

    Args:
        ran: What its examples gave.
        marks: The classes of the file, with the codes of their markers.
    """
    if ran.said:
        return {name: _without_rows(ran, codes) for name, codes in marks.items()}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in ran.rows:
        rows[row["class"].rpartition(".")[2]].append(row)
    return {name: _of_rows(found, marks.get(name, ())) for name, found in rows.items()}


def _without_rows(ran: Ran, codes: Sequence[str]) -> Judged:
    if not ran.is_new:
        return Judged("not run", ran.said)
    return Judged("marked" if codes else "fails", ran.said)


def _of_rows(rows: Iterable[dict[str, Any]], codes: Sequence[str]) -> Judged:
    """Return the verdict on a class: that of its worst example."""
    ran = [row for row in rows if _LINEN_FAILED not in row["error"]]
    if not ran:
        return Judged("not run", "Linen itself fails")
    bad = [row for row in ran if not row["equal"]]
    if not bad:
        return Judged("equal")
    wrong = [row for row in bad if _differing(row)]
    why = _reason((wrong or bad)[0])
    if codes:
        return Judged("marked", f"{', '.join(codes)}: {why}")
    return Judged("other numbers" if wrong else "fails", why)


def _differing(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the values that differ, in an example that ran to its end."""
    return [] if row["error"] else [one for one in row["items"] if one["state"] == "differs"]


def _reason(row: Mapping[str, Any]) -> str:
    items = [f"{one['kind']} {one['path']}: {one['note']}" for one in _differing(row)]
    extra = [f"goes nowhere: {path}" for path in (row["weights"] or {}).get("extra", ())]
    words = row["error"] or "; ".join([*items, *extra])
    return f"{row['example']}: {words}"[:_LONGEST]
