"""The objects of the scopes around a function, as the function names them."""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Var
from mypy.types import Instance, ProperType

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.early import early_type
from typed_nnx_mypy.models.kinds import Kind, kind_of
from typed_nnx_mypy.syntax.targets import bound_names, own_nodes, parts, targets


class Outer:
    """What a function takes from outside.

    Args:
        given: The expression for it, where it may be a bound method; None for a decorated function.
    """

    def __init__(
        self, function: FuncDef | LambdaExpr, given: Expression | None, checker: Checker
    ) -> None:
        self.function: Final = function
        self._checker = checker
        self._bound = bound_names(function)
        self._set = _attributes_set(function)
        if isinstance(function, FuncDef) and _binds(function, given, checker):
            self._bound.discard(function.arguments[0].variable.name)

    # -- where an object comes from -----------------------------------------------------------

    def path(self, owner: Expression) -> str:
        """Return how an object of an outer scope is written; empty where it may be another's."""
        match owner:
            case NameExpr(node=Var(), name=name):
                return "" if name.rstrip("'") in self._bound else name
            case MemberExpr(
                expr=NameExpr(node=nodes.MypyFile(), name=module), node=Var(), name=name
            ):
                return f"{module}.{name}"
            case MemberExpr(expr=inner, name=name):
                path = self.path(inner)
                return f"{path}.{name}" if path and self._is_kept(inner, name) else ""
            case nodes.IndexExpr(
                base=inner, index=nodes.IntExpr(value=key) | nodes.StrExpr(value=key)
            ):
                path = self.path(inner)
                found = self.type_of(inner)
                is_node = found is not None and kind_of(found) in (Kind.LIST, Kind.DICT)
                return f"{path}[{key!r}]" if path and is_node else ""
            case _:
                return ""

    def _is_kept(self, owner: Expression, name: str) -> bool:
        """Tell whether an attribute is the object that it was outside, no property of new ones."""
        found = self.type_of(owner)
        if not isinstance(found, Instance):
            return False
        symbol = found.type.get(name)
        if symbol is None:
            is_own = any(e in found.type.names for e in ("__getattr__", "__getattribute__"))
            return kind_of(found) is Kind.PYTREE and not is_own
        is_plain = isinstance(symbol.node, Var) and not symbol.node.is_property
        # To set an attribute of a Pytree raises itself; another object may get a new one.
        return is_plain and (kind_of(found) is Kind.PYTREE or name not in self._set)

    # -- types --------------------------------------------------------------------------------

    def type_of(self, expression: Expression) -> ProperType | None:
        """Return the type of an expression of the function; None where it is not known.

        A function that is not checked yet, or has no annotations, has no types: then they are those
        of the outer names and of attributes. mypy checks the body of a decorated function later than
        its decorators.
        """
        return early_type(expression, self._checker, self._bound)


def _binds(function: FuncDef, given: Expression | None, checker: Checker) -> bool:
    """Tell whether an expression for a method binds its object, which is then from outside."""
    if function.is_static or function.is_class or not function.arguments:
        return False
    return isinstance(given, MemberExpr) and isinstance(checker.type_of(given.expr), Instance)


def _attributes_set(function: FuncDef | LambdaExpr) -> set[str]:
    return {
        part.name
        for node in own_nodes(function)
        for target in targets(node)
        for part in parts(target)
        if isinstance(part, MemberExpr)
    }
