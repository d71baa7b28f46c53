"""The packages of PyPI that the sweeps go over: `packages.tsv` names them, pip downloads them.

Nothing of them is part of this project, and nothing of them is run to download them; for the source
distribution of flax alone, pip asks its build for the name and version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

TABLE = Path(__file__).with_name("packages.tsv")


class Unreachable(Exception):
    """A package could not be downloaded."""


@dataclass(frozen=True)
class Package:
    """A line of the table: a wheel, or a source distribution where its code has another root.

    Attributes:
        sweeps: Those that go over it.
        name: Its name on PyPI.
        version: Its version.
        licence: Under which it is published.
        folders: Where its code is.
        root: What paths to its code begin with.
        sha256: The hash of the archive.
    """

    sweeps: tuple[str, ...]
    name: str
    version: str
    licence: str
    folders: tuple[str, ...]
    root: str
    sha256: str

    @property
    def key(self) -> str:
        """The name of its folders."""
        return re.sub("[-.]", "_", self.name.casefold())

    @property
    def module(self) -> str:
        """What is imported of it."""
        return self.folders[0]

    @property
    def is_source(self) -> bool:
        """Whether it is a source distribution."""
        return self.root != "."


def packages(sweep: str) -> tuple[Package, ...]:
    """Return the packages of a sweep, by their names."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]:
        sweeps, name, version, licence, folders, root, sha256 = line.split("\t")
        if sweep in sweeps.split(","):
            row = (name, version, licence, tuple(folders.split(",")), root, sha256)
            found.append(Package(tuple(sweeps.split(",")), *row))
    return tuple(found)


def download(package: Package, folder: Path) -> Path:
    """Return the archive of a package in a folder, which pip has compared with its hash.

    Raises:
        Unreachable: pip did not get it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / f"{package.name}.txt"
    wanted.write_text(
        f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", "utf-8"
    )
    kind = "--no-binary" if package.is_source else "--only-binary"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += [kind, ":all:", "--ignore-requires-python", "--dest", str(folder)]
    command += ["--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unreachable(f"{package.name}: {done.stderr.strip()}")
    ending = ".tar.gz" if package.is_source else "-*.whl"
    pattern = f"{package.key}-{package.version}{ending}"
    return next(path for path in folder.iterdir() if fnmatch(path.name.casefold(), pattern))


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
