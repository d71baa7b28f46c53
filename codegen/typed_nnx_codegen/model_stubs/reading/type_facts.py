"""mypy's types as types of facts, and what mypy does not keep of a class by itself.

For an attribute without an annotation mypy has one type, that of its first assignment, and of a
mixed list of layers it says that they are Modules. The types of all that is assigned are kept in the
metadata of the class, so in mypy's cache, and hold exactly as long as that does. All else that a
class says of its attributes is what the plugin finds: `typed_nnx_codegen.facts.fields`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Final, TypeAlias

from mypy.nodes import TypeInfo
from mypy.types import (
    AnyType,
    CallableType,
    DeletedType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    PartialType,
    ProperType,
    TupleType,
    TypedDictType,
    TypeOfAny,
    TypeType,
    TypeVarType,
    UninhabitedType,
    UnionType,
    UnpackType,
    get_proper_type,
)
from mypy.types import Type as MypyType

from typed_nnx_codegen.model_stubs import models
from typed_nnx_codegen.model_stubs.models import (
    Absent,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)

# No value has this type: mypy could not say it, or another place says it.
NOTHING = Union(())

_LONGEST = 60


def name_of(info: TypeInfo) -> str:
    """Return the name of a class in the module that defines it."""
    return f"{info.module_name}:{info.fullname.removeprefix(info.module_name + '.')}"


def _last(name: str) -> str:
    """Return the name of a type parameter without the module that it is written with."""
    return name.rpartition(".")[2]


def parameters_of(info: TypeInfo) -> tuple[str, ...]:
    """Return the names of the type parameters of a class."""
    return tuple(map(_last, info.type_vars))


def united(types: Iterable[Type]) -> Type:
    """Return the union of types; of one type, the type; of none, `NOTHING`."""
    items: dict[Type, None] = {}
    for each in types:
        items.update(dict.fromkeys(each.items if isinstance(each, Union) else (each,)))
    return next(iter(items)) if len(items) == 1 else Union(tuple(items))


def is_vague(found: Type) -> bool:
    """Tell whether a type says nothing about a part of it, as that of an empty list does."""
    match found:
        case Named(_, arguments):
            return any(map(is_vague, arguments))
        case Union(items) | Tuple(items):
            return found == NOTHING or any(map(is_vague, items))
        case Unknown():
            return True
        case _:
            return False


def type_fact(found: MypyType | None, parameters: frozenset[str] = frozenset()) -> Type:
    """Return what mypy's type means.

    Args:
        found: The type; None where mypy has none.
        parameters: The type parameters of the class; others become their bounds.
    """
    if found is None:
        return Unknown("mypy did not find a type")
    return _fact(get_proper_type(found), parameters, 0)


def _fact(found: ProperType, parameters: frozenset[str], depth: int) -> Type:  # noqa: C901  # one line per type
    def inner(each: MypyType) -> Type:
        return _fact(get_proper_type(each), parameters, depth + 1)

    if depth > 12:
        return Unknown("the type contains itself")
    match found:
        case NoneType():
            return Absent()
        case AnyType():
            return Unknown(_reason(found))
        case UninhabitedType() | PartialType() | DeletedType():
            return NOTHING
        case LiteralType():
            return inner(found.fallback)
        case Instance():
            if "@" in found.type.fullname or "<" in found.type.fullname:
                return Unknown("its class is local to a function")
            return Named(name_of(found.type), tuple(map(inner, found.args)))
        case TupleType():
            return _tuple(found, [inner(item) for item in found.items])
        case UnionType():
            return united(map(inner, found.items))
        case TypeVarType() if _last(found.name) in parameters and not found.id.is_self():
            return Parameter(_last(found.name))
        case TypeVarType():
            return united(map(inner, found.values)) if found.values else inner(found.upper_bound)
        case TypedDictType():
            return Named(name_of(found.fallback.type))
        case CallableType() | Overloaded() | TypeType():
            return Static(_short(str(found)))
        case _:
            return Unknown("its type is of a kind that has no place in a State")


def _tuple(found: TupleType, items: list[Type]) -> Type:
    kind = found.partial_fallback.type
    if kind.fullname != "builtins.tuple":  # a NamedTuple
        return Named(name_of(kind))
    if any(isinstance(item, UnpackType) for item in found.items):
        return Named("builtins:tuple", (Unknown("a tuple of unknown length"),))
    return Tuple(tuple(items))


def _reason(found: AnyType) -> str:
    if found.type_of_any == TypeOfAny.from_unimported_type:
        return "it comes from a module that was not followed"
    source = found.source_any or found
    missing = source.missing_import_name
    return f"{missing} could not be imported" if missing else "its type is Any"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def substitute(found: Type, arguments: Mapping[str, Type]) -> Type:
    """Return a type with type arguments in the place of type parameters."""
    match found:
        case Parameter(name):
            return arguments.get(name, found)
        case Named(name, own):
            return Named(name, tuple(substitute(each, arguments) for each in own))
        case Union(items):
            return united(substitute(each, arguments) for each in items)
        case Tuple(items):
            return Tuple(tuple(substitute(each, arguments) for each in items))
        case _:
            return found


# -- kept in classes -------------------------------------------------------------------------

Json: TypeAlias = Any  # what mypy's cache gives is not known to be of any type

_KEY: Final = "typed_nnx_assigned"


def keep(info: TypeInfo, order: int, types: Mapping[str, Type]) -> None:
    """Keep the types of what a class assigns to its attributes.

    Args:
        info: The class.
        order: Its place among the classes of the file. No line: other files would be checked anew
            whenever one is added above.
        types: The types, by the names of the attributes.
    """
    found = {name: _to_json(each) for name, each in types.items()}
    info.metadata[_KEY] = {"order": order, "types": found}


def order_of(info: TypeInfo) -> int:
    """Return the place of a class among those of its file."""
    order: int = info.metadata.get(_KEY, {}).get("order", 0)
    return order


def assigned_to(info: TypeInfo, name: str) -> Type | None:
    """Return the type of all that a class assigns to an attribute; None where it assigns nothing."""
    found = info.metadata.get(_KEY, {}).get("types", {}).get(name)
    return None if found is None else _from_json(found)


def _to_json(found: Type) -> Json:
    """Return a type as lists and texts."""
    values = [getattr(found, each.name) for each in fields(found)]
    return [
        type(found).__name__,
        *(list(map(_to_json, each)) if isinstance(each, tuple) else each for each in values),
    ]


def _from_json(data: Json) -> Type:
    kind, *values = data
    found: Type = getattr(models, kind)(
        *(tuple(map(_from_json, each)) if isinstance(each, list) else each for each in values)
    )
    return found
