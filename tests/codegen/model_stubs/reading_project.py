"""Small projects in a folder, read with a cache of the libraries that all tests share."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.once import locked, once
from typed_nnx_codegen.model_stubs.models import (
    ClassInfo,
    Models,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
)
from typed_nnx_codegen.model_stubs.reading import read

# From run to run: mypy finds out by itself what has changed in it. Ignored by git.
KEPT = Path(__file__).parents[3] / "build" / "model_stubs"

_EVERYTHING = """
import jax
import jax.numpy as jnp
import numpy as np
import typed_nnx as nnx
from dataclasses import dataclass

class Model(nnx.Module):
    pass
"""


def library_cache(shared: Path, runtime: str = "typed_nnx") -> Path:
    """Return a cache that has the libraries, made by the first test that needs it."""
    cache = shared / f"cache of {runtime}"

    def make() -> bool:
        kept = KEPT / f"{runtime} {sys.version_info.minor}"
        source = shared / f"everything_of_{runtime.replace('.', '_')}.py"
        source.write_text(_EVERYTHING.replace("import typed_nnx as", f"{_import(runtime)} as"))
        with locked(KEPT / "lock"):
            roots = read([str(source)], runtime=runtime, cache=kept).roots
            shutil.copytree(kept, cache)
        return bool(roots)

    assert once(f"cache of {runtime}", shared, make)
    return cache


def _import(runtime: str) -> str:
    package, _, name = runtime.rpartition(".")
    return f"from {package} import {name}" if package else f"import {name}"


class Project:
    """A folder with source, which is the current directory.

    Args:
        folder: The folder.
        libraries: A cache that has the libraries.
    """

    def __init__(self, folder: Path, libraries: Path) -> None:
        self.folder = folder
        self.cache = folder / ".cache"
        shutil.copytree(libraries, self.cache)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, given by their path and text."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")

    def read(self, *sources: str, runtime: str = "typed_nnx", cached: bool = True) -> Models:
        """Return what the reader finds."""
        return read(sources, runtime=runtime, cache=self.cache if cached else None)


def shown(found: Type) -> str:
    """Return a type as a short text: ``static``, ``?`` for unknown, ``Param[Array]``."""
    match found:
        case Named(name, arguments):
            return _last(name) + _listed(arguments)
        case Union(items):
            return " | ".join(shown(item) for item in items)
        case Tuple(items):
            return f"Tuple{_listed(items)}"
        case Parameter(name):
            return name
        case Static(text):
            return "static" if text == "_Any" else text
        case _:
            return "?"


def _last(name: str) -> str:
    return name.partition(":")[2]


def _listed(items: Sequence[Type]) -> str:
    return f"[{', '.join(map(shown, items))}]" if items else ""


def attributes(info: ClassInfo) -> dict[str, str]:
    """Return the attributes of a class by name, as `shown`."""
    return {name: shown(found) for name, found in info.attributes.items()}
