"""Names that a constructor needs from the files of the classes that its class inherits from."""

from __future__ import annotations

import builtins
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.builders.borrowed_names import (
    NotBorrowed,
    import_of,
    means_another,
    names_read,
)
from typed_nnx_codegen.migrate.linen.plan import ClassPlan

_BUILTINS: Final = frozenset(dir(builtins))


def import_inherited(constructor: cst.FunctionDef, plan: ClassPlan, file: File) -> None:
    """Let a file import the names of other files that stand in a constructor.

    Fields and the code of `setup` come from there, with types, defaults and functions.

    Args:
        constructor: The constructor.
        plan: What becomes of the class.
        file: The file that it is in.
    """
    target = plan.cls.analysis
    sources = [*plan.cls.ancestry(), *plan.setups]
    homes = [one.analysis for one in sources if one.analysis is not target]
    known = {*_BUILTINS, *target.scope.seen, *target.scope.imports, *file.names.added}
    for name in sorted(names_read(constructor) - known) if homes else ():
        for home in homes:
            if name not in home.scope.seen and name not in home.scope.imports:
                continue
            try:
                file.names.added.setdefault(name, import_of(name, home, target))
            except NotBorrowed:
                continue
            break


def clashing_names(node: cst.CSTNode, home: Analysis, file: File) -> dict[cst.CSTNode, str]:
    """Return other names for those in inherited code that mean something else in a file.

    The file imports what they mean under these names.

    Args:
        node: The code.
        home: The file that it comes from.
        file: The file that it is written to.
    """
    target = file.analysis
    if home is target:
        return {}
    read = names_read(node)
    found: dict[cst.CSTNode, str] = {}
    for below in (node, *descendants(node)):
        if not isinstance(below, cst.Name) or below.value not in read:
            continue
        name = below.value
        is_defined = name not in home.scope.imports
        if is_defined and means_another(name, home, target):
            local = f"{home.module.rpartition('.')[2]}_{name}"
            file.names.added.setdefault(local, f"{import_of(name, home, target)} as {local}")
            found[below] = local
    return found
