"""Fields that stand in for properties or abstract methods of a base: the class has to have them, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, Value
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass

# What no attribute of an object stands in for.
_DECORATORS: Final = frozenset(
    {"builtins.property", "functools.cached_property", "abc.abstractmethod", "abc.abstractproperty"}
)


def kept_field(
    statement: cst.BaseStatement, after: cst.CSTNode, cls: LinenClass
) -> cst.SimpleStatementLine | None:
    """Return what the class keeps of a field for a member of a base; None where that is nothing.

    Args:
        statement: A statement of the class.
        after: It with what is written differently.
        cls: The class.
    """
    match statement, after:
        case (
            cst.SimpleStatementLine(
                body=[cst.AnnAssign(target=cst.Name(value=name), value=cst.BaseExpression())]
            ),
            cst.SimpleStatementLine(body=[cst.AnnAssign(value=default) as line]),
        ) if name in set(_members(cls)):
            if isinstance(default, cst.Call):  # it is for the constructor to make
                default = cst.Name("None")
            return after.with_changes(body=[line.with_changes(value=default)])
    return None


def _members(cls: LinenClass) -> Iterator[str]:
    """Yield the properties and abstract methods of what a class inherits from."""
    for base in cls.ancestry()[1:]:
        for name, method in base.own_methods.items():
            if _DECORATORS & set(method.decorators):
                yield name
    for one in cls.ancestry():
        values = (one.analysis.values.get(arg.value, UNKNOWN) for arg in one.node.bases)
        yield from _of_plain(values)


def _of_plain(bases: Iterable[Value]) -> Iterator[str]:
    for base in bases:
        if isinstance(base, ProjectClass):
            for name, function in base.methods.items():
                if _DECORATORS & set(function.decorators):
                    yield name
            yield from _of_plain(base.bases)
