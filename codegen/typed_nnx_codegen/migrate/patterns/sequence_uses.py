"""What a file does with the `nnx.Sequence` objects that it makes: what TN109 asks first."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children
from typed_nnx_codegen.migrate.analysis.values import NONE, Instance, ProjectClass, options_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.container_values import project_classes

OLD: Final = frozenset({"nnx.Sequence", "nnx.ModuleList"})
SEQUENTIAL: Final = "nnx.Sequential"
LIST: Final = "nnx.List"

_METHODS: Final = frozenset(
    {"append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse"}
)
_ITERATING: Final = frozenset(
    {
        *("all", "any", "enumerate", "filter", "iter", "len", "list", "map", "max", "min", "next"),
        *("reversed", "set", "sorted", "sum", "tuple", "zip"),
    }
)

Origin = cst.Call | None


class SequenceUses:
    """Goes through a file and notes where its `nnx.Sequence` objects are called and indexed.

    Args:
        file: The file.

    Attributes:
        is_active: Whether the file has any.
        listed: The expressions that are used as a list, with the call that made the object; None
            where that may be one of several.
        mixed: Those of them that may be something else too.
        roles: What the name of the class is used for: ``call``, ``type``, ``base`` or ``other``.
    """

    def __init__(self, file: File) -> None:
        self.listed: dict[cst.CSTNode, Origin] = {}
        self.mixed: set[cst.CSTNode] = set()
        self.roles: dict[cst.CSTNode, str] = {}
        self._called: set[Origin] = set()
        self._made: list[cst.Call] = []
        self._file = file
        values = file.analysis.values
        self._names = {node for node in values if file.name(node) in OLD}
        self.is_active = bool(self._names) or any(
            isinstance(option, Instance) and option.cls in OLD
            for value in values.values()
            for option in options_of(value)
        )
        if self.is_active:
            self._walk(file.analysis.tree, None, "other")

    # -- what becomes of them -----------------------------------------------------------------

    def class_of(self, origin: Origin) -> str:
        """Return what an object is now; empty where nothing tells.

        Args:
            origin: The call that made it; None for one that may be of any.
        """
        if origin is None:
            kinds = self.classes()
            return kinds.pop() if len(kinds) == 1 else ""
        if self._called & {origin, None}:
            return SEQUENTIAL
        is_list = self._file.name(origin.func) == "nnx.ModuleList"
        return LIST if is_list or {origin, None} & set(self.listed.values()) else ""

    def classes(self) -> set[str]:
        """Return what the objects of the file are now."""
        found = {self.class_of(made) for made in self._made} - {""}
        if not self._made:
            found = {SEQUENTIAL} if self._called else ({LIST} if self.listed else set())
        return found

    # -- the walk -----------------------------------------------------------------------------

    def _walk(self, node: cst.CSTNode, parent: cst.CSTNode | None, role: str) -> None:
        if isinstance(node, cst.Annotation):
            role = "type"
        if parent is not None:
            if node in self._names and isinstance(node, (cst.Name, cst.Attribute)):
                self.roles[node] = self._role(node, parent, role)
            elif isinstance(node, cst.BaseExpression):
                self._use(node, parent)
        if isinstance(node, cst.Call):
            if self._file.name(node.func) in OLD:
                self._made.append(node)
            if self._file.name(node.func) in {"builtins.isinstance", "builtins.issubclass"}:
                self._walk_question(node)
                return
        for child in children(node):
            inner = "base" if isinstance(node, cst.ClassDef) and child in node.bases else role
            self._walk(child, node, inner if not isinstance(child, cst.BaseSuite) else "other")

    def _walk_question(self, node: cst.Call) -> None:
        self._walk(node.func, node, "other")
        for index, arg in enumerate(node.args):
            self._walk(arg, node, "type" if index == 1 else "other")

    def _role(self, node: cst.CSTNode, parent: cst.CSTNode, role: str) -> str:
        return "call" if isinstance(parent, cst.Call) and parent.func is node else role

    def _use(self, node: cst.BaseExpression, parent: cst.CSTNode) -> None:
        options = [each for each in options_of(self._file.value(node)) if each != NONE]
        ours = [each for each in options if isinstance(each, Instance) and each.cls in OLD]
        if not ours:
            return
        origins: set[Origin] = {each.origin for each in ours}
        if origins == {None} and isinstance(node, cst.Attribute):
            origins = self._assigned(node) or origins
        if isinstance(parent, cst.Call) and parent.func is node:
            self._called |= origins
        elif self._is_listed(node, parent):
            self.listed[node] = origins.pop()
            if len(ours) < len(options):
                self.mixed.add(node)

    def _assigned(self, node: cst.Attribute) -> set[Origin]:
        """Return the calls that made what an annotated attribute is assigned."""
        return {
            origin
            for cls in project_classes(self._file.value(node.value))
            for origin in _origins(cls, node.attr.value)
        }

    def _is_listed(self, node: cst.BaseExpression, parent: cst.CSTNode) -> bool:
        """Whether an expression is used as a list."""
        match parent:
            case cst.Subscript():
                return parent.value is node
            case cst.Attribute():
                return parent.attr.value in _METHODS
            case cst.For() | cst.CompFor():
                return parent.iter is node
            case cst.StarredElement():
                return True
            case cst.ComparisonTarget():
                return isinstance(parent.operator, (cst.In, cst.NotIn))
            case cst.Arg(star="*"):
                return True
            case cst.Arg():
                return self._iterates(parent)
            case _:
                return False

    def _iterates(self, argument: cst.Arg) -> bool:
        return self._takers.get(argument, "").removeprefix("builtins.") in _ITERATING

    @property
    def _takers(self) -> dict[cst.CSTNode, str]:
        """The functions that take the arguments of the file."""
        if self._arguments is None:
            self._arguments = {
                arg: self._file.name(call.func)
                for call in self._file.analysis.known.of(cst.Call)
                for arg in call.args
            }
        return self._arguments

    _arguments: dict[cst.CSTNode, str] | None = None


def _origins(cls: ProjectClass, name: str) -> set[Origin]:
    """Return the calls that made what an attribute of a class is assigned."""
    return {
        option.origin
        for option in options_of(cls.attributes.get(name, NONE))
        if isinstance(option, Instance) and option.cls in OLD
    }
