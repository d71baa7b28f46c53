"""What is marked as data or static: ``nnx.data(...)``, ``x: nnx.Static[int]``."""

from __future__ import annotations

from mypy.nodes import CallExpr, Expression, MypyFile, RefExpr, SymbolTable
from mypy.types import Type as MypyType
from mypy.types import UnboundType

_FUNCTIONS = ("data", "static")
_ANNOTATIONS = {"Data": "data", "Static": "static"}


def marked_value(value: Expression, package: str) -> tuple[str, Expression | None]:
    """Return the mark of an expression and what is marked, for a package of models."""
    if not isinstance(value, CallExpr) or not isinstance(value.callee, RefExpr):
        return "", None
    module, _, name = value.callee.fullname.rpartition(".")
    if name not in _FUNCTIONS or module.partition(".")[0] != package:
        return "", None
    positional = [a for a, given in zip(value.args, value.arg_names, strict=True) if not given]
    return name, positional[0] if positional else None


class Marks:
    """Finds marks in the statements of one module.

    Args:
        tree: The module.
        runtime: The package that the models are made with.
    """

    def __init__(self, tree: MypyFile, runtime: str) -> None:
        self._names: SymbolTable = tree.names
        self._package = runtime.partition(".")[0]

    def of_value(self, value: Expression) -> str:
        """Return the mark of an assigned expression."""
        return marked_value(value, self._package)[0]

    def of_annotation(self, annotation: MypyType) -> str:
        """Return the mark of an annotation, as it is written."""
        if not isinstance(annotation, UnboundType):
            return ""
        first, *rest = annotation.name.split(".")
        mark = _ANNOTATIONS.get((rest or [first])[-1], "")
        node = self._names[first].node if first in self._names else None
        for name in rest:
            if not isinstance(node, MypyFile) or name not in node.names:
                node = None
                break
            node = node.names[name].node
        if mark and node is not None and node.fullname.partition(".")[0] != self._package:
            return ""
        return mark if mark else self._of_alias(first, node)

    def _of_alias(self, name: str, node: object) -> str:
        """Return the mark of an annotation that was imported under another name."""
        fullname = getattr(node, "fullname", "")
        module, _, last = fullname.rpartition(".")
        if name == last or module.partition(".")[0] != self._package:
            return ""
        return _ANNOTATIONS.get(last, "")
