"""What values of a type are for the runtimes: Variables, Pytrees, arrays, or something that is static.

The rule is that of both runtimes: a jax or numpy array, an array reference, a Variable and a Pytree
are data; in plain lists, tuples, dicts and in a State the runtimes look for data; sets they take as
they are. Of any other class (a dataclass that jax knows, a class of `nnx.register_data_type`) a type
does not say it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Final

from mypy import types
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.subtypes import is_same_type
from mypy.types import CallableType, Instance, ProperType, Type, TypeVarType, get_proper_type

from typed_nnx_codegen.facts.names import runtime_of


class Kind(Enum):
    """What a value is by itself."""

    VARIABLE = auto()
    PYTREE = auto()
    LIST = auto()
    DICT = auto()
    ARRAY = auto()


ARRAY: Final = "jax._src.basearray.Array"
"""The full name of ``jax.Array``."""

_ARRAYS: Final = frozenset(
    {
        "jax._src.array.ArrayImpl",
        ARRAY,
        "jax._src.core.Ref",
        "jax._src.core.Tracer",
        "numpy.ndarray",
    }
)
_SEQUENCES: Final = frozenset({"builtins.list", "builtins.tuple"})
_MAPPINGS: Final = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.defaultdict"}
)
_SETS: Final = frozenset({"builtins.set", "builtins.frozenset"})
_ABSTRACT_SEQUENCES: Final = frozenset(
    f"typing.{name}" for name in ("Collection", "Iterable", "MutableSequence", "Sequence")
)
_ABSTRACT_MAPPINGS: Final = frozenset(("typing.Mapping", "typing.MutableMapping"))
_BASES: Final = ("Metric", "Module", "Object", "Pytree", "RNNCellBase")
_STATES: Final = ("State", "FlatState")

# Values of these classes, and of what is derived from them, are never data.
_STATIC: Final = frozenset(
    {
        "builtins.bytearray",
        "builtins.bytes",
        "builtins.complex",
        "builtins.float",
        "builtins.frozenset",
        "builtins.int",
        "builtins.range",
        "builtins.set",
        "builtins.slice",
        "builtins.str",
        "builtins.type",
        "collections.deque",
        "enum.Enum",
        "jax._src.api.ShapeDtypeStruct",
        "jax._src.core.ShapeDtypeStruct",
        "numpy.dtype",
        "numpy.generic",
        "pathlib.PurePath",
        "re.Pattern",
        "types.BuiltinFunctionType",
        "types.EllipsisType",
        "types.FunctionType",
        "types.MethodType",
        "types.ModuleType",
    }
)
FILTER: Final = "a filter"
FUNCTION: Final = "a function"
# What aliases and private classes of the runtimes say to people.
_PRIVATE: Final = re.compile(r"\b_")
_EXPECTED: Final = {
    **dict.fromkeys(("Filter", "_AnyFilter", "_Selective"), FILTER),
    "_Jitted": "a function of nnx.jit",
}
_DEEPEST: Final = 8
_DEEPEST_TEXT: Final = 3
_LONGEST: Final = 60


# -- classes ----------------------------------------------------------------------------------


def runtime_base(info: TypeInfo, *names: str) -> TypeInfo | None:
    """Return the class of a runtime, by one of some names, that a class is or is derived from."""
    named = (base for base in info.mro if base.name in names and runtime_of(base.fullname))
    return next(named, None)


def runtime_of_class(info: TypeInfo) -> str:
    """Return the runtime that a class is derived from; empty where it is none's."""
    return next((found for base in info.mro if (found := runtime_of(base.fullname))), "")


def is_of_runtime(info: TypeInfo, name: str) -> bool:
    """Tell whether a member is as a runtime defines it; mypy may know it from `object` only."""
    base = info.get_containing_type_info(name)
    return base is None or base.fullname == "builtins.object" or bool(runtime_of(base.fullname))


def arguments_at(found: Instance, *names: str) -> list[ProperType]:
    """Return the arguments of a type for the class of a runtime that it is derived from."""
    base = runtime_base(found.type, *names)
    arguments = map_instance_to_supertype(found, base).args if base is not None else ()
    return [get_proper_type(each) for each in arguments]


def is_dataclass(info: TypeInfo) -> bool:
    """Tell whether a class is a dataclass, of Python or of a `dataclass_transform`."""
    return "dataclass" in info.metadata or "dataclass_tag" in info.metadata


def is_base_class(info: TypeInfo) -> bool:
    """Tell whether a class is a runtime's own Module or the like, whose objects have more."""
    return info.name in _BASES and bool(runtime_of(info.fullname))


def is_pytree(info: TypeInfo) -> bool:
    """Tell whether objects of a class are Pytrees of a runtime."""
    return runtime_base(info, "Pytree") is not None


def is_variable(info: TypeInfo) -> bool:
    """Tell whether objects of a class are Variables of a runtime."""
    return runtime_base(info, "Variable") is not None


