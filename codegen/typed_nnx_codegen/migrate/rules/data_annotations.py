"""TN128: ``x: nnx.Data[T]`` is ``x: T = nnx.data()``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, text_of
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.patterns.container_wrapper import DATACLASSES, is_field, marked_field
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = {"nnx.Data": "nnx.data", "nnx.Static": "nnx.static"}
_QUOTED: Final = re.compile(r"\s*(?P<mark>[\w.]+)(?:\[(?P<type>.+)\])?\s*", re.DOTALL)


@dataclass(frozen=True)
class _Marked:
    """An annotation with a mark.

    Attributes:
        mark: The mark: ``nnx.Data`` or ``nnx.Static``.
        annotation: What is left of the annotation without it.
    """

    mark: str
    annotation: cst.BaseExpression


@register
class MarkWithFunctions(Rule):
    """An attribute is marked by its value, and its annotation is only a type.

    In a dataclass ``x: nnx.Data[T] = v`` becomes ``x: T = nnx.data(default=v)``, since the first
    argument of `nnx.data` is not a default in flax. Annotations in methods, where a mark had no
    effect, and of parameters lose it.

    A marker is left where a class that is not a dataclass gives data a default, and where the marks
    are outside of annotations or inside larger ones.
    """

    code = "TN128"
    title = "`x: nnx.Data[T]` is `x: T = nnx.data()`"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import dataclasses
- from flax import nnx
+ import typed_nnx as nnx

  @dataclasses.dataclass
  class Stack(nnx.Module):
-     layers: nnx.Data[list[nnx.Linear]]
-     name: nnx.Static[str] = "stack"
+     layers: list[nnx.Linear] = nnx.data()
+     name: str = nnx.static(default="stack")
"""

    def plan(self) -> None:
        """Note which marks are the outermost of an annotation; the others have a marker."""
        self._uses = {
            node
            for node, value in self.file.analysis.values.items()
            if isinstance(value, External)
            and value.public in _FUNCTIONS
            and isinstance(node, (cst.Name, cst.Attribute))
        }
        if self._uses:
            for node in self.file.analysis.nodes.of(cst.Annotation):
                self._uses.discard(_head(node.annotation))

    # -- annotations --------------------------------------------------------------------------

    def leave_AnnAssign(self, original: cst.AnnAssign, updated: cst.AnnAssign) -> cst.AnnAssign:
        """Rewrite the declaration of an attribute, or the annotation of a local name."""
        marked = self._marked(original.annotation, updated.annotation)
        if marked is None:
            return updated
        plain = updated.with_changes(
            annotation=updated.annotation.with_changes(annotation=marked.annotation)
        )
        if self.file.scope.kind != "class" or self._is_marked(original.value):
            return plain
        return self._in_class(original, updated, plain, marked)

    def leave_Param(self, original: cst.Param, updated: cst.Param) -> cst.Param:
        """Take the mark from the annotation of a parameter."""
        if original.annotation is None or updated.annotation is None:
            return updated
        marked = self._marked(original.annotation, updated.annotation)
        if marked is None:
            return updated
        annotation = updated.annotation.with_changes(annotation=marked.annotation)
        return updated.with_changes(annotation=annotation)

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Take the mark from the annotation of a result."""
        if original.returns is None or updated.returns is None:
            return updated
        marked = self._marked(original.returns, updated.returns)
        if marked is None:
            return updated
        returns = updated.returns.with_changes(annotation=marked.annotation)
        return updated.with_changes(returns=returns)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Mark ``nnx.Data`` outside of annotations."""
        self._elsewhere(original)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:
        """Mark ``Data`` outside of annotations."""
        self._elsewhere(original)
        return updated

    def _elsewhere(self, node: cst.Name | cst.Attribute) -> None:
        if node in self._uses:
            name = self.file.name(node)
            self.file.decide(
                node,
                f"`{name}` is gone: an attribute is declared as `x: T = {_FUNCTIONS[name]}()`, and"
                " everything else has the type alone",
            )

    # -- declarations -------------------------------------------------------------------------

    def _in_class(
        self, original: cst.AnnAssign, updated: cst.AnnAssign, plain: cst.AnnAssign, marked: _Marked
    ) -> cst.AnnAssign:
        function = _FUNCTIONS[marked.mark]
        is_dataclass = self._is_dataclass()
        if is_dataclass or original.value is None or is_field(self.file, original.value):
            return marked_field(self.file, original, plain, function)
        if is_dataclass is False and marked.mark == "nnx.Static":
            return plain
        name = dotted(original.target)
        self.file.decide(
            original,
            f"take `{marked.mark}` away and mark the value where a method assigns it,"
            f" `self.{name} = {function}(...)`; `{function}(default=...)` is for dataclasses only",
        )
        return updated

    def _is_dataclass(self) -> bool | None:
        """Whether the class around is a dataclass; None if not sure."""
        owner = self.file.scope.owner
        if owner is None:
            return None
        if DATACLASSES.intersection(owner.decorators):
            return True
        return None if owner.decorators else False

    def _is_marked(self, value: cst.BaseExpression | None) -> bool:
        """Whether a value is marked already."""
        return isinstance(value, cst.Call) and self.file.name(value.func) in _FUNCTIONS.values()

    # -- the mark in an annotation ------------------------------------------------------------

    def _marked(self, original: cst.Annotation, updated: cst.Annotation) -> _Marked | None:
        """Return the mark of an annotation, and the annotation without it; None without one."""
        node = original.annotation
        if text_of(node) is not None:
            return self._quoted(updated.annotation)
        mark = self.file.name(_head(node))
        if mark not in _FUNCTIONS:
            return None
        inner = updated.annotation
        if not isinstance(inner, cst.Subscript):
            return _Marked(mark, self.file.refer("typing.Any"))
        index = inner.slice[0].slice
        if len(inner.slice) != 1 or not isinstance(index, cst.Index):
            return None
        return _Marked(mark, index.value)

    def _quoted(self, node: cst.BaseExpression) -> _Marked | None:
        match = _QUOTED.fullmatch(text_of(node) or "")
        if match is None or not isinstance(node, cst.SimpleString):
            return None
        name, dot, last = match["mark"].rpartition(".")
        binding = self.file.scope.lookup(name if dot else last)
        if not isinstance(binding, External) or "." in name:
            return None
        mark = f"{binding.public}.{last}" if dot else binding.public
        if mark not in _FUNCTIONS:
            return None
        if match["type"] is None:
            return _Marked(mark, self.file.refer("typing.Any"))
        text = f"{node.prefix}{node.quote}{match['type'].strip()}{node.quote}"
        return _Marked(mark, node.with_changes(value=text))


def _head(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return what an annotation names, without its arguments."""
    return node.value if isinstance(node, cst.Subscript) else node
