"""The packages of PyPI that the plugin is swept over, downloaded and unpacked for mypy."""

from __future__ import annotations

import re
import shutil
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.pypi_packages import PACKAGES as STUBBED
from benchmarks.pypi_packages import Package, download
from tests.support.type_checkers import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = REPOSITORY / "build" / "plugin_sweep"
RUNTIMES = ("flax.nnx", "typed_nnx")
# Pallas and mosaic kernels: no line of NNX, and many minutes of mypy.
LEFT_OUT = re.compile(r"tpu_inference/kernels/")
_FLAX_NNX = re.compile(r"import flax\.nnx|from flax\.nnx import|from flax import .*\bnnx\b")


def _package(name: str, version: str, licence: str, module: str, sha256: str) -> Package:
    return Package(name, version, sha256, licence, module)


# Their code uses flax.nnx. Those that `benchmarks.pypi_packages` has are the smaller ones.
NNX = (
    *STUBBED,
    _package(
        "easydel",
        "0.1.4",
        "Apache-2.0",
        "easydel",
        "b3a991f6163c47ccd745d41eec4081281bede5f852ca85086dc62c0efe1543d3",
    ),
    _package(
        "gensbi",
        "0.3.4",
        "Apache-2.0",
        "gensbi",
        "94fa56113388b49b681dc095cf3e485a00a7d5f3b37c4e1ffc60c669577c1c73",
    ),
    _package(
        "google-tunix",
        "0.1.7",
        "Apache-2.0",
        "tunix",
        "857b893b8ba71a61cce8cb9de2301218d311f72044de94aa2b826275968033b4",
    ),
    _package(
        "gpjax",
        "0.12.0",
        "MIT",
        "gpjax",
        "5fd6ae08e1cc1eedbaee0f8949b347c55246347e2f3834f2c217d0123a056f05",
    ),
    _package(
        "neuralgcm",
        "1.2.2",
        "Apache-2.0",
        "neuralgcm",
        "795297260a5aff05708e855fe8cb27db7cc0f514e9c34e373e4ba378732327e5",
    ),
    _package(
        "nmn",
        "0.3.5",
        "AGPL-3.0",
        "nmn",
        "71ac69a6b27bc5065838de4347381b5bf95b8828202de6d371943f55d4d4feb4",
    ),
    _package(
        "nnx-lm",
        "0.0.1a2",
        "Apache-2.0",
        "nnxlm",
        "82998986b625e2524e59e027244cf91db92c3053aa841d7c22df9a3fabf4fd5f",
    ),
    _package(
        "qwix",
        "0.1.8",
        "Apache-2.0",
        "qwix",
        "0f4686f7f10a1168787fac4fbaf4d9883bcb8f78a01f2ff1cd3834d39f859b12",
    ),
    _package(
        "tpu-inference",
        "0.32.0",
        "Apache-2.0",
        "tpu_inference",
        "7c25a3c76cefd383f06ef115a6ed4d7bed82c081f047046bfef55f5913ea06d4",
    ),
)
# flax itself, and code that uses jax without NNX.
OTHERS = (
    _package(
        "flax",
        "0.12.8",
        "Apache-2.0",
        "flax",
        "807931d369cbc716fc447801ab39cd6c3c2614d573387a2319a028675dd34fe5",
    ),
    _package(
        "blackjax",
        "1.7.1",
        "Apache-2.0",
        "blackjax",
        "be2c7f982f4ab3afef2dd5f075dae271023fdec3d9c5d8b599ba7f2f281524fa",
    ),
    _package(
        "brax",
        "0.14.2",
        "Apache-2.0",
        "brax",
        "d33b7b222ba5d85fd0fc4d4c59aa46feb978684107ad3f79de6bfef97ab06693",
    ),
    _package(
        "chex",
        "0.1.92",
        "Apache-2.0",
        "chex",
        "f34989d9bff7954edfab09fba7757e3d62404da34577bff0d253599ec5b4f93d",
    ),
    _package(
        "distrax",
        "0.1.9",
        "Apache-2.0",
        "distrax",
        "11c93bd4dd913803f2539847cf3a688804fae5f9da224dc44e340846753f75f4",
    ),
    _package(
        "optax",
        "0.2.8",
        "Apache-2.0",
        "optax",
        "e3ca2d36c99daab1800ae9dbc0545034382d6bc780b24d969e1b0df65fa31cb4",
    ),
)


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


def with_typed_nnx(source: str) -> str:
    """Return source that uses flax.nnx under whatever name, as using typed_nnx.

    >>> with_typed_nnx("from flax import nnx")
    'import typed_nnx as nnx'
    >>> with_typed_nnx("from flax import nnx as nn")
    'import typed_nnx as nn'
    >>> with_typed_nnx("from flax import config, nnx")
    'import typed_nnx as nnx; from flax import config'
    >>> with_typed_nnx("from flax.nnx import Param")
    'from typed_nnx import Param'
    """
    source = re.sub(
        r"\bfrom flax import nnx\b(?: as (\w+))?",
        lambda found: f"import typed_nnx as {found[1] or 'nnx'}",
        source,
    )
    both = r"\bfrom flax import ([\w, ]+?), nnx\b"
    source = re.sub(both, r"import typed_nnx as nnx; from flax import \1", source)
    return re.sub(r"\bflax\.nnx\b", "typed_nnx", source)
