"""mypy runs over a folder of packages, without and with the plugin."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MODES = ("without", "with")
CONFIG = """\
[mypy]
{plugins}check_untyped_defs = true
follow_imports = silent
ignore_missing_imports = true
explicit_package_bases = true
mypy_path = {roots}
cache_dir = {cache}
show_traceback = true
"""
# What mypy and the plugin write where they break.
CRASHES = ("INTERNAL ERROR", "Traceback (most recent call last)")


@dataclass(frozen=True, order=True)
class Report:
    """An error or note of mypy."""

    path: str
    line: int
    code: str
    message: str
    column: int = 0

    @property
    def place(self) -> tuple[str, int, str]:
        """Where it is, and which error."""
        return self.path, self.line, self.code

    @property
    def is_ours(self) -> bool:
        """Whether a check of the plugin reports it."""
        return self.code.startswith("nnx")


@dataclass(frozen=True)
class Run:
    """What a run of mypy said and cost.

    Attributes:
        reports: The errors and notes.
        crash: What it wrote where it broke; empty otherwise.
        seconds: The time that passed.
        cpu_seconds: The time of the processor.
    """

    reports: tuple[Report, ...]
    crash: str
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Comparison:
    """What the plugin changes.

    Attributes:
        before: Errors without the plugin.
        new: Reports of the plugin's checks.
        others: Errors of mypy itself that there are only with the plugin.
        gone: Errors that there are only without it.
        crash: What mypy wrote where it broke.
    """

    before: int
    new: tuple[Report, ...] = ()
    others: tuple[Report, ...] = ()
    gone: tuple[Report, ...] = ()
    crash: str = ""


@dataclass
class Tree:
    """A folder of packages that mypy checks.

    Attributes:
        folder: Where the packages lie.
        roots: Further folders where modules are found.
    """

    folder: Path
    roots: Sequence[Path] = ()
    extra: str = ""
    _modes: set[str] = field(default_factory=set)

    def cache(self, mode: str) -> Path:
        """Return where mypy keeps what it knows of the files."""
        return self.folder / f"cache_{mode}"

    def forget(self, mode: str) -> None:
        """Let the next run of a mode start cold."""
        shutil.rmtree(self.cache(mode), ignore_errors=True)

    def run(self, mode: str, targets: Iterable[str]) -> Run:
        """Check modules or folders that lie in the tree."""
        config = self.folder / f"{mode}.ini"
        config.write_text(self._config(mode), encoding="utf-8")
        (self.folder / "pyproject.toml").touch()
        command = ["nice", "-n", "5", sys.executable, "-m", "mypy", "--config-file", config.name]
        start, used = time.perf_counter(), _cpu_of_children()
        done = subprocess.run(
            [*command, "--output", "json", *targets],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds, cpu = time.perf_counter() - start, _cpu_of_children() - used
        said = done.stdout + done.stderr
        crash = said[-4000:] if done.returncode not in (0, 1) or _is_crash(said) else ""
        lines = [each for each in done.stdout.splitlines() if each.startswith("{")]
        return Run(tuple(_report(json.loads(each)) for each in lines), crash, seconds, cpu)

    def _config(self, mode: str) -> str:
        return self.extra + CONFIG.format(
            plugins="plugins = typed_nnx_mypy\n" if mode == "with" else "",
            roots=",".join(str(each) for each in (self.folder, *self.roots)),
            cache=self.cache(mode).name,
        )


def _is_crash(said: str) -> bool:
    return any(each in said for each in CRASHES)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _report(said: Mapping[str, str | int | None]) -> Report:
    return Report(
        path=str(said["file"]),
        line=int(said["line"] or 0),
        code=str(said["code"] or ""),
        message=str(said["message"]),
        column=int(said["column"] or 0),
    )


def compare(before: Run, after: Run) -> Comparison:
    """Return what differs between the runs without and with the plugin."""
    old, now = set(before.reports), set(after.reports)
    added, left = sorted(now - old), sorted(old - now)
    # An error that only names a type more exactly is the same error.
    same = {each.place for each in added} & {each.place for each in left}
    return Comparison(
        before=len(before.reports),
        new=tuple(each for each in added if each.is_ours),
        others=tuple(each for each in added if not each.is_ours and each.place not in same),
        gone=tuple(each for each in left if each.place not in same),
        crash=before.crash or after.crash,
    )


def of_package(found: Comparison, module: str, before: Run) -> Comparison:
    """Return the part of a comparison that is about one package."""

    def own(reports: Iterable[Report]) -> tuple[Report, ...]:
        return tuple(each for each in reports if each.path.startswith(f"{module}/"))

    return Comparison(
        before=len(own(before.reports)),
        new=own(found.new),
        others=own(found.others),
        gone=own(found.gone),
        crash=found.crash,
    )
