"""The types of gradients where the signatures leave them open, as those of flax do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy import types
from mypy.maptype import map_instance_to_supertype
from mypy.types import AnyType, CallableType, Instance, TupleType, Type, TypeOfAny, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filter_syntax import read_filter
from typed_nnx_codegen.facts.filters import (
    FILTER,
    Filter,
    decode,
    entries_of,
    of_class,
    with_entries,
)
from typed_nnx_codegen.facts.kinds import Kind, kind_of, literal, truth
from typed_nnx_codegen.facts.states import is_state, state_of
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.models.bindings import at_home
from typed_nnx_mypy.registry import infers
from typed_nnx_mypy.syntax.transforms import CALLS_OF_GRADIENTS

_ARGNUM: Final = "__nnx_argnum__"
_WRT: Final = "__nnx_wrt__"
_AUX: Final = "__nnx_aux__"
_TREES: Final = ("graph", "graph_updates")
_MADE: Final = ("Gradient", "ValueAndGradient")
"""What typed_nnx's `grad` and `value_and_grad` make; its stubs have classes below them."""


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
    if not isinstance(position, int):
        return None
    return with_entries(found, {_ARGNUM: position, FILTER: of})


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
    entries = entries_of(proper)
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
    if isinstance(found, Instance):
        return _marked(found, call)
    if not isinstance(found, CallableType):
        return None
    made = get_proper_type(found.ret_type)
    if isinstance(made, Instance):  # a decorator with arguments
        marked = _marked(made, call)
        if marked is None:
            return None
        return _returning(found, marked)
    if not isinstance(made, AnyType | CallableType):
        return None
    function = _function(call)
    if function is None or function.variables:
        return None
    result = _result(call, function)
    if result is None:
        return None
    if isinstance(made, CallableType):  # a decorator with arguments
        return _returning(found, _returning(made, result))
    return _returning(found, result)


@infers("jax.grad", "jax.value_and_grad")
def gradients_of_states(call: Call) -> Type | None:
    """Return the function that jax makes, which gives gradients of States as those States."""
    function, argnums = _function(call), call.argument("argnums", 1)
    wrt = read_wrt(argnums.type) if argnums is not None else [Wrt(0, None)]
    if function is None or function.variables or call.has_stars or not wrt:
        return None
    unknown = AnyType(TypeOfAny.special_form)
    takes: dict[int, types.TypeVarLikeType] = {}
    for at in (each.argnum for each in wrt):
        asked = get_proper_type(function.arg_types[at]) if at < len(function.arg_types) else None
        if at < 0 or not isinstance(asked, Instance) or not is_state(asked.type):
            return None
        name, key = f"S{at}", types.TypeVarId(-1 - at)
        takes[at] = types.TypeVarType(name, name, key, [], asked, unknown)
    known = [takes.get(at, unknown) for at in range(len(function.arg_types))]
    rest = (function.arg_kinds, function.arg_names, function.ret_type, function.fallback)
    made = CallableType(known, *rest, variables=[*takes.values()])
    result = _result(call, made)
    return _returning(made, result) if result is not None else None


def _returning(function: CallableType, result: Type) -> CallableType:
    return function.copy_modified(ret_type=result, type_guard=None, type_is=None)  # pyright: ignore[reportUnknownMemberType]  # mypy's `Bogus`


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
    argnums, has_aux = call.argument("argnums", 1), call.keyword("has_aux")
    wrt = read_wrt(argnums.type) if argnums is not None else [Wrt(0, None)]
    with_aux = truth(has_aux.type) if has_aux is not None else False
    if wrt is None or with_aux is None:
        return None
    slopes = [_gradient(call, function, each) for each in wrt]
    is_one = argnums is None or not isinstance(argnums.type, TupleType)
    slope: Type = slopes[0] if is_one else call.checker.row([*slopes])
    value, aux = get_proper_type(function.ret_type), None
    if with_aux:
        if not isinstance(value, TupleType) or len(value.items) != 2:
            return None
        aux = value.items[1]
    if call.name.endswith("value_and_grad"):
        return call.checker.row([value if with_aux else _loss(value, call), slope])
    return slope if aux is None else call.checker.row([slope, aux])


def _loss(found: Type, call: Call) -> Type:
    """Return the type of a loss: an array where the function has no annotations."""
    array = call.checker.instance("jax.Array")
    return array if array is not None and isinstance(get_proper_type(found), AnyType) else found


def _with_aux(found: Type, call: Call) -> Type:
    """Return the type of a loss with what comes beside it."""
    row = get_proper_type(found)
    if isinstance(row, TupleType) and len(row.items) == 2:
        return call.checker.row([_loss(row.items[0], call), row.items[1]])
    return call.checker.row([_loss(row, call), row]) if isinstance(row, AnyType) else found


