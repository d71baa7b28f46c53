"""Types in quotes: where a string of a program is one, and how it is parsed and put back."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import parameters_of
from typed_nnx_codegen.migrate.analysis.values import External, ProjectModule, options_of
from typed_nnx_codegen.migrate.file import File

_LITERALS: Final = frozenset({"typing.Literal", "typing_extensions.Literal"})
_ANNOTATED: Final = frozenset({"typing.Annotated", "typing_extensions.Annotated"})
_CASTS: Final = frozenset({"typing.cast", "typing_extensions.cast"})
_VARIABLES: Final = frozenset({"typing.TypeVar", "typing_extensions.TypeVar"})
_MODULES: Final = ("typing.", "typing_extensions.", "collections.abc.")
_GENERICS: Final = frozenset(
    f"builtins.{name}" for name in ("dict", "frozenset", "list", "set", "tuple", "type")
)
_PACKAGES: Final = ("flax", "typed_nnx")
# Names that are no attributes.
_ROOT: Final = re.compile(r"(?<![\w.])[^\W\d]\w*")
AROUND_TYPES: Final[frozenset[type[cst.CSTNode]]] = frozenset(
    {cst.Annotation, cst.Call, cst.FunctionDef, cst.Subscript}
)
"""The types of nodes that say whether a string below them is a type."""


class QuotedTypes:
    """Knows, while a tree is gone through, which strings are types.

    Strings in annotations are, in generics (``list["nnx.Param"]``), the first argument of ``cast``
    and the bound of a ``TypeVar``. Strings of a ``Literal`` are not.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._around: list[tuple[cst.CSTNode, bool]] = []
        self._arguments: set[cst.CSTNode] = set()
        # Annotations of parameters and results, which see the names around the function.
        self._outside: set[cst.CSTNode] = set()
        # Texts that no rule has anything to do with, with what their names stand for.
        self._unchanged: set[tuple[str, ...]] = set()
        self._last: tuple[str, ...] = ()

    def enter(self, node: cst.CSTNode) -> None:
        """Note that the pass goes into a node of one of the types in `AROUND_TYPES`."""
        if isinstance(node, cst.Annotation):
            self._around.append((node, True))
        elif isinstance(node, cst.Subscript):
            self._enter_generic(node)
        elif isinstance(node, cst.FunctionDef):
            annotations = (each.annotation for each in parameters_of(node.params))
            self._outside.update(each for each in (*annotations, node.returns) if each is not None)
        elif isinstance(node, cst.Call):
            self._around.append((node, False))
            self._enter_call(node)

    def leave(self, node: cst.CSTNode) -> None:
        """Note that the pass comes out of such a node."""
        if self._around and self._around[-1][0] is node:
            self._around.pop()

    def is_type(self, node: cst.CSTNode) -> bool:
        """Whether a string is a type in quotes."""
        return node in self._arguments or bool(self._around and self._around[-1][1])

    def _enter_call(self, node: cst.Call) -> None:
        name = self._file.name(node.func)
        if name in _CASTS and node.args:
            self._arguments.add(node.args[0].value)
        elif name in _VARIABLES:
            bounds = (
                arg.value for arg in node.args if arg.keyword and arg.keyword.value == "bound"
            )
            self._arguments.update(bounds)

    def _enter_generic(self, node: cst.Subscript) -> None:
        name = self._file.name(node.value)
        if name in _LITERALS or name in _ANNOTATED:
            self._around.append((node, False))
            first = node.slice[0].slice
            if name in _ANNOTATED and isinstance(first, cst.Index):
                self._arguments.add(first.value)
        elif name in _GENERICS or name.startswith(_MODULES):
            self._around.append((node, True))

    # -- rewriting ----------------------------------------------------------------------------

    def rewritten(
        self, node: cst.SimpleString, rewrite: Callable[[cst.BaseExpression], object]
    ) -> cst.SimpleString | None:
        """Return a type in quotes with what rules make of it; None where they change nothing.

        Args:
            node: The string.
            rewrite: What rewrites an expression.
        """
        inner = self._file.scope
        if inner.parent is not None and any(each in self._outside for each, _ in self._around):
            self._file.scope = inner.parent
        try:
            return self._rewritten(node, rewrite)
        finally:
            self._file.scope = inner

    def _rewritten(
        self, node: cst.SimpleString, rewrite: Callable[[cst.BaseExpression], object]
    ) -> cst.SimpleString | None:
        text = node.evaluated_value
        if not isinstance(text, str) or text != node.raw_value or "\n" in text:
            return None
        known = (text, *self._packages_in(text))
        if len(known) == 1 or known in self._unchanged:
            return None
        self._last = known
        try:
            expression = cst.parse_expression(text)
        except (cst.ParserSyntaxError, RecursionError):
            return None
        self._file.analysis.expressions.evaluate(expression, self._file.scope)
        made = rewrite(expression)
        if made is expression or not isinstance(made, cst.BaseExpression):
            return None
        new = cst.Module([]).code_for_node(made)
        if node.quote[0] in new or "\\" in new:
            return None
        return node.with_changes(value=f"{node.prefix}{node.quote}{new}{node.quote}")

    def stays(self) -> None:
        """Remember that no rule had anything to do with the last type that was rewritten."""
        self._unchanged.add(self._last)

    def _packages_in(self, text: str) -> tuple[str, ...]:
        """Return what the names of a type stand for that are of NNX, or of a module of the project."""
        found: list[str] = []
        for name in _roots(text):
            value = self._file.scope.lookup(name)
            for option in options_of(value) if value is not None else ():
                if isinstance(option, ProjectModule) or (
                    isinstance(option, External) and option.name.startswith(_PACKAGES)
                ):
                    found.append(f"{name}={option.name}")
        return tuple(found)


@cache
def _roots(text: str) -> tuple[str, ...]:
    """Return the names in a text that are no attributes."""
    return tuple(dict.fromkeys(_ROOT.findall(text)))
