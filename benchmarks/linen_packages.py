"""The packages of PyPI with Linen code, unpacked, and our examples of their modules."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.packages import Package, download, packages

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / "build" / "linen_sweep"
EXAMPLES = Path(__file__).with_name("linen_examples")
_SUFFIX = "_example.py"
_MENTIONS = (b"flax", b"linen")


PACKAGES = packages("linen")


def examples_of(package: Package) -> dict[str, Path]:
    """Return the files with examples, by the files of the package that they build modules of."""
    files = sorted((EXAMPLES / package.key).glob(f"*{_SUFFIX}"))
    return {source_of(file): file for file in files}


def source_of(example_file: Path) -> str:
    """Return the file that a file with examples is for, below the root of its package.

    >>> source_of(Path("flax/examples__vae__models_example.py"))
    'examples/vae/models.py'
    """
    return f"{example_file.name.removesuffix(_SUFFIX).replace('__', '/')}.py"


def unpacked(package: Package) -> Path:
    """Return the folder with the files of a package, downloaded where they are not there yet.

    Raises:
        Unreachable: pip did not get it.
    """
    folder = FOLDER / "sources" / f"{package.key}-{package.version}"
    if not folder.exists():
        archive = download(package, FOLDER / "archives" / package.key)
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        if package.is_source:
            with tarfile.open(archive) as source:
                source.extractall(part, filter="data")
        else:
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(part)
        part.rename(folder)
    return folder / package.root


def linen_files(package: Package, folder: Path) -> Iterator[Path]:
    """Yield the files that the command reads: those in which flax or Linen is mentioned."""
    for name in package.folders:
        for path in sorted((folder / name).rglob("*.py")):
            data = path.read_bytes()
            if any(word in data for word in _MENTIONS):
                yield path