def is_rngs(info: TypeInfo) -> bool:
    """Tell whether objects of a class are Rngs, whose streams are attributes."""
    return runtime_base(info, "Rngs") is not None and is_pytree(info)


def is_searched_state(info: TypeInfo) -> bool:
    """Tell whether objects of a class are States, in which the runtimes look for data."""
    return info.name in _STATES and bool(runtime_of(info.fullname))


def kind_of_class(info: TypeInfo) -> Kind | None:
    """Return what objects of a class are; None for what is nothing by itself."""
    if is_variable(info):
        return Kind.VARIABLE
    if is_pytree(info):
        base = runtime_base(info, "List", "Dict")
        return Kind.PYTREE if base is None else Kind.LIST if base.name == "List" else Kind.DICT
    if any(base.fullname in _ARRAYS for base in info.mro):
        return Kind.ARRAY
    return None


def kind_of_plain(info: TypeInfo) -> Kind | None:
    """Return whether a class is a plain list or dict, or what either may be declared as."""
    if info.fullname in _SEQUENCES | _ABSTRACT_SEQUENCES:
        return Kind.LIST
    return Kind.DICT if info.fullname in _MAPPINGS | _ABSTRACT_MAPPINGS else None


# -- types ------------------------------------------------------------------------------------


def options(found: Type) -> tuple[list[ProperType], bool]:
    """Return what a type may be, None left out, and whether it may be None."""
    items = _flat(get_proper_type(found))
    kept = [each for each in items if not isinstance(each, types.NoneType)]
    return kept, len(kept) < len(items)


def _flat(found: ProperType) -> list[ProperType]:
    if not isinstance(found, types.UnionType):
        return [found]
    return [part for each in found.items for part in _flat(get_proper_type(each))]


def kind_of(found: Type) -> Kind | None:
    """Return what values of a type are; None for what is nothing by itself, and unions."""
    proper = get_proper_type(found)
    if isinstance(proper, TypeVarType):
        proper = get_proper_type(proper.upper_bound)
    return kind_of_class(proper.type) if isinstance(proper, Instance) else None


def value_type(found: ProperType) -> ProperType:
    """Return the type of the value of a Variable; an array is its own value."""
    if not isinstance(found, Instance) or not is_variable(found.type):
        return found
    arguments = arguments_at(found, "Variable")
    return arguments[0] if arguments else types.AnyType(types.TypeOfAny.special_form)


def holds_array(found: ProperType) -> bool:
    """Tell whether a Variable surely holds an array of jax."""
    value = value_type(found)
    return isinstance(value, Instance) and value.type.fullname == ARRAY


def with_value(found: ProperType, value: ProperType) -> ProperType | None:
    """Return the type of a leaf with another value; None where its class fixes what it holds."""
    if not isinstance(found, Instance) or not is_variable(found.type):
        return value
    same = is_same_type(value_type(found), value)
    return found if same else Instance(found.type, [value]) if len(found.args) == 1 else None


def holds_data(found: Type) -> bool | None:
    """Tell whether values of a type hold data: are an array, Variable or Pytree or contain one.

    Returns:
        True: surely, unless a container is empty. False: surely not. None: the type does not say.
    """
    return _holds(found, 0)


def _holds(found: Type, depth: int) -> bool | None:
    if depth > _DEEPEST:
        return None
    proper = get_proper_type(found)
    match proper:
        case types.NoneType() | types.LiteralType() | types.TypeType():
            return False
        case Instance():
            return _instance_holds(proper, depth)
        case types.TupleType():
            return _any_holds(proper.items, depth)
        case types.TypedDictType():
            required = [each for name, each in proper.items.items() if name in proper.required_keys]
            if _any_holds(required, depth):
                return True
            return False if _any_holds(proper.items.values(), depth) is False else None
        case types.UnionType(items=choices) | TypeVarType(values=[_, *_] as choices):
            said = {_holds(each, depth + 1) for each in choices}
            return said.pop() if len(said) == 1 else None
        case TypeVarType():
            return _holds(proper.upper_bound, depth + 1)
        case CallableType() | types.Overloaded():
            # A callable may be a Module; a function or class that mypy has seen is none.
            definition = getattr(proper, "definition", None)
            return False if proper.is_type_obj() or definition is not None else None
        case _:
            return None


def _instance_holds(found: Instance, depth: int) -> bool | None:
    info = found.type
    if kind_of_class(info) is not None or is_searched_state(info):
        return True
    names = {base.fullname for base in info.mro}
    if names & _STATIC:
        return False
    if info.fullname in _SEQUENCES or info.fullname in _MAPPINGS:
        return _holds(found.args[-1], depth + 1) if found.args else None
    return None


def _any_holds(items: Iterable[Type], depth: int) -> bool | None:
    said = {
        None if isinstance(get_proper_type(each), types.UnpackType) else _holds(each, depth + 1)
        for each in items
    }
    if True in said:
        return True
    return None if None in said else False


