"""The packages of PyPI that the plugin is swept over, downloaded and unpacked for mypy."""

from __future__ import annotations

import re
import shutil
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import packages as package_table
from benchmarks.packages import Package, download
from benchmarks.packages import with_typed_nnx as with_typed_nnx
from tests.support.type_checkers import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = REPOSITORY / "build" / "plugin_sweep"
RUNTIMES = ("flax.nnx", "typed_nnx")
# Pallas and mosaic kernels: no line of NNX, and many minutes of mypy.
LEFT_OUT = re.compile(r"tpu_inference/kernels/")
_FLAX_NNX = re.compile(r"import flax\.nnx|from flax\.nnx import|from flax import .*\bnnx\b")


# Code on flax.nnx; flax itself, and code that uses jax without NNX.
NNX, OTHERS = package_table.packages("nnx"), package_table.packages("jax")


@dataclass(frozen=True)
class Unpacked:
    """A package whose modules lie in a folder for mypy.

    Attributes:
        package: The package.
        files: How many Python files there are.
        lines: How many lines they have.
        nnx_lines: How many of them are in files that import flax.nnx.
    """

    package: Package
    files: int
    lines: int
    nnx_lines: int


def packages(runtime: str, names: Iterable[str] = ()) -> list[Package]:
    """Return the packages to check with a runtime, or those of them that are named.

    Only code on NNX is checked with typed_nnx.
    """
    every = [*NNX, *OTHERS] if runtime == RUNTIMES[0] else [*NNX]
    chosen = set(names)
    return [each for each in every if not chosen or each.name in chosen]


def unpack(package: Package, folder: Path, runtime: str) -> Unpacked:
    """Download a package and write its modules into a folder, where they are not there yet."""
    root = folder / package.module
    done = folder / f"{package.name}-{package.version}.done"
    if not done.exists():
        wheel = download(package, FOLDER / "wheels")
        shutil.rmtree(root, ignore_errors=True)
        with zipfile.ZipFile(wheel) as files:
            files.extractall(folder, list(_wanted(files.namelist(), package.module)))
        if runtime == RUNTIMES[1]:
            for source in sorted(root.rglob("*.py")):
                text = source.read_text(encoding="utf-8")
                source.write_text(with_typed_nnx(text), encoding="utf-8")
        done.touch()
    return _counted(package, root)


def _wanted(names: Iterable[str], module: str) -> Iterator[str]:
    for name in names:
        is_source = name.startswith(f"{module}/") and name.endswith((".py", ".pyi", "py.typed"))
        if is_source and not LEFT_OUT.match(name):
            yield name


def _counted(package: Package, root: Path) -> Unpacked:
    texts = [each.read_text(encoding="utf-8") for each in root.rglob("*.py")]
    of_nnx = [each for each in texts if _FLAX_NNX.search(each) or "import typed_nnx" in each]
    lines, nnx_lines = (sum(each.count("\n") for each in some) for some in (texts, of_nnx))
    return Unpacked(package, len(texts), lines, nnx_lines if package.module != "flax" else 0)
