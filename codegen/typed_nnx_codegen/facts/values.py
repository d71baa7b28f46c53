"""What an assigned expression holds, and whether it may carry a mark that cannot be seen."""

from __future__ import annotations

from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import CallExpr, DictExpr, Expression, FuncDef, ListExpr, MemberExpr, NameExpr, Node

from typed_nnx_codegen.facts.assigned import file_of
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.kinds import holds_data
from typed_nnx_codegen.facts.marks import is_static_by_form
from typed_nnx_codegen.facts.names import runtime_of

Display: TypeAlias = (
    nodes.ListExpr
    | nodes.TupleExpr
    | nodes.DictExpr
    | nodes.SetExpr
    | nodes.ListComprehension
    | nodes.SetComprehension
    | nodes.DictionaryComprehension
    | nodes.GeneratorExpr
)
"""Containers that are written out."""

_MARKS: Final = ("data", "static")
# What these packages return carries no mark.
_UNMARKED: Final = ("builtins.", "jax.", "numpy.", "optax.")


def mark_in_call(value: Expression) -> str:
    """Return "data" or "static" of ``nnx.data(...)`` and ``nnx.static(...)``, after binding."""
    if not isinstance(value, CallExpr) or not isinstance(value.callee, nodes.RefExpr):
        return ""
    fullname = value.callee.fullname
    last = fullname.rpartition(".")[2]
    return last if last in _MARKS and runtime_of(fullname) else ""


# -- contents ---------------------------------------------------------------------------------


def value_holds_data(value: Expression, checker: Checker) -> bool | None:
    """Tell whether the value of an expression holds data; see `kinds.holds_data`.

    A display is looked into: of ``[None, layer]`` the elements say more than the type.
    """
    found = first_data(value, checker)
    if found is not None:
        return True
    parts = elements(value)
    if parts is None or not parts:
        return holds_data(checker.type_of(value))
    said = {value_holds_data(each, checker) for each in parts}
    return False if said == {False} else None


def first_data(value: Expression, checker: Checker) -> Expression | None:
    """Return the first part of an expression that surely holds data, an element of a display."""
    for each in elements(value) or ():
        found = first_data(each, checker)
        if found is not None:
            return found
    return value if holds_data(checker.type_of(value)) else None


def elements(value: Expression) -> list[Expression] | None:
    """Return the elements of a list, tuple or dict that is written out; None of anything else."""
    match value:
        case ListExpr() | nodes.TupleExpr():
            return [each for each in value.items if not isinstance(each, nodes.StarExpr)]
        case DictExpr():
            return [each for key, each in value.items if key is not None]
        case _:
            return None


# -- hidden marks -----------------------------------------------------------------------------


def may_be_marked(value: Expression, checker: Checker) -> bool:
    """Tell whether the value of an expression may be one that `nnx.data` or `nnx.static` returned.

    Only a mark that stands at the assignment itself is seen elsewhere. A variable or a function
    may bring one, too.
    """
    return _Marked(checker).is_possible(value)


class _Marked:
    """Follows an expression through variables and functions of the file."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._seen: set[Node] = set()

    def is_possible(self, value: Expression) -> bool:
        """Tell whether the value may be marked."""
        match value:
            case CallExpr():
                return self._call(value)
            case nodes.ConditionalExpr():
                return self.is_possible(value.if_expr) or self.is_possible(value.else_expr)
            case nodes.CastExpr():
                return self.is_possible(value.expr)
            case nodes.OpExpr() if value.op in ("or", "and"):
                return self.is_possible(value.left) or self.is_possible(value.right)
            case NameExpr():
                return self._name(value)
            case MemberExpr() | nodes.IndexExpr() | nodes.OpExpr():
                return False
            case _:
                return not (isinstance(value, Display) or is_static_by_form(value))

    def _call(self, call: CallExpr) -> bool:
        if mark_in_call(call):
            return True
        callee = call.callee
        if isinstance(callee, MemberExpr) and not callee.fullname:
            return not self._is_plain_method(callee)
        if not isinstance(callee, nodes.RefExpr):
            return True
        if callee.fullname.startswith(_UNMARKED) or runtime_of(callee.fullname):
            return False
        node = callee.node
        if isinstance(node, nodes.TypeInfo):
            return False
        function = node.func if isinstance(node, nodes.Decorator) else node
        if isinstance(function, FuncDef) and self._checker.parent(function) is not None:
            inside = descendants(function.body)
            return any(mark_in_call(each) for each in inside if isinstance(each, CallExpr))
        return True

    def _is_plain_method(self, callee: MemberExpr) -> bool:
        """Tell whether a method is one of a built-in container or an array, as `list.copy`."""
        owner = self._checker.known_type(callee.expr)
        info = getattr(owner, "type", None)
        return isinstance(info, nodes.TypeInfo) and info.fullname.startswith(_UNMARKED)

    def _name(self, name: NameExpr) -> bool:
        node = name.node
        if not isinstance(node, nodes.Var) or node in self._seen:
            return node not in self._seen
        self._seen.add(node)
        around = self._checker.function_around(name)
        values = file_of(self._checker).of_variable.get(node, ())
        found = [e for e in values if self._checker.function_around(e.node) is around]
        is_parameter = isinstance(around, FuncDef) and any(
            each.variable is node for each in around.arguments
        )
        if not found and not is_parameter:
            return True
        return any(e.value is None or e.items or self.is_possible(e.value) for e in found)
