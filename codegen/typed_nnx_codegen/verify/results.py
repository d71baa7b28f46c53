"""What was found about one example."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from typed_nnx_codegen.migrate.weights.loading import Loaded
from typed_nnx_codegen.verify.differences import Item, Kind


@dataclass
class Result:
    """What was found about one example.

    Attributes:
        name: The name of the example.
        class_name: The class in the old file.
        items: The values that were compared.
        loaded: What was filled, if it came to that.
        error: Why the example could not be run to its end; empty if it could.
        notes: What else there is to say.
        without: The kinds of values that there are none of, each with the reason.
    """

    name: str
    class_name: str
    items: list[Item] = field(default_factory=list)
    loaded: Loaded | None = None
    error: str = ""
    notes: list[str] = field(default_factory=list)
    without: dict[Kind, str] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        """Whether both sides agree in all that was compared."""
        return not self.error and not self.differing and not self.extra

    @property
    def differing(self) -> list[Item]:
        """The values in which the sides differ."""
        return [item for item in self.items if item.state == "differs"]

    @property
    def extra(self) -> tuple[str, ...]:
        """The Linen variables that go nowhere."""
        return self.loaded.extra if self.loaded else ()

    def of(self, kind: Kind) -> list[Item]:
        """Return the values of one kind."""
        return [item for item in self.items if item.kind == kind]

    def as_json(self) -> dict[str, Any]:
        """Return all of it for a program."""
        loaded = self.loaded
        return {
            "example": self.name,
            "class": self.class_name,
            "equal": self.is_equal,
            "error": self.error,
            "notes": self.notes,
            "items": [
                {
                    "kind": item.kind,
                    "path": item.path,
                    "state": item.state,
                    "max_abs": _finite(item.max_abs),
                    "max_rel": _finite(item.max_rel),
                    "note": item.note,
                }
                for item in self.items
            ],
            "weights": {
                "filled": list(loaded.filled),
                "missing": list(loaded.missing),
                "extra": list(loaded.extra),
                "cast": list(loaded.cast),
                "dropped": list(loaded.dropped),
            }
            if loaded
            else None,
        }


def _finite(number: float) -> float | str:
    # JSON has no infinity.
    return number if number < float("inf") else "inf"
