"""What a family declares: a module of overloads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Overloads:
    """A module with overloads that exists for type checkers only.

    Functions of the source get their types from it by `typed_nnx._core.settings.typed_as`.

    Attributes:
        module: The full name of the module.
        imports: Import lines; of the names in them those that the parts use are imported.
        parts: What follows the imports.
    """

    module: str
    imports: Sequence[str]
    parts: Sequence[str]

    @property
    def path(self) -> str:
        """The path of the file in the stub package."""
        return f"{self.module.partition('.')[2].replace('.', '/')}.pyi"

    def text(self) -> str:
        """Return the text of the file, without its header."""
        code = "\n\n".join(part.strip("\n") for part in self.parts)
        return f"{self._imports(code)}\n{code}\n"

    def _imports(self, code: str) -> str:
        used = set(re.findall(r"\w+", code))
        names: dict[str, set[str]] = {}
        for line in self.imports:
            module, _, imported = line.removeprefix("from ").partition(" import ")
            names.setdefault(module, set()).update(used.intersection(imported.split(", ")))
        lines = [
            f"from {module} import {', '.join(sorted(found))}"
            for module, found in sorted(names.items())
            if found
        ]
        return "".join(f"{line}\n" for line in lines)
