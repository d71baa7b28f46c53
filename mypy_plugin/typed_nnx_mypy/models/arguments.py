"""What jax does with arguments of a type: whether it traces, differentiates and hashes them.

The answers are True only where they surely hold for all values of the type. Classes of users are
never sure: jax may know them by `jax.tree_util.register_pytree_node`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from mypy import types
from mypy.nodes import Var
from mypy.types import Instance, LiteralType, TupleType, Type, TypedDictType, get_proper_type

from typed_nnx_codegen.facts.kinds import Kind, is_dataclass, kind_of, kind_of_class
from typed_nnx_codegen.facts.names import runtime_of

_Test: TypeAlias = Callable[[Type], bool]

_UNTRACEABLE: Final = frozenset(
    {
        *("builtins.bytearray", "builtins.bytes", "builtins.ellipsis", "builtins.frozenset"),
        *("builtins.function", "builtins.range", "builtins.set", "builtins.slice"),
        *("builtins.str", "builtins.type", "numpy.dtype", "pathlib.Path", "pathlib.PurePath"),
        *("re.Pattern", "types.EllipsisType", "types.FunctionType"),
    }
)
_WHOLE_NUMBERS: Final = frozenset({"builtins.bool", "builtins.int"})
_UNHASHABLE: Final = frozenset(
    {
        "builtins.bytearray",
        "builtins.dict",
        "builtins.list",
        "builtins.set",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.deque",
    }
)


def is_untraceable(found: Type) -> bool:
    """Tell whether jax surely refuses values of a type as arguments of a traced function."""
    proper = get_proper_type(found)
    match proper:
        case Instance():
            return proper.type.fullname in _UNTRACEABLE
        case LiteralType():
            return proper.fallback.type.fullname in _UNTRACEABLE
        case types.TypeType():
            return True
        case types.CallableType():
            return proper.is_type_obj()
        case _:
            return _of_parts(proper, is_untraceable)


def is_not_differentiable(found: Type, *, allow_int: bool = False) -> bool:
    """Tell whether jax surely refuses to differentiate by values of a type.

    Args:
        found: The type.
        allow_int: Whether whole numbers are let through.
    """
    if allow_int:
        return is_untraceable(found)
    proper = get_proper_type(found)
    match proper:
        case Instance():
            name = proper.type.fullname
            return name in _WHOLE_NUMBERS | _UNTRACEABLE or _is_of_constants(proper)
        case LiteralType():
            return proper.fallback.type.fullname in _WHOLE_NUMBERS | _UNTRACEABLE
        case _:
            return is_untraceable(proper) or _of_parts(proper, is_not_differentiable)


def is_unhashable(found: Type) -> bool:
    """Tell whether values of a type surely have no hash, which static arguments need."""
    proper = get_proper_type(found)
    match proper:
        case Instance():
            info = proper.type
            is_state = info.name == "State" and bool(runtime_of(info.fullname))
            is_array = kind_of(proper) in (Kind.ARRAY, Kind.VARIABLE)
            return info.fullname in _UNHASHABLE or is_array or is_state
        case TypedDictType():
            return True
        case _:
            return _of_parts(proper, is_unhashable)


def _of_parts(found: Type, test: _Test) -> bool:
    """Tell whether all items of a union, or one part of a tuple, pass a test."""
    proper = get_proper_type(found)
    match proper:
        case types.UnionType():
            return all(test(each) for each in proper.items)
        case TupleType():
            return any(test(each) for each in proper.items)
        case TypedDictType():
            return any(test(proper.items[name]) for name in proper.required_keys)
        case _:
            return False


def _is_of_constants(found: Instance) -> bool:
    """Tell whether a type is a dataclass of texts and whole numbers, as configurations are."""
    info = found.type
    if not is_dataclass(info) or kind_of_class(info) is not None:
        return False
    fields = [
        symbol.node.type
        for base in info.mro
        for symbol in base.names.values()
        if isinstance(symbol.node, Var) and not symbol.node.name.startswith("__")
    ]
    return bool(fields) and all(each is not None and _is_constant(each) for each in fields)


def _is_constant(found: Type) -> bool:
    proper = get_proper_type(found)
    if isinstance(proper, types.UnionType):
        return all(_is_constant(each) for each in proper.items)
    if isinstance(proper, types.NoneType):
        return True
    return not isinstance(proper, TupleType) and is_not_differentiable(proper)
