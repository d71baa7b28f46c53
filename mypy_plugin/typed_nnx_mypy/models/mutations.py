"""Which expressions and statements surely change a Pytree, a Variable or the streams of an Rngs.

Only what the runtimes themselves define is known: a class that overrides a method or the setting of
attributes may do something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import CallExpr, Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Var
from mypy.types import Instance, ProperType

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.early import early_type
from typed_nnx_mypy.models.kinds import Kind, is_rngs, kind_of, runtime_of_class
from typed_nnx_mypy.names import is_named, runtime_of
from typed_nnx_mypy.syntax.targets import bound_names, own_nodes, parts, targets

TypeOf: TypeAlias = Callable[[Expression], ProperType | None]
"""Returns the type of an expression; None where it is not known."""

_OF_VARIABLES: Final = frozenset(
    {"copy_from", "set_metadata", "set_raw_value", "set_value", "update_from_state"}
)
_OF_LISTS: Final = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse"})
# flax lets the others pass.
_OF_DICTS: Final = frozenset({"update"})
# Of an Rngs and of a stream: what does not take a key.
_NO_KEY: Final = frozenset({"copy", "count", "get", "items", "key", "keys", "tag", "values"})
_VALUES: Final = frozenset({"raw_value", "value"})


@dataclass(frozen=True)
class Mutation:
    """A change of an object.

    Attributes:
        owner: The expression for the object.
        type: Its type.
        node: Where the change is written.
        attribute: The attribute that is set; empty for another change.
    """

    owner: Expression
    type: Instance
    node: Expression
    attribute: str = ""

    @property
    def is_of_value(self) -> bool:
        """Whether the value of a Variable changes, and not an attribute of an object."""
        return not self.attribute and kind_of(self.type) is Kind.VARIABLE

    @property
    def runtime(self) -> str:
        """The runtime of the object."""
        return runtime_of_class(self.type.type)


def mutations(node: nodes.Node, type_of: TypeOf) -> Iterator[Mutation]:
    """Yield the changes that a statement or an expression surely makes, not those inside it."""
    match node:
        case nodes.AssignmentStmt() | nodes.OperatorAssignmentStmt():
            for target in targets(node):
                for each in parts(target):
                    yield from _of_target(each, type_of)
        case CallExpr():
            yield from _of_call(node, type_of)
        case _:
            pass


# -- assignments ------------------------------------------------------------------------------


def _of_target(target: Expression, type_of: TypeOf) -> Iterator[Mutation]:
    match target:
        case MemberExpr(expr=owner, name=name):
            found = type_of(owner)
            if isinstance(found, Instance) and _sets(found, name):
                attribute = "" if kind_of(found) is Kind.VARIABLE else name
                yield Mutation(owner, found, target, attribute)
        case nodes.IndexExpr(base=owner):
            found = type_of(owner)
            kinds = (Kind.VARIABLE, Kind.LIST, Kind.DICT)
            if (
                isinstance(found, Instance)
                and kind_of(found) in kinds
                and _is_of_runtime(found.type, "__setitem__")
            ):
                yield Mutation(owner, found, target)
        case _:
            pass


def _sets(found: Instance, name: str) -> bool:
    """Tell whether an assignment to an attribute surely sets it."""
    if kind_of(found) is Kind.VARIABLE:
        return name in _VALUES and _is_of_runtime(found.type, name)
    symbol = found.type.get(name)
    is_property = symbol is not None and isinstance(
        symbol.node, nodes.Decorator | nodes.OverloadedFuncDef
    )
    return (
        kind_of(found) in (Kind.PYTREE, Kind.LIST, Kind.DICT)
        and not is_property
        and _is_of_runtime(found.type, "__setattr__")
    )


def _is_of_runtime(info: nodes.TypeInfo, name: str) -> bool:
    """Tell whether a member is as a runtime defines it; mypy may know it from `object` only."""
    base = info.get_containing_type_info(name)
    return base is None or base.fullname == "builtins.object" or bool(runtime_of(base.fullname))


# -- calls ------------------------------------------------------------------------------------


def _of_call(call: CallExpr, type_of: TypeOf) -> Iterator[Mutation]:
    callee = call.callee
    if isinstance(callee, nodes.RefExpr) and callee.node is not None:
        yield from _of_function(callee.node.fullname, call, type_of)
    if isinstance(callee, MemberExpr):
        owner = type_of(callee.expr)
        if isinstance(owner, Instance) and _changes(owner, callee.name):
            yield Mutation(callee.expr, owner, call)
    yield from _of_rngs(call, type_of)


def _of_function(fullname: str, call: CallExpr, type_of: TypeOf) -> Iterator[Mutation]:
    if len(call.args) < 2 or any(kind.is_star() for kind in call.arg_kinds):
        return
    found = type_of(call.args[0])
    if not isinstance(found, Instance):
        return
    if fullname == "builtins.setattr":
        # The name may be anything, but the setting of a Variable's attributes is its own.
        is_plain = kind_of(found) is Kind.PYTREE and _is_of_runtime(found.type, "__setattr__")
        if is_plain:
            yield Mutation(call.args[0], found, call)
        return
    if is_named(fullname, "update") and kind_of(found) is Kind.PYTREE:
        yield Mutation(call.args[0], found, call)


def _changes(owner: Instance, method: str) -> bool:
    """Tell whether a method surely changes its object."""
    base = owner.type.get_containing_type_info(method)
    if base is None or not runtime_of(base.fullname):
        return False
    names = {each.name for each in owner.type.mro if runtime_of(each.fullname)}
    match kind_of(owner):
        case Kind.VARIABLE:
            return method in _OF_VARIABLES
        case Kind.LIST:
            return method in _OF_LISTS
        case Kind.DICT:
            return method in _OF_DICTS
        case Kind.PYTREE if "Optimizer" in names:
            return method == "update"
        case Kind.PYTREE if "Metric" in names:
            return method in ("reset", "update")
        case _:
            return False


def _of_rngs(call: CallExpr, type_of: TypeOf) -> Iterator[Mutation]:
    """Yield the change of a call that takes keys: ``rngs()``, ``rngs.params.normal((2,))``."""
    owner = call.callee
    names: list[str] = []
    while isinstance(owner, MemberExpr) and not _is_source(type_of(owner)) and len(names) < 2:
        names.append(owner.name)
        owner = owner.expr
    if isinstance(owner, MemberExpr) and _is_source(type_of(owner.expr)):
        # A stream that `__getattr__` of its Rngs gave, where mypy has checked that already.
        owner = owner.expr
    found = type_of(owner)
    is_key = not any(name in _NO_KEY or name.startswith("_") for name in names)
    if isinstance(found, Instance) and _is_source(found) and is_key:
        yield Mutation(owner, found, call)


def _is_source(found: ProperType | None) -> bool:
    """Tell whether values of a type are an Rngs or a stream of the runtime itself."""
    if not isinstance(found, Instance) or not runtime_of(found.type.fullname):
        return False
    return is_rngs(found.type) or found.type.name == "RngStream"


# -- where an object comes from ------------------------------------------------------------------


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
