"""Parts of a State: everything, what a filter takes, what it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind, Named

_LIBRARIES = ("typed_nnx", "flax")

# Filters by them are rare: they get no State classes of their own, but those of `RngState`.
_WITHOUT_STATES = ("RngKey", "RngCount")

# What a model can hold beside Variables and arrays.
UNKNOWN = Named("<unknown>")
PARAMETER = Named("<parameter>")  # whatever the type argument holds


@dataclass(frozen=True, order=True)
class Part:
    """The leaves that one State class has.

    Attributes:
        taken: The Variable class that a filter takes; empty for no filter.
        left: The Variable classes that filters have taken away, sorted; empty for none.
    """

    taken: str = ""
    left: tuple[str, ...] = ()

    @property
    def filters(self) -> tuple[str, ...]:
        """The Variable classes of the filters; empty where the part is everything."""
        return (self.taken,) if self.taken else self.left


EVERYTHING = Part()


class VariableTypes:
    """Which Variable class derives from which."""

    def __init__(self, classes: Mapping[str, ClassInfo]) -> None:
        self._lines: dict[str, tuple[str, ...]] = {}
        for name, info in classes.items():
            if info.kind is Kind.VARIABLE and not is_root(name):
                bases = [base for base in info.bases if self._is_variable(base, classes)]
                self._lines[name] = (name, *bases)

    @staticmethod
    def _is_variable(name: str, classes: Mapping[str, ClassInfo]) -> bool:
        info = classes.get(name)
        return info is not None and info.kind is Kind.VARIABLE and not is_root(name)

    def line(self, name: str) -> tuple[str, ...]:
        """Return the class and its Variable bases, nearest first, without `Variable` itself."""
        return self._lines.get(name, ())

    def is_any(self, name: str, classes: Iterable[str]) -> bool:
        """Tell whether the class is one of some or derives from one."""
        return not set(self.line(name)).isdisjoint(classes)

    def subclasses(self, name: str) -> list[str]:
        """Return the classes that derive from a class, without itself, sorted."""
        return sorted(other for other, line in self._lines.items() if name in line[1:])

    def has_states(self, name: str) -> bool:
        """Tell whether there are State classes for what a filter by the class takes and leaves."""
        return not (is_of_library(name) and name.partition(":")[2] in _WITHOUT_STATES)

    def specific_first(self, names: frozenset[str]) -> list[str]:
        """Return the classes, each before the classes that it derives from."""
        return sorted(names, key=lambda name: (-len(self.line(name)), name))

    def includes(self, part: Part, leaf: Named) -> bool:
        """Tell whether a leaf of the type (or one of the marks) can be in the part."""
        if leaf in (UNKNOWN, PARAMETER) or part == EVERYTHING:
            return True
        if part.left:
            return not self.is_any(leaf.name, part.left)
        # An attribute that is declared as a `Variable` may hold what the filter takes.
        return part.taken in self.line(leaf.name) or is_root(leaf.name)


def is_of_library(name: str) -> bool:
    """Tell whether a class is one of the runtime's own."""
    return name.partition(":")[0].partition(".")[0] in _LIBRARIES


def is_root(name: str) -> bool:
    """Tell whether the class is the `Variable` that all others derive from."""
    return name.partition(":")[2] == "Variable" and is_of_library(name)


def is_bare(info: ClassInfo) -> bool:
    """Tell whether nothing is known of the State of a model: `Module` and the like.

    Every model is one of them, so a State class for them would deny the fields of all models that
    have no State class of their own.
    """
    return info.kind is Kind.PYTREE and not info.path and not info.attributes
