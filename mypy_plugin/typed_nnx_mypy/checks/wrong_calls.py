"""``nnx-call``, ``nnx-variable-array``: one line for what mypy says in many, or without a fix.

What mypy says of correct code is left out: a lambda under a transform, a layer in the place of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeAlias

from mypy import errorcodes, nodes, types
from mypy.errorcodes import ErrorCode
from mypy.nodes import CallExpr, Decorator, Expression, MemberExpr, get_member_expr_fullname
from mypy.plugin import FunctionContext, MethodContext
from mypy.subtypes import find_member, is_subtype
from mypy.typeops import get_all_type_vars
from mypy.types import CallableType, Instance, Overloaded, Type, get_proper_type

from typed_nnx_codegen.facts.internals import ErrorInfo
from typed_nnx_codegen.facts.kinds import (
    FILTER,
    FUNCTION,
    Kind,
    expected_texts,
    holds_array,
    is_variable,
    kind_of,
    short_name,
    value_type,
)
from typed_nnx_codegen.facts.names import name_of, runtime_of
from typed_nnx_codegen.facts.parameters import function_of
from typed_nnx_codegen.facts.targets import is_self
from typed_nnx_mypy import registry
from typed_nnx_mypy.call import Call, MypyError
from typed_nnx_mypy.errorcodes import CALL, VARIABLE_ARRAY
from typed_nnx_mypy.registry import on_error
from typed_nnx_mypy.reporter import Reporter
from typed_nnx_mypy.syntax.transforms import transform_behind, transform_named

_OF_CALLS: Final = (
    errorcodes.ARG_TYPE,
    errorcodes.CALL_ARG,
    errorcodes.CALL_OVERLOAD,
    errorcodes.LIST_ITEM,
)
_FIXES: Final = {
    FILTER: "give it a class such as nnx.Param, `...` for what is left, or a function (path, value)",
    FUNCTION: "give it the function, not what it returns",
}


_StandIn: TypeAlias = Callable[[Instance], Type | None]
# The call that was read last, while it was checked, with the error that is shown: mypy says more of it.
_LAST: Final[list[tuple[object, nodes.Node, ErrorInfo]]] = []


@on_error(*_OF_CALLS, CALL, VARIABLE_ARRAY)
def call_fits_an_overload(error: MypyError) -> bool:
    """Put what mypy says of a call into other words; return whether it is left out."""
    info, checker = error.info, error.checker
    last = _LAST[0] if _LAST else None
    if last is not None and info.parent_error is last[2]:
        return True
    if info.code not in _OF_CALLS or checker.is_of_runtime():
        return False
    is_current = last is not None and last[0] is checker.round
    if info.severity == "note":
        is_same = last is not None and _position(info) in (_span(last[1]), _position(last[2]))
        return is_current and is_same
    node = _call_of(info, checker)
    if node is None or (last is not None and is_current and node is last[1]):
        return node is not None and last is not None and info is not last[2]
    lambdas = [e for e in getattr(node, "args", ()) if isinstance(e, nodes.LambdaExpr)]
    is_inside = not all(map(checker.is_right, lambdas))  # which mypy says, too
    # To a type with entries mypy does not give what its ``__getattr__`` has.
    fits = isinstance(node, CallExpr) and _fitting(
        node, checker, lambda e: Instance(e.type, e.args)
    )
    if fits or is_inside:
        _LAST[:] = [(checker.round, node, info)]
        return True
    code, said = _reworded(node, info, checker)
    if checker.config.of(code.code) == "off":
        return False
    if said or checker.has_reported:
        _LAST[:] = [(checker.round, node, info)]
    if said:
        info.message = said
        if code in (CALL, VARIABLE_ARRAY) and not checker.is_expected_to_fail(node):
            info.code, info.severity = code, checker.config.of(code.code)
    return checker.has_reported


def _reworded(
    node: CallExpr | Decorator, info: ErrorInfo, checker: Reporter
) -> tuple[ErrorCode, str]:
    """Return what is wrong in a call, with the code for it; nothing where a check has reported it.

    What is expected of the call may alone be wrong: then mypy says it.
    """
    if isinstance(node, CallExpr) and checker.is_right(node):
        return CALL, ""
    if isinstance(node, CallExpr) and (said := _given_variable(node, info, checker)):
        callee = node.callee.fullname if isinstance(node.callee, nodes.RefExpr) else ""
        is_asked = callee.startswith("jax.") or runtime_of(callee)
        return VARIABLE_ARRAY if is_asked else info.code or CALL, said
    call, overloads = _known(node, checker)
    if call is None:
        return CALL, ""
    for check in registry.CALL_CHECKS[call.name]:
        check(call)
    if overloads is None or checker.has_reported or isinstance(node, Decorator):
        return CALL, ""
    said = _mistake(node, overloads, checker)
    return CALL, said and f"{_title(call)}: {said}"


@on_error(errorcodes.MISC)
def lambda_is_inferred(error: MypyError) -> bool:
    """Leave out that mypy cannot infer ``nnx.vmap(lambda ...)`` where Any is expected of it."""
    info, checker = error.info, error.checker
    if "lambda" not in info.message:
        return False
    at = next((each for each in _shown(info, checker) if isinstance(each, nodes.LambdaExpr)), None)
    call = checker.parent(at) if at is not None else None
    is_transform = isinstance(call, CallExpr) and bool(transform_named(call.callee, checker))
    return isinstance(call, CallExpr) and is_transform and checker.is_right(call)


def _shown(info: ErrorInfo, checker: Reporter) -> Iterator[nodes.Node]:
    """Yield the nodes that an error is shown at."""
    return (e for e in checker.syntax.at(info.line) if _span(e) == _position(info))


def _position(info: ErrorInfo) -> tuple[int, int, int | None, int | None]:
    return info.line, info.column, info.end_line, info.end_column


def _span(node: nodes.Node) -> tuple[int, int, int | None, int | None]:
    return node.line, node.column, node.end_line or node.line, node.end_column


def _call_of(info: ErrorInfo, checker: Reporter) -> CallExpr | Decorator | None:
    """Return the call that an error is of: mypy shows that of a type at an argument."""
    is_at_argument = info.code in (errorcodes.ARG_TYPE, errorcodes.LIST_ITEM)
    for node in checker.syntax.at(info.line):
        if node.column == info.column and isinstance(node, Expression):
            found = checker.parent(node) if is_at_argument else node
            while isinstance(found, nodes.ListExpr | nodes.TupleExpr):
                found = checker.parent(found)
            if isinstance(found, Decorator):
                return found
            if isinstance(found, CallExpr) and _span(node) == _position(info):
                return found
    return None


def _known(node: CallExpr | Decorator, checker: Reporter) -> tuple[Call | None, Overloaded | None]:
    """Return the call as checks know it, and the overloads that it tries.

    It is ``nnx.grad(...)`` where what that makes is called, which may have no overloads.
    """
    callee = node.callee if isinstance(node, CallExpr) else node.original_decorators[0]
    known, of = checker.type_of(callee), node
    found: types.ProperType | None = known
    owner: types.ProperType | None = None
    name, method = transform_named(callee, checker), "__call__"
    if isinstance(known, Instance):
        owner = known
        found = get_proper_type(find_member(method, known, known, is_operator=True))
    elif name is None and isinstance(callee, MemberExpr):
        owner, method = checker.type_of(callee.expr), callee.name
    if isinstance(owner, Instance):
        base = owner.type.get_containing_type_info(method) or owner.type
        name = name_of(f"{base.fullname}.{method}")
    overloads = found if isinstance(found, Overloaded) and name is not None else None
    if overloads is None and isinstance(callee, CallExpr):
        name, of, owner = transform_named(callee.callee, checker), callee, None
    if name is None or name.runtime not in checker.config.runtimes:
        return None, None
    unknown = types.AnyType(types.TypeOfAny.from_error)
    context: FunctionContext | MethodContext
    if isinstance(owner, Instance):
        context = MethodContext(owner, [], [], [], [], unknown, [], of, checker.api)
    else:
        context = FunctionContext([], [], [], [], unknown, [], of, checker.api)
    return Call(name, context, checker), overloads


def _title(call: Call) -> str:
    owner, _, last = call.name.rpartition(".")
    if last == "__call__":
        transform = transform_behind(call)
        return transform.title if transform is not None else owner.lstrip("_")
    receiver = get_proper_type(call.receiver)
    return f"{receiver.type.name}.{last}" if isinstance(receiver, Instance) else call.name


# -- Variables --------------------------------------------------------------------------------


def _given_variable(call: CallExpr, info: ErrorInfo, checker: Reporter) -> str:
    """Say which Variable is given where its array would fit; empty where it would not."""
    variables = _fitting(call, checker, lambda e: value_type(e) if holds_array(e) else None)
    if not variables:
        return ""
    shown = [each for each in variables if _span(each) == _position(info)]
    at = (shown or variables)[0]
    dotted = get_member_expr_fullname(at) if isinstance(at, MemberExpr) else None
    text = at.name if isinstance(at, nodes.NameExpr) else dotted or ""
    found, said = short_name(checker.type_of(at)), f"`{text}`" if text else "an argument"
    return f"{said} is {found}; expected an array. Fix: {text or 'variable'}[...]"


def _fitting(call: CallExpr, checker: Reporter, stand_in: _StandIn) -> list[Expression]:
    """Return the Variables that a call is given, if it fits where other types stand for theirs."""
    variables: list[Expression] = []
    args = [_replaced(each, variables, checker, stand_in) for each in call.args]
    actual = list(zip(args, call.arg_kinds, call.arg_names, strict=True))
    fits = variables and checker.type_of_call(checker.type_of(call.callee), actual, call)
    return variables if fits else []


def _replaced(
    expression: Expression, variables: list[Expression], checker: Reporter, stand_in: _StandIn
) -> Expression:
    """Return an argument in which other types stand for Variables, which are put into a list."""
    if isinstance(expression, nodes.ListExpr | nodes.TupleExpr):
        items = [_replaced(each, variables, checker, stand_in) for each in expression.items]
        row = type(expression)(items)
        row.set_line(expression)
        return row
    found = checker.type_of(expression)
    other = stand_in(found) if isinstance(found, Instance) and is_variable(found.type) else None
    if other is None:
        return expression
    variables.append(expression)
    return nodes.TempNode(other, context=expression)


# -- what is wrong ----------------------------------------------------------------------------


class _Attempt(NamedTuple):
    """What is wrong in a call of one overload.

    Attributes:
        rank: The largest for the overload that was probably meant.
        wrong: The first argument that it does not take, or how many there are.
        missing: What it needs and does not get.
        overload: The overload.
    """

    rank: tuple[bool, int, int, int]
    wrong: int
    missing: list[str]
    overload: CallableType


def _mistake(call: CallExpr, overloads: Overloaded, checker: Reporter) -> str:
    """Return what is wrong in a call, and how to mend it; empty where that is not clear."""
    given = [name for name in call.arg_names if name is not None]
    if any(kind.is_star() for kind in call.arg_kinds):
        return ""
    for name in given:
        if not any(_takes(each, name) for each in overloads.items):
            return _unknown_name(name, overloads.items)
    takes = [each for each in overloads.items if all(_takes(each, name) for name in given)]
    count, by_position = len(call.args), call.arg_names.count(None)
    if by_position and any(map(_hands_on, takes)):
        function, others = function_of(call.args[0], checker), by_position - 1
        needed = sum(e.kind.is_required() for e in function.positional) if function else others
        is_more = function is not None and others > len(function.positional)
        if function and (others < needed or (is_more and not function.takes_more_by_position)):
            called = f"argument 1 is called with {others or 'none'}"
            return f"{called}, but {function.takes}. Fix: give as many"
    attempts = [_attempt(each, call, checker) for each in takes]
    known = [each for each in attempts if each.missing or each.wrong < count]
    if not known:
        return ""
    best = max(known, key=lambda each: each.rank)
    if best.wrong == count:
        are, them = ("are", "them") if len(best.missing) > 1 else ("is", "it")
        return f"{_listed(best.missing)} {are} missing. Fix: give {them}"
    alike = [each.overload for each in attempts if each.wrong == best.wrong]
    alike = [each for each in alike if _formal(each, call, best.wrong) is not None]
    return _wrong_type(call, best.wrong, alike, checker) if alike else _too_many(call, takes)


def _hands_on(overload: CallableType) -> bool:
    """Tell whether the first argument is a function, and called with all others."""
    types_of = dict(zip(overload.arg_kinds, overload.arg_types, strict=True))
    if len(overload.arg_types) < 2 or nodes.ArgKind.ARG_STAR not in types_of:
        return False
    of_function = get_all_type_vars(overload.arg_types[0])
    return any(each in of_function for each in get_all_type_vars(types_of[nodes.ArgKind.ARG_STAR]))


def _attempt(overload: CallableType, call: CallExpr, checker: Reporter) -> _Attempt:
    _, errors = checker.check_call(
        overload, list(zip(call.args, call.arg_kinds, call.arg_names, strict=True)), call
    )
    shown, count = [_position(each) for each in errors], len(call.args)
    formals = [_formal(overload, call, number) for number in range(count)]
    fits = [
        formal is not None and _span(each) not in shown and _is_in_bound(each, formal, checker)
        for each, formal in zip(call.args, formals, strict=True)
    ]
    wrong = fits.index(False) if False in fits else count
    by_position = call.arg_names.count(None)
    missing = [
        name if name and not name.startswith("_") else f"argument {number + 1}"
        for number, (name, kind) in enumerate(
            zip(overload.arg_names, overload.arg_kinds, strict=True)
        )
        if kind.is_required() and (name is None or name not in call.arg_names)
        if not kind.is_positional() or number >= by_position
    ]
    accepted = [
        each for each in formals[:wrong] if not isinstance(get_proper_type(each), types.AnyType)
    ]
    rank = (None not in formals, len(accepted), wrong, -len(missing))
    return _Attempt(rank, wrong, missing, overload)


def _is_in_bound(expression: Expression, formal: Type, checker: Reporter) -> bool:
    """Tell whether a type variable may be what it is given: mypy does not say of which argument it is."""
    variable = get_proper_type(formal)
    return not isinstance(variable, types.TypeVarType) or is_subtype(
        checker.type_of(expression), variable.upper_bound
    )


def _formal(overload: CallableType, call: CallExpr, number: int) -> Type | None:
    name = call.arg_names[number]
    by_position = overload.argument_by_position(number) if name is None else None
    found = overload.argument_by_name(name) if name is not None else by_position
    return found.typ if found is not None else None


def _takes(overload: CallableType, name: str) -> bool:
    return overload.is_kw_arg or name in _names([overload])


def _names(overloads: Iterable[CallableType], *, must_be_named: bool = False) -> list[str]:
    """Return the names by which overloads take arguments."""
    rows = (each for item in overloads for each in zip(item.arg_names, item.arg_kinds, strict=True))
    return list(
        dict.fromkeys(
            name
            for name, kind in rows
            if name and not kind.is_star() and (kind.is_named() or not must_be_named)
        )
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(name if " " in name else f"`{name}`" for name in names)


def _unknown_name(name: str, overloads: Sequence[CallableType]) -> str:
    known = _names(overloads)
    close = get_close_matches(name, known, n=1)
    fix = (
        f"write {close[0]}= for {name}="
        if close
        else f"leave it out, or give one of {_listed(known)}"
    )
    return f"there is no argument `{name}`. Fix: {fix}"


def _too_many(call: CallExpr, overloads: Sequence[CallableType]) -> str:
    most = max(sum(kind.is_positional() for kind in each.arg_kinds) for each in overloads)
    named = _names(overloads, must_be_named=True)
    fix = f"give options by name, of {_listed(named)}" if named else "leave the others out"
    given = call.arg_names.count(None)
    return f"got {given} by position; expected {f'at most {most}' if most else 'none'}. Fix: {fix}"


def _wrong_type(
    call: CallExpr, number: int, overloads: Sequence[CallableType], checker: Reporter
) -> str:
    expression, name = call.args[number], call.arg_names[number]
    formals = [_formal(each, call, number) for each in overloads]
    texts = dict.fromkeys(
        text for each in formals if each is not None for text in expected_texts(each)
    )
    wanted = FILTER if FILTER in texts else " or ".join(texts)
    title = f"`{name}`" if name else f"argument {number + 1}"
    given = checker.type_alone(expression)
    if short_name(given).partition("[")[0] in texts:
        return ""  # what it is of does not fit
    if wanted == FUNCTION and isinstance(given, CallableType | Overloaded):
        # It is what it returns that does not fit, or takes.
        function = function_of(expression, checker) if any(map(_hands_on, overloads)) else None
        said = f"{title} does not fit the others: {function.takes}" if function else ""
        return f"{said}. Fix: give all that it takes" if said else ""
    fix = _FIXES.get(wanted, f"give it {wanted}")
    return f"{title} is {short_name(given)}; expected {wanted}. Fix: {fix}" if wanted else ""


# -- model surgery ----------------------------------------------------------------------------


@on_error(errorcodes.ASSIGNMENT)
def module_takes_the_place_of_another(error: MypyError) -> bool:
    """Leave out that ``model.layer = nnx.LoRA(...)`` sets another Module than ``__init__`` does."""
    info, checker = error.info, error.checker
    value = next(_shown(info, checker), None)
    match checker.parent(value) if value is not None else None:
        case nodes.AssignmentStmt(lvalues=[MemberExpr(expr=owner, name=name)], rvalue=made) if (
            not is_self(owner)
        ):
            found = checker.type_of(owner)
            symbol = found.type.get(name) if isinstance(found, Instance) else None
            kept = symbol.node if symbol is not None else None
            if not isinstance(kept, nodes.Var) or not kept.is_inferred or kept.explicit_self_type:
                return False
            modules = (checker.type_of(made), kept.type)
            return all(each is not None and kind_of(each) is Kind.PYTREE for each in modules)
        case _:
            return False