def _gradient(call: Call, function: CallableType, wrt: Wrt) -> Type:
    """Return the type of the gradient of one argument; Any where it is not known."""
    unknown = AnyType(TypeOfAny.special_form)
    if wrt.argnum < 0 or wrt.argnum >= len(function.arg_types):
        return unknown
    kinds = function.arg_kinds[: wrt.argnum + 1]
    if not all(kind.is_positional() for kind in kinds):
        return unknown
    argument = get_proper_type(function.arg_types[wrt.argnum])
    return argument if call.runtime == "jax" else _slope(argument, wrt, call) or unknown


def _slope(argument: types.ProperType, wrt: Wrt, call: Call) -> Instance | None:
    """Return the type of the gradient by an argument of a type; None where it is not known."""
    if not isinstance(argument, Instance):
        return None
    if is_state(argument.type) or kind_of(argument) in (Kind.ARRAY, Kind.VARIABLE):
        return argument
    if kind_of(argument) is None:
        return None
    return _state_of(argument, wrt.filter, call.checker, call.runtime)


def _state_of(
    model: types.ProperType, of: Filter | None, checker: Checker, runtime: str
) -> Instance | None:
    unknown: list[Type] = [AnyType(TypeOfAny.special_form)]
    state = checker.instance(f"{runtime}.State")
    param = checker.instance(f"{runtime}.Param")
    if state is None or param is None:
        return None
    like = Instance(state.type, unknown * len(state.type.defn.type_vars))
    return state_of(like, model, of if of is not None else of_class(param.type))


# -- calls of what they make ------------------------------------------------------------------


def _marked(made: Instance, call: Call) -> Instance | None:
    """Have a function that typed_nnx makes say what its gradients are of."""
    if not any(base.name in _MADE for base in made.type.mro):
        return None
    argnums, has_aux = call.keyword("argnums"), call.keyword("has_aux")
    first = types.LiteralType(0, call.checker.api.named_type("builtins.int"))
    marked = made.copy_with_extra_attr(_WRT, argnums.type if argnums is not None else first)
    if has_aux is not None and truth(has_aux.type):
        marked = marked.copy_with_extra_attr(_AUX, types.NoneType())
    return marked


@infers(*CALLS_OF_GRADIENTS)
def gradients_by_arguments(call: Call) -> Type | None:
    """Return gradients by the models that are given, not by the classes that a function asks for.

    A function that asks for a base class, and one without annotations, has no better types.
    """
    return at_home(_by_arguments(call), call.expression, call.checker)


def _by_arguments(call: Call) -> Type | None:
    made = get_proper_type(call.receiver)
    if not isinstance(made, Instance) or call.has_stars:
        return None
    said = entries_of(made)
    wrt = read_wrt(said[_WRT]) if _WRT in said else None
    if not wrt:
        return None
    slopes = [_slope_of_call(call, each, _parameters(made)) for each in wrt]
    is_tuple = isinstance(get_proper_type(said[_WRT]), TupleType)
    found = get_proper_type(call.result)
    is_valued = any(base.name == "ValueAndGradient" for base in made.type.mro)
    if not is_valued and _AUX not in said:
        return _better(found, slopes, call, is_tuple=is_tuple)
    if not isinstance(found, TupleType) or len(found.items) != 2:
        return None
    items = [*found.items]
    at = 1 if is_valued else 0
    items[at] = _better(items[at], slopes, call, is_tuple=is_tuple) or items[at]
    if is_valued:
        items[0] = _with_aux(items[0], call) if _AUX in said else _loss(items[0], call)
    return TupleType(items, found.partial_fallback)


def _better(
    before: Type, slopes: list[Instance | None], call: Call, *, is_tuple: bool
) -> Type | None:
    """Return the type of gradients in which those that are known stand for what was found before."""
    if not is_tuple:
        return slopes[0]
    kept = get_proper_type(before)
    known = kept.items if isinstance(kept, TupleType) else [kept] * len(slopes)
    if len(known) != len(slopes):
        return None
    return call.checker.row([one or other for one, other in zip(slopes, known, strict=True)])


def _slope_of_call(call: Call, wrt: Wrt, names: list[str | None]) -> Instance | None:
    if wrt.argnum < 0:
        return None
    positional = call.positional
    if wrt.argnum < len(positional):
        return _slope(positional[wrt.argnum].type, wrt, call)
    name = names[wrt.argnum] if wrt.argnum < len(names) else None
    given = call.keyword(name) if name is not None else None
    return _slope(given.type, wrt, call) if given is not None else None


def _parameters(made: Instance) -> list[str | None]:
    """Return the names of the parameters of the function that was differentiated."""
    base = next(each for each in made.type.mro if each.name in _MADE)
    signature = get_proper_type(map_instance_to_supertype(made, base).args[0])
    return list(signature.arg_names) if isinstance(signature, types.Parameters) else []
