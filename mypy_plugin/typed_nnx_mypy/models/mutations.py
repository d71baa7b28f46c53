"""Which expressions and statements surely change a Pytree, a Variable or the streams of an Rngs.

Only what the runtimes themselves define is known: a class that overrides a method or the setting of
attributes may do something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from mypy import nodes
from mypy.nodes import CallExpr, Expression, FuncDef, LambdaExpr, MemberExpr, NameExpr, Node, Var
from mypy.types import Instance, ProperType

from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.early import early_type
from typed_nnx_codegen.facts.kinds import Kind, is_of_runtime, is_rngs, kind_of, runtime_of_class
from typed_nnx_codegen.facts.names import PARTIAL, is_named, runtime_of
from typed_nnx_codegen.facts.parameters import Function, definition_of, is_of_file
from typed_nnx_codegen.facts.targets import bound_names, own_nodes, parts, targets
from typed_nnx_mypy.reporter import Reporter

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
# A Variable that is a reference for jax may be changed under its transforms.
_REFERENCES: Final = frozenset({"hijax", "to_refs", "use_hijax", "use_ref", "use_refs"})
# Context managers that leave tracing, or expect an error.
_GUARDS: Final = frozenset(
    {"assertRaises", "assertRaisesRegex", "ensure_compile_time_eval", "raises", "suppress"}
)


@dataclass(frozen=True)
class Mutation:
    """A change of an object.

    Attributes:
        owner: The expression for the object.
        type: Its type.
        node: Where the change is written.
        attribute: The attribute that is set; empty for another change.
        path: How the object is written, where it comes from outside.
        statement: What makes the change.
    """

    owner: Expression
    type: Instance
    node: Expression
    attribute: str = ""
    path: str = ""
    statement: nodes.Node | None = None

    @property
    def root(self) -> str:
        """The name at the front of the path."""
        return self.path.partition(".")[0].partition("[")[0]

    @property
    def title(self) -> str:
        """What changes, for messages."""
        what = f"{self.path}.{self.attribute}" if self.attribute else self.path
        return f"`{what}` ({self.type.type.name})"

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
                and is_of_runtime(found.type, "__setitem__")
            ):
                yield Mutation(owner, found, target)
        case _:
            pass


def _sets(found: Instance, name: str) -> bool:
    """Tell whether an assignment to an attribute surely sets it."""
    if kind_of(found) is Kind.VARIABLE:
        return name in _VALUES and is_of_runtime(found.type, name)
    symbol = found.type.get(name)
    is_property = symbol is not None and isinstance(
        symbol.node, nodes.Decorator | nodes.OverloadedFuncDef
    )
    return (
        kind_of(found) in (Kind.PYTREE, Kind.LIST, Kind.DICT)
        and not is_property
        and is_of_runtime(found.type, "__setattr__")
    )


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
        is_plain = kind_of(found) is Kind.PYTREE and is_of_runtime(found.type, "__setattr__")
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


def outer_of(
    given: Expression | None, function: Function | None, checker: Reporter
) -> Outer | None:
    """Return what a function of the file takes from outside; None of functions of other files.

    Args:
        given: The function as a transform is given it, maybe in a `functools.partial`; None where it
            is decorated.
        function: What is known of it.
        checker: The type checker of the file.
    """
    match given:
        case CallExpr(callee=nodes.RefExpr(fullname=name), args=[first, *_]) if name == PARTIAL:
            given = first
        case _:
            pass
    if given is not None:
        definition = definition_of(given, checker)
    else:
        definition = function.definition if function is not None else None
    is_here = definition is not None and is_of_file(definition, checker)
    return Outer(definition, given, checker) if is_here and definition is not None else None


class Outer:
    """What a function takes from outside.

    Args:
        given: The expression for it, where it may be a bound method; None for a decorated function.
    """

    def __init__(
        self, function: FuncDef | LambdaExpr, given: Expression | None, checker: Reporter
    ) -> None:
        self.function: Final = function
        self.checker: Final = checker
        self._given: Final = given

    @cached_property
    def _bound(self) -> set[str]:
        function, found = self.function, bound_names(self.function)
        if isinstance(function, FuncDef) and _binds(function, self._given, self.checker):
            found.discard(function.arguments[0].variable.name)
        return found

    @cached_property
    def _set(self) -> set[str]:
        return _attributes_set(self.function)

    def take_as_outer(self, parameters: set[str]) -> set[str]:
        """Look at parameters as if they were from outside; return those that are not bound already."""
        taken = parameters & self._bound
        self._bound.difference_update(taken)
        return taken

    def changes(self) -> Iterator[Mutation]:
        """Yield the changes of outer objects that surely raise, if jax traces the function."""
        for node in own_nodes(self.function):
            for found in mutations(node, self.type_of):
                path = self.path(found.owner)
                if path and _is_certain(found, self.function, self.checker):
                    yield replace(found, path=path, statement=node)

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
        return early_type(expression, self.checker, self._bound)


def _binds(function: FuncDef, given: Expression | None, checker: Reporter) -> bool:
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


# -- what may be allowed ----------------------------------------------------------------------


def _is_certain(found: Mutation, function: FuncDef | LambdaExpr, checker: Reporter) -> bool:
    """Tell whether a change surely raises, if the function gets there while jax traces it."""
    if found.runtime not in checker.config.runtimes:
        return False
    is_reference = found.is_of_value and _mentions(checker.syntax.nodes, _REFERENCES)
    return not is_reference and not _is_guarded(found.node, function, checker)


def _is_guarded(node: Node, function: FuncDef | LambdaExpr, checker: Reporter) -> bool:
    """Tell whether a statement around a change may keep it from tracing, or catches the error."""
    for above in checker.above(node):
        if above is function:
            return False
        match above:
            case nodes.TryStmt() if above.handlers:
                return True
            case nodes.WithStmt():
                if any(_mentions((each, *descendants(each)), _GUARDS) for each in above.expr):
                    return True
            case nodes.IfStmt():
                asked = [part for each in above.expr for part in (each, *descendants(each))]
                if any("trac" in name.lower() for name in _names_in(asked)):
                    return True
            case _:
                pass
    return False


def _mentions(within: Iterable[Node], names: frozenset[str]) -> bool:
    return any(name in names for name in _names_in(within))


def _names_in(within: Iterable[Node]) -> Iterator[str]:
    for each in within:
        match each:
            case nodes.NameExpr() | nodes.MemberExpr():
                yield each.name
            case CallExpr():
                yield from (name for name in each.arg_names if name is not None)
            case _:
                pass
