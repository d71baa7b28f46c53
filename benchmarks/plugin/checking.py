"""mypy runs over a folder of packages, without and with the plugin."""

from __future__ import annotations

import os
import resource
import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.type_checkers import Finding, TypeCheckers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
HOUR = 3600.0
# What mypy and the plugin write where they break.
CRASHES = ("INTERNAL ERROR", "Traceback (most recent call last)")


@dataclass(frozen=True)
class Run:
    """What a run of mypy said and cost.

    Attributes:
        reports: The errors and notes.
        crash: What it wrote where it broke; empty otherwise.
        seconds: The time that passed.
        cpu_seconds: The time of the processor.
    """

    reports: tuple[Finding, ...]
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
    new: tuple[Finding, ...] = ()
    others: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()
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
        checkers = TypeCheckers(self.folder, timeout=HOUR)
        start, used = time.perf_counter(), _cpu_of_children()
        done = checkers.run(
            "-m", "mypy", "--config-file", config.name, "--output", "json", *targets
        )
        seconds, cpu = time.perf_counter() - start, _cpu_of_children() - used
        said = done.stdout + done.stderr
        crash = said[-4000:] if done.returncode not in (0, 1) or _is_crash(said) else ""
        folder = self.folder.resolve()
        reports = (
            each._replace(path=os.path.relpath(each.path, folder))
            for each in checkers.read_mypy(done.stdout)
        )
        return Run(tuple(reports), crash, seconds, cpu)

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


def _is_ours(report: Finding) -> bool:
    return report.code.startswith("nnx")


def place(report: Finding) -> tuple[str, int, str]:
    """Return where a report is, and which error."""
    return report.path, report.line, report.code


def compare(before: Run, after: Run) -> Comparison:
    """Return what differs between the runs without and with the plugin."""
    old, now = set(before.reports), set(after.reports)
    added, left = sorted(now - old), sorted(old - now)
    # An error that only names a type more exactly is the same error.
    same = {place(each) for each in added} & {place(each) for each in left}
    return Comparison(
        before=len(before.reports),
        new=tuple(each for each in added if _is_ours(each)),
        others=tuple(each for each in added if not _is_ours(each) and place(each) not in same),
        gone=tuple(each for each in left if place(each) not in same),
        crash=before.crash or after.crash,
    )


def of_package(found: Comparison, module: str, before: Run) -> Comparison:
    """Return the part of a comparison that is about one package."""

    def own(reports: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(each for each in reports if each.path.startswith(f"{module}/"))

    return Comparison(
        before=len(own(before.reports)),
        new=own(found.new),
        others=own(found.others),
        gone=own(found.gone),
        crash=found.crash,
    )
