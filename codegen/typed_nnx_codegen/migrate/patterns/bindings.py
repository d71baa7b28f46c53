"""Where names and attributes get their values, and the scopes and the order of expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import dotted, parts_of
from typed_nnx_codegen.migrate.analysis.values import Scope

_BINDING: Final = frozenset(
    {cst.AnnAssign, cst.AsName, cst.Assign, cst.AugAssign, cst.For, cst.NamedExpr}
)


@dataclass(frozen=True)
class Binding:
    """A statement that gives a name or an attribute a value.

    Attributes:
        order: Its place in the order of the text.
        value: The value before it is unpacked; None for loops and the like.
        path: The indices that unpacking takes: ``(1,)`` for ``g`` in ``loss, g = ...``.
    """

    order: int
    value: cst.BaseExpression | None
    path: tuple[int, ...] = ()


class Bindings:
    """The bindings of a file.

    Args:
        analysis: What is known of the file.

    Attributes:
        scopes: The scope of each node of code.
        order: The place of each node in the order of the text.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.scopes: dict[cst.CSTNode, Scope] = {}
        self.order: dict[cst.CSTNode, int] = {}
        self._analysis = analysis
        self._found: dict[tuple[Scope, str], list[Binding]] = {}
        self._walk()

    def of(self, scope: Scope, name: str) -> list[Binding]:
        """Return the bindings of a dotted name that statements of a scope make."""
        return self._found.get((scope, name), [])

    def ending_in(self, attribute: str) -> Iterator[tuple[Scope, str, Binding]]:
        """Yield the bindings of an attribute of any object, with its dotted name."""
        for (scope, name), found in self._found.items():
            if name.endswith(f".{attribute}"):
                yield from ((scope, name, binding) for binding in found)

    def names(self, scope: Scope) -> list[str]:
        """Return the dotted names that statements of a scope bind."""
        return [name for where, name in self._found if where is scope]

    def named(self, value: cst.BaseExpression) -> Iterator[tuple[Scope, str, Binding]]:
        """Yield the names that are bound to exactly the value of an expression."""
        for (scope, name), found in self._found.items():
            for binding in found:
                if binding.value is value and not binding.path:
                    yield scope, name, binding

    def _walk(self) -> None:
        stack: list[tuple[cst.CSTNode, Scope]] = [(self._analysis.tree, self._analysis.scope)]
        while stack:
            node, scope = stack.pop()
            scope = self._analysis.scopes.get(node, scope)
            self.scopes[node] = scope
            self.order[node] = len(self.order)
            self._note(node, scope)
            stack += [(child, scope) for child in reversed(parts_of(node))]

    def _note(self, node: cst.CSTNode, scope: Scope) -> None:
        if type(node) not in _BINDING:
            return
        match node:
            case cst.Assign():
                for target in node.targets:
                    self._bind(target.target, node.value, (), scope, node)
            case cst.AnnAssign(value=cst.BaseExpression() as value):
                self._bind(node.target, value, (), scope, node)
            case cst.NamedExpr():
                self._bind(node.target, node.value, (), scope, node)
            case cst.AugAssign() | cst.For():
                self._bind(node.target, None, (), scope, node)
            case cst.AsName():
                self._bind(node.name, None, (), scope, node)

    def _bind(
        self,
        target: cst.BaseExpression,
        value: cst.BaseExpression | None,
        path: tuple[int, ...],
        scope: Scope,
        node: cst.CSTNode,
    ) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            for index, element in enumerate(target.elements):
                self._bind(element.value, value, (*path, index), scope, node)
            return
        name = dotted(target)
        if name:
            # An assignment binds after its value is there.
            binding = Binding(self.order[node], value, path)
            self._found.setdefault((scope, name), []).append(binding)
