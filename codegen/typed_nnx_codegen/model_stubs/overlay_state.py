"""Whether an overlay says what the models are: for ``stubs --check`` and all who ask the same."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from typed_nnx_codegen.model_stubs.generation import Request
from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.overlay_file import differing_classes, read_overlay

_MOST_NAMES: Final = 12
_WRITTEN_BY: Final = re.compile(r"# Written by `typed-nnx stubs (.+?)`\.")


@dataclass(frozen=True)
class OverlayState:
    """How an overlay compares with the models.

    Attributes:
        kind: Whether it is current, stale or missing, or there are no models.
        names: The classes that differ where it is stale.
        text: What it should be; empty without models.
    """

    kind: Literal["current", "stale", "missing", "no models"]
    names: tuple[str, ...] = ()
    text: str = ""

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
    old, new = read_overlay(request.path), request.text(models)
    if old is None:
        return OverlayState("missing", text=new)
    if old == new:
        return OverlayState("current", text=new)
    return OverlayState("stale", tuple(differing_classes(old, new)), new)


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
