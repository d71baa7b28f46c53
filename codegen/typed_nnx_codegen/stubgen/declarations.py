"""What a family of stubs declares about one module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ModuleStub:
    """The stub of one module.

    All names of the module's source are in it, without their bodies, but for those that are
    declared here.

    Attributes:
        module: The full name of the module.
        definitions: What replaces a function (all its overloads), a class or an assignment at the
            top level, by name. Lines are indented with four spaces and end with ``...``.
        preamble: Type variables, protocols and classes that come after the imports.
        imports: More import lines.
    """

    module: str
    definitions: Mapping[str, str]
    preamble: str = ""
    imports: tuple[str, ...] = ()
