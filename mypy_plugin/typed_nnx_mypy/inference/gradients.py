"""The types of gradients where the signatures leave them open, as those of flax do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.types import (
    AnyType,
    CallableType,
    ExtraAttrs,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    Type,
    TypeOfAny,
    get_proper_type,
)

from typed_nnx_mypy.call import Call, literal
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.filter_encoding import decode, encode
from typed_nnx_mypy.models.filter_syntax import FILTER, read_filter
from typed_nnx_mypy.models.filters import Filter, has_unknown, of_class
from typed_nnx_mypy.models.kinds import Kind, kind_of
from typed_nnx_mypy.models.states import is_state, state_of
from typed_nnx_mypy.registry import infers

_ARGNUM: Final = "__nnx_argnum__"
_TREES: Final = ("graph", "graph_updates")
_WITH_AUX: Final = 2
"""How many results a function has that returns something with its loss."""


@dataclass(frozen=True)
class Wrt:
    """What a gradient is taken of.

    Attributes:
        argnum: The position of the argument.
        filter: What of a Module; None where it is the default, which is Param.
    """

    argnum: int
    filter: Filter | None


# -- DiffState --------------------------------------------------------------------------------


@infers("DiffState")
def diff_state(call: Call) -> Type | None:
    """Have the type of a DiffState say which argument and which filter it is."""
    found = get_proper_type(call.result)
    argnum, given = call.argument("argnum", 0), call.argument("filter", 1)
    if not isinstance(found, Instance) or argnum is None or given is None:
        return None
    position = literal(argnum.type)
    of = read_filter(given.expression, given.type, call.checker)
    if not isinstance(position, int) or has_unknown(of):
        return None
    base = Instance(found.type.mro[-1], [])
    entries: dict[str, Type] = {
        _ARGNUM: LiteralType(position, base),
        FILTER: encode(of, base),
    }
    marked = Instance(found.type, found.args)
    marked.extra_attrs = ExtraAttrs(entries, None, None)
    return marked


def read_wrt(found: Type) -> list[Wrt] | None:
    """Return what `argnums` of a type says; None where the type does not say it."""
    proper = get_proper_type(found)
    if isinstance(proper, TupleType):
        rows = [read_wrt(each) for each in proper.items]
        kept = [row[0] for row in rows if row is not None and len(row) == 1]
        return kept if len(kept) == len(rows) else None
    position = literal(proper)
    if isinstance(position, int):
        return [Wrt(position, None)]
    entries = (
        proper.extra_attrs.attrs if isinstance(proper, Instance) and proper.extra_attrs else {}
    )
    position = literal(entries.get(_ARGNUM))
    if isinstance(position, int) and FILTER in entries:
        return [Wrt(position, decode(entries[FILTER]))]
    return None


# -- transforms -------------------------------------------------------------------------------


@infers("grad", "value_and_grad")
def gradients(call: Call) -> Type | None:
    """Return the function that `grad` and `value_and_grad` make, with the types of its results."""
    if call.has_stars or any(call.keyword(name) is not None for name in _TREES):
        return None
    found = get_proper_type(call.result)
    if not isinstance(found, CallableType) or not isinstance(
        get_proper_type(found.ret_type), AnyType | CallableType
    ):
        return None
    function = _function(call)
    if function is None or function.variables:
        return None
    result = _result(call, function)
    if result is None:
        return None
    inner = get_proper_type(found.ret_type)
    if isinstance(inner, CallableType):  # a decorator with arguments
        return _returning(found, _returning(inner, result))
    return _returning(found, result)


def _returning(function: CallableType, result: Type) -> CallableType:
    return CallableType(
        function.arg_types,
        function.arg_kinds,
        function.arg_names,
        result,
        function.fallback,
        is_ellipsis_args=function.is_ellipsis_args,
    )


def _function(call: Call) -> CallableType | None:
    """Return the type of the function that is differentiated."""
    given = call.argument("f", 0)
    if given is not None:
        found: Type | None = given.type
    else:
        found = call.decorated.type if call.decorated is not None else None
    proper = get_proper_type(found)
    return proper if isinstance(proper, CallableType) else None


def _result(call: Call, function: CallableType) -> Type | None:
    argnums, has_aux = call.keyword("argnums"), call.keyword("has_aux")
    wrt = read_wrt(argnums.type) if argnums is not None else [Wrt(0, None)]
    with_aux = _is_true(has_aux.type) if has_aux is not None else False
    row = call.checker.instance("builtins.tuple", [AnyType(TypeOfAny.special_form)])
    if wrt is None or with_aux is None or row is None:
        return None
    slopes = [_gradient(call, function, each) for each in wrt]
    is_one = argnums is None or not isinstance(argnums.type, TupleType)
    slope: Type = slopes[0] if is_one else TupleType(slopes, row)
    value, aux = get_proper_type(function.ret_type), None
    if with_aux:
        if not isinstance(value, TupleType) or len(value.items) != _WITH_AUX:
            return None
        aux = value.items[1]
    if call.name == "value_and_grad":
        return TupleType([value, slope], row)
    return slope if aux is None else TupleType([slope, aux], row)


def _gradient(call: Call, function: CallableType, wrt: Wrt) -> Type:
    """Return the type of the gradient of one argument; Any where it is not known."""
    unknown = AnyType(TypeOfAny.special_form)
    if wrt.argnum < 0 or wrt.argnum >= len(function.arg_types):
        return unknown
    kinds = function.arg_kinds[: wrt.argnum + 1]
    if not all(kind.is_positional() for kind in kinds):
        return unknown
    argument = get_proper_type(function.arg_types[wrt.argnum])
    if not isinstance(argument, Instance):
        return unknown
    if is_state(argument.type) or kind_of(argument) in (Kind.ARRAY, Kind.VARIABLE):
        return argument
    if kind_of(argument) is None:
        return unknown
    return _state_of(argument, wrt.filter, call.checker, call.runtime) or unknown


def _state_of(
    model: ProperType, of: Filter | None, checker: Checker, runtime: str
) -> Instance | None:
    unknown: list[Type] = [AnyType(TypeOfAny.special_form)]
    state = checker.instance(f"{runtime}.State")
    param = checker.instance(f"{runtime}.Param")
    if state is None or param is None:
        return None
    like = Instance(state.type, unknown * len(state.type.defn.type_vars))
    return state_of(like, model, of if of is not None else of_class(param.type))


def _is_true(found: ProperType) -> bool | None:
    if isinstance(found, Instance) and found.last_known_value is not None:
        found = found.last_known_value
    if isinstance(found, LiteralType) and isinstance(found.value, bool):
        return found.value
    return None
