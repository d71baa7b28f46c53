"""One run of ``typed-nnx stubs``: from the source of the models to the text, and whether that is new."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, Literal

from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.overlay import RUNTIMES, overlay_text, tree_text
from typed_nnx_codegen.model_stubs.overlay_file import NAME, TREE, differing_classes, read_overlay
from typed_nnx_codegen.model_stubs.reading import read

DEFAULT_OUT = "typings"
_MOST_NAMES: Final = 12
_WRITTEN_BY: Final = re.compile(r"# Written by `typed-nnx stubs (.+?)`\.")


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
        return read(self.sources, runtime=self.runtime, cache=self.cache, python=self.python)

    def files(self, models: Models) -> dict[Path, str]:
        """Return the overlay of the models, and the stub of `jax.tree` beside it."""
        text = overlay_text(models, runtime=self.runtime, command=self.command)
        return {self.path: text, self.out / TREE: tree_text(self.runtime, self.command)}


def _portable(name: str) -> str:
    """Return a path as seen from the current folder, or its last part where it is elsewhere."""
    path = PurePath(name)
    if not path.is_absolute():
        return path.as_posix()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name


# -- the overlay that there is ----------------------------------------------------------------


@dataclass(frozen=True)
class OverlayState:
    """How an overlay compares with the models.

    Attributes:
        kind: Whether it is current, stale or missing, or there are no models.
        names: The classes that differ where it is stale.
        files: What it should be; empty without models.
    """

    kind: Literal["current", "stale", "missing", "no models"]
    names: tuple[str, ...] = ()
    files: Mapping[Path, str] = field(default_factory=dict[Path, str])

    @property
    def problem(self) -> str:
        """What is wrong, to stand behind the path of the overlay; empty where nothing is."""
        match self.kind:
            case "missing":
                return "is missing"
            case "stale":
                more = len(self.names) - _MOST_NAMES
                rest = f" and {more} more" if more > 0 else ""
                return f"is out of date in {', '.join(self.names[:_MOST_NAMES])}{rest}"
            case _:
                return ""


def overlay_state(request: Request, models: Models) -> OverlayState:
    """Compare the overlay of a request with the models that were read."""
    if not models.roots:
        return OverlayState("no models")
    files = request.files(models)
    old = {path: read_overlay(path) for path in files}
    if old[request.path] is None:
        return OverlayState("missing", files=files)
    differing = {
        name for path, new in files.items() for name in differing_classes(old[path] or "", new)
    }
    return OverlayState("stale" if differing else "current", tuple(sorted(differing)), files)


def arguments_in(overlay: Path) -> list[str] | None:
    """Return the arguments of the `typed-nnx stubs` that wrote an overlay, None where none did.

    Raises:
        OSError: The file cannot be read.
    """
    with overlay.open(encoding="utf-8", errors="replace") as file:
        found = _WRITTEN_BY.match(file.readline())
    try:
        return shlex.split(found[1]) if found else None
    except ValueError:  # somebody edited the line
        return None