def is_plain_container(found: Type) -> bool:
    """Tell whether values of a type are built-in lists, tuples, dicts or sets."""
    proper = get_proper_type(found)
    match proper:
        case Instance():
            return proper.type.fullname in _SEQUENCES | _MAPPINGS | _SETS
        case types.TupleType() | types.TypedDictType():
            return True
        case _:
            return False


def is_set(found: Type) -> bool:
    """Tell whether values of a type are built-in sets, into which the runtimes do not look."""
    proper = get_proper_type(found)
    return isinstance(proper, Instance) and proper.type.fullname in _SETS


def literal(found: Type | None) -> str | int | None:
    """Return the text or the whole number that a type has as its only value."""
    value = _only_value(found)
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def truth(found: Type | None) -> bool | None:
    """Return True or False where a type has it as its only value."""
    value = _only_value(found)
    return value if isinstance(value, bool) else None


def _only_value(found: Type | None) -> object:
    proper = get_proper_type(found)
    if isinstance(proper, Instance) and proper.last_known_value is not None:
        proper = proper.last_known_value
    return proper.value if isinstance(proper, types.LiteralType) else None


# -- text -------------------------------------------------------------------------------------


def data_in(found: Type) -> str:
    """Return what holds data in a type, for messages: ``jax.Array``, ``Linear``, ``list[Param]``."""
    proper = get_proper_type(found)
    if isinstance(proper, types.UnionType):
        return " | ".join(data_in(each) for each in proper.items)
    return short_name(proper)


def short_name(found: Type) -> str:
    """Return a type as people say it, without the names of modules."""
    name = _short(found, 0)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."


def _short(found: Type, depth: int) -> str:
    proper = get_proper_type(found)
    if depth > _DEEPEST_TEXT:
        return "..."
    match proper:
        case Instance():
            return _short_instance(proper, _all_short(proper.args, depth))
        case types.TupleType():
            name = proper.partial_fallback.type.name
            return f"tuple[{_all_short(proper.items, depth)}]" if name == "tuple" else name
        case types.UnionType():
            return " | ".join(_short(each, depth + 1) for each in proper.items)
        case types.TypedDictType():
            return proper.fallback.type.name
        case types.TypeType():
            return f"type[{_short(proper.item, depth + 1)}]"
        case CallableType() | types.Overloaded() if proper.is_type_obj():
            return f"type[{_short(proper.items[0].ret_type, depth + 1)}]"
        case CallableType() | types.Overloaded():
            return "function"
        case types.NoneType():
            return "None"
        case TypeVarType():
            return proper.name
        case types.LiteralType():
            return f"Literal[{proper.value_repr()}]"
        case _:
            return "Any"


def expected_texts(formal: Type) -> Iterator[str]:
    """Yield what a parameter takes, as people say it; nothing of what is private to a signature."""
    alias = formal.alias if isinstance(formal, types.TypeAliasType) else None
    proper = get_proper_type(formal)
    name = alias.name if alias is not None else _class_name(proper)
    match proper:
        case _ if name in _EXPECTED:
            yield _EXPECTED[name]
        case types.UnionType():
            items = [text for each in proper.items for text in expected_texts(each)]
            is_like_array = {"jax.Array", "numpy.ndarray"} <= {*items}
            yield from (["an array", "a number"] if is_like_array else items)
        case TypeVarType():
            yield from expected_texts(proper.upper_bound)
        case types.LiteralType():
            yield short_name(proper.fallback)
        case CallableType() | types.Overloaded() if not proper.is_type_obj():
            yield FUNCTION
        case Instance() if proper.type.is_protocol and proper.type.get("__call__") is not None:
            yield FUNCTION
        case Instance() if proper.type.is_protocol and runtime_of(proper.type.fullname):
            pass
        case Instance() if name.startswith("_"):
            pass
        case Instance() if runtime_of(proper.type.fullname) or is_plain_container(proper):
            yield proper.type.name
        case types.TupleType():
            yield proper.partial_fallback.type.name
        case _ if not _PRIVATE.search(short_name(proper)):
            yield short_name(proper)
        case _:
            pass


def _class_name(found: ProperType) -> str:
    return found.type.name if isinstance(found, Instance) else ""


def _all_short(items: Iterable[Type], depth: int) -> str:
    return ", ".join(_short(each, depth + 1) for each in items)


def _short_instance(found: Instance, arguments: str) -> str:
    info = found.type
    kind = kind_of_class(info)
    if kind is Kind.ARRAY:
        name = "Array" if info.name == "ArrayImpl" else info.name
        return "numpy.ndarray" if info.fullname == "numpy.ndarray" else f"jax.{name}"
    is_ours = kind is Kind.VARIABLE or (kind is Kind.PYTREE and bool(runtime_of(info.fullname)))
    if is_ours or is_searched_state(info) or not arguments:
        return info.name
    if info.fullname == "builtins.tuple":
        arguments += ", ..."
    return f"{info.name}[{arguments}]"
