"""``functools.partial`` of a transform: what it makes of a function.

mypy knows the partials of plain functions; of an overloaded function, as most transforms are, it
takes the first variant and loses the types of the function that is given later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from mypy import types
from mypy.nodes import ARG_NAMED, ARG_POS, TempNode
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Instance, LiteralType, Overloaded, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filters import entries_of, with_entries
from typed_nnx_codegen.facts.internals import partial_call_callback, partial_new_callback
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.registry import infers

# What a partial of a transform carries: the full name and what is bound by position, and what is
# bound by each name.
_BOUND: Final = "__nnx_bound__"
_NAMED: Final = "__nnx_bound_as__"

Hook: TypeAlias = Callable[[FunctionContext | MethodContext], Type]


def after_mypy(hook: Hook) -> Hook:
    """Return a hook of partials that runs after the one of mypy itself.

    mypy asks its own plugin only where no other claims a name.
    """

    def both(context: FunctionContext | MethodContext) -> Type:
        if isinstance(context, FunctionContext):
            return hook(context._replace(default_return_type=partial_new_callback(context)))
        return hook(context._replace(default_return_type=partial_call_callback(context)))

    return both


@infers("functools.partial")
def bound_transform(call: Call) -> Type | None:
    """Remember what a partial binds of an overloaded function of a runtime."""
    made = get_proper_type(call.result)
    given = [*call.formals(0), *call.formals(1), *call.formals(2)]
    if not isinstance(made, Instance) or not given or any(a.kind.is_star() for a in given):
        return None
    transform = given[0].type
    if not isinstance(transform, Overloaded):
        return None
    # Its type says the name only where no cache was read.
    fullname = getattr(given[0].expression, "fullname", "") or ""
    if not runtime_of(fullname):
        return None
    builtin = call.checker.api.named_type
    name = LiteralType(fullname, builtin("builtins.str"))
    by_position = [a.type for a in given[1:] if a.kind is ARG_POS]
    bound = TupleType([name, *by_position], builtin("builtins.tuple"))
    named = {_NAMED + each.name: each.type for each in given[1:] if each.name is not None}
    return with_entries(made, {**entries_of(made), _BOUND: bound, **named})


@infers("functools.partial.__call__")
def called_transform(call: Call) -> Type | None:
    """Return what the transform makes of all that it is given."""
    receiver = get_proper_type(call.receiver)
    carried = entries_of(receiver)
    bound = get_proper_type(carried.get(_BOUND))
    given = [*call.formals(0), *call.formals(1)]
    if not isinstance(bound, TupleType) or any(a.kind.is_star() for a in given):
        return None
    if call.decorated is not None and call.decorated.is_class:
        return None  # mypy binds `cls` of functions, and not of what a transform returns
    transform = _transform(get_proper_type(bound.items[0]), call.checker)
    if transform is None:
        return None
    now = {argument.name for argument in given}
    actual = [(TempNode(each), ARG_POS, None) for each in bound.items[1:]]
    later = [
        (TempNode(found), ARG_NAMED, name.removeprefix(_NAMED))
        for name, found in carried.items()
        if name.startswith(_NAMED) and name.removeprefix(_NAMED) not in now
    ]
    now_given = [(each.expression, each.kind, each.name) for each in given]
    return call.checker.type_of_call(transform, [*actual, *now_given, *later], call.node)


def _transform(name: types.ProperType, checker: Checker) -> Overloaded | None:
    if not isinstance(name, LiteralType) or not isinstance(name.value, str):
        return None
    symbol = checker.symbol(name.value)
    found = get_proper_type(symbol.type) if symbol is not None else None
    return found if isinstance(found, Overloaded) else None
