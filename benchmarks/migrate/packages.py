"""The Python files that the migration is swept over: standard libraries, and packages of PyPI."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).parents[2] / "build" / "migrate_sweep"
PINNED = Path(__file__).with_name("packages.txt")
SUFFIXES = (".py", ".pyi")


class Unreachable(Exception):
    """A package could not be downloaded."""


@dataclass(frozen=True)
class Subject:
    """A folder of Python files.

    Attributes:
        name: What it is, with its version.
        folder: Where the files are.
        is_library: Whether it is the standard library of a Python.
    """

    name: str
    folder: Path
    is_library: bool = False

    def files(self) -> list[Path]:
        """Return the files, without what was installed into a standard library."""
        found = (path for suffix in SUFFIXES for path in self.folder.rglob(f"*{suffix}"))
        return sorted(
            path
            for path in found
            if path.is_file()
            and not path.is_symlink()
            and "site-packages" not in path.relative_to(self.folder).parts
        )


def libraries() -> list[Subject]:
    """Return the standard library of this Python, and of those that are installed beside it."""
    own = Path(sysconfig.get_path("stdlib"))
    beside = Path(sys.base_prefix).parent.glob("*/lib/python*")
    folders = {own.resolve(), *(path.resolve() for path in beside if (path / "os.py").is_file())}
    return [
        Subject(f"{folder.name} of {folder.parents[1].name}", folder, is_library=True)
        for folder in sorted(folders)
    ]


def packages(names: Sequence[str] = ()) -> Iterator[Subject]:
    """Yield the packages, downloaded and unpacked, by default all.

    Raises:
        Unreachable: pip did not get one.
    """
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        name, _, version = line.split(" ")[0].partition("==")
        if version and (not names or name in names):
            yield Subject(f"{name} {version}", _unpacked(name, version, line))


def _unpacked(name: str, version: str, requirement: str) -> Path:
    """Return the folder with the Python files of a wheel."""
    folder = FOLDER / "sources" / f"{name}-{version}"
    if not folder.exists():
        wheel = _downloaded(name, version, requirement)
        part = folder.with_name(f"{folder.name}.part")
        with zipfile.ZipFile(wheel) as files:
            files.extractall(part, [one for one in files.namelist() if one.endswith(SUFFIXES)])
        part.rename(folder)
    return folder


def _downloaded(name: str, version: str, requirement: str) -> Path:
    """Return the wheel, which pip has compared with its hash; no package is installed or run."""
    wheels = FOLDER / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    wanted = wheels / f"{name}.txt"
    wanted.write_text(f"{requirement}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--ignore-requires-python", "--dest", str(wheels)]
    done = subprocess.run(
        [*command, "--requirement", str(wanted)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unreachable(f"{name}: {done.stderr.strip()}")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    return next(path for path in wheels.iterdir() if fnmatch(path.name.casefold(), pattern))
