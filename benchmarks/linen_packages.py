"""The packages of PyPI with Linen code, unpacked, and our examples of their modules."""

from __future__ import annotations

import re
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
_FILES = re.compile(r'^EXAMPLES\["(.+)"\] = ', re.MULTILINE)
# `typed-nnx verify` reads the examples of one file.
_ONE = 'import runpy\n\nEXAMPLES = runpy.run_path({source!r})["EXAMPLES"][{name!r}]\n'
_MENTIONS = (b"flax", b"linen")


PACKAGES = packages("linen")


def examples_of(package: Package) -> dict[str, Path]:
    """Return a file of examples for each file of a package whose modules they build."""
    source = EXAMPLES / f"{package.key}.py"
    if not source.is_file():
        return {}
    names = _FILES.findall(source.read_text(encoding="utf-8"))
    folder = FOLDER / "examples" / package.key
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: folder / name.replace("/", "__") for name in names}
    for name, path in found.items():
        path.write_text(_ONE.format(source=str(source), name=name), encoding="utf-8")
    return found


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
