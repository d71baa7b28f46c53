"""One run of ``typed-nnx stubs``: from the source of the models to the overlay's text."""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import dataclass
from pathlib import Path, PurePath

from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.overlay import RUNTIMES, overlay_text
from typed_nnx_codegen.model_stubs.overlay_file import NAME
from typed_nnx_codegen.model_stubs.reading import read

DEFAULT_OUT = "typings"


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes:
        sources: Names of packages, folders and files.
        out: The folder of the overlay.
        runtime: The package that the models use.
        cache: The folder that makes the next run quick; None for none.
        python: The interpreter whose packages the source uses; None for the running one.
    """

    sources: tuple[str, ...]
    out: Path = Path(DEFAULT_OUT)
    runtime: str = RUNTIMES[0]
    cache: Path | None = None
    python: str | None = None

    @property
    def path(self) -> Path:
        """The file of the overlay."""
        return self.out / NAME

    @property
    def command(self) -> str:
        """The command line, the same on every machine."""
        words = ["typed-nnx", "stubs", *map(_portable, self.sources)]
        if self.out != Path(DEFAULT_OUT):
            words += ["--out", _portable(str(self.out))]
        if self.runtime != RUNTIMES[0]:
            words += ["--runtime", self.runtime]
        return shlex.join(words)

    def read(self) -> Models:
        """Read the source of the models."""
        is_new = self.cache is not None and not self.cache.exists()
        models = read(self.sources, runtime=self.runtime, cache=self.cache, python=self.python)
        if self.cache is not None and is_new:
            _hide_from_git(self.cache)
        return models

    def text(self, models: Models) -> str:
        """Return the overlay of the models."""
        return overlay_text(models, runtime=self.runtime, command=self.command)


def _hide_from_git(folder: Path) -> None:
    # What cannot be written is left out, as the cache itself.
    with contextlib.suppress(OSError):
        (folder / ".gitignore").write_text("# Written by `typed-nnx stubs`.\n*\n", encoding="utf-8")


def _portable(name: str) -> str:
    """Return a path as seen from the current folder, or its last part where it is elsewhere."""
    path = PurePath(name)
    if not path.is_absolute():
        return path.as_posix()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name
