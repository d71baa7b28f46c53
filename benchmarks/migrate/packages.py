"""The Python files that the migration is swept over: standard libraries, and packages of PyPI."""

from __future__ import annotations

import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import packages as package_table
from benchmarks.packages import Package, download

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).parents[2] / "build" / "migrate_sweep"
SUFFIXES = (".py", ".pyi")


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
    for package in package_table.packages("migrate"):
        if not names or package.name in names:
            yield Subject(f"{package.name} {package.version}", _unpacked(package))


def _unpacked(package: Package) -> Path:
    """Return the folder with the Python files of a wheel."""
    folder = FOLDER / "sources" / f"{package.name}-{package.version}"
    if not folder.exists():
        wheel = download(package, FOLDER / "wheels")
        part = folder.with_name(f"{folder.name}.part")
        with zipfile.ZipFile(wheel) as files:
            files.extractall(part, [one for one in files.namelist() if one.endswith(SUFFIXES)])
        part.rename(folder)
    return folder
