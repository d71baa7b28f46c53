"""Which State classes an overlay has, and in which order."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from typed_nnx_codegen.model_stubs.contents import Contents
from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind, Models
from typed_nnx_codegen.model_stubs.names import Imports
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part, is_bare, is_of_library
from typed_nnx_codegen.model_stubs.rows import Rows
from typed_nnx_codegen.model_stubs.spelling import Speller


class Plan:
    """The models of an overlay and the parts that each has.

    Args:
        in_a_row: Up to how many filters in a row, before `...`, what they leave has classes.

    Attributes:
        models: The model classes, those of the user first, in the order of modules and sources.
        parts: The parts of each model, everything first.
        containers: The runtime's List and Dict, where models have them.
    """

    def __init__(self, models: Models, contents: Contents, in_a_row: int) -> None:
        found = [
            info
            for info in models.classes.values()
            if info.kind is Kind.PYTREE and not is_bare(info)
        ]
        self.models = sorted(found, key=_place)
        self.parts = {info.name: _filters(info, contents, in_a_row) for info in self.models}
        self.containers = [
            info
            for _, info in sorted(models.classes.items())
            if info.kind in (Kind.LIST, Kind.DICT) and is_of_library(info.name) and info.parameters
        ]
        self._add_used(models.classes, contents)

    def _add_used(self, classes: Mapping[str, ClassInfo], contents: Contents) -> None:
        """Add the parts that fields of other State classes have as their types.

        A model of which nothing but an attribute of unknown type is left after a filter is one.
        """
        names = Imports(classes, frozenset())
        pending = [(name, part) for name, parts in self.parts.items() for part in parts]

        def use(name: str, part: Part) -> str:
            if part not in self.parts[name]:
                self.parts[name].append(part)
                pending.append((name, part))
            return ""

        speller = Speller(classes, contents, names, use, protocols=False, rows=Rows(""))
        while pending:
            name, part = pending.pop()
            speller.fields(classes[name], part)

    def subclasses_first(self) -> list[ClassInfo]:
        """Return the models, each before its base classes."""
        depth = {info.name: len(info.bases) for info in self.models}
        return sorted(self.models, key=lambda info: (-depth[info.name], *_place(info)))


def _filters(info: ClassInfo, contents: Contents, in_a_row: int) -> list[Part]:
    kinds = contents.variables.specific_first(contents.kinds(info.name))
    taken = [Part(taken=kind) for kind in kinds]
    left = [
        contents.left_by(info.name, group)
        for count in range(1, in_a_row + 1)
        for group in itertools.combinations(kinds, count)
    ]
    return list(dict.fromkeys([EVERYTHING, *taken, *left]))


def _place(info: ClassInfo) -> tuple[bool, str, int, str]:
    module = info.name.partition(":")[0]
    return not info.path, module, info.order, info.name
