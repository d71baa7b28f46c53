"""What a value of a type is in a State: which place it has there, if any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from mypy import types
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.types import AnyType, Instance, TypeOfAny, get_proper_type
from mypy.types import Type as MypyType

from typed_nnx_codegen.facts.fields import Field
from typed_nnx_codegen.facts.kinds import (
    holds_data,
    kind_of_plain,
    options,
    runtime_base,
    short_name,
)
from typed_nnx_codegen.model_stubs.models import (
    Kind,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)
from typed_nnx_codegen.model_stubs.reading.classes import (
    Classes,
    container_of,
    is_scalar,
    kind_of,
    last,
    parameters_of,
)

_PLAIN = {Kind.LIST: "builtins:list", Kind.DICT: "builtins:dict"}
_DEEPEST = 12


def united(types: Iterable[Type]) -> Type:
    """Return the union of types; of one type, the type; of none, one without items."""
    items: dict[Type, None] = {}
    for each in types:
        items.update(dict.fromkeys(each.items if isinstance(each, Union) else (each,)))
    return next(iter(items)) if len(items) == 1 else Union(tuple(items))


class Places:
    """Finds the places of types for the attributes of one class.

    Args:
        owner: The class, whose type parameters stand for themselves.
        need: Is told of every class that a place needs.
    """

    def __init__(self, classes: Classes, owner: TypeInfo, need: Callable[[TypeInfo], None]) -> None:
        self._classes = classes
        self._parameters = frozenset(parameters_of(owner))
        self._need = need

    def of_field(self, field: Field) -> Type:
        """Return the place of an attribute."""
        if not field.is_ready:
            return Unknown("no value was seen")
        if field.is_marked and field.status == "static":
            return Static()
        # In a Sequential what can be called may be a Module.
        in_row = runtime_base(field.owner, "Sequential") is field.owner
        found = self.place(field.type, marked=field.is_marked, has_functions=not in_row)
        if not field.is_exact:
            return found
        items = found.items if isinstance(found, Union) else (found,)
        return united(replace(e, is_exact=True) if isinstance(e, Named) else e for e in items)

    def place(  # noqa: C901  # one line per type
        self,
        found: MypyType,
        *,
        as_value: bool = False,
        marked: bool = False,
        has_functions: bool = True,
        depth: int = 0,
    ) -> Type:
        """Return the place of a value.

        Args:
            found: Its type.
            as_value: Whether it stands in the type of a Variable, where every class is itself.
            marked: Whether it is marked as data, or in something that is.
            has_functions: Whether a value that can be called is taken for a function; in a list of
                layers it may be a Module.
            depth: How many types it is in.
        """
        proper = get_proper_type(found)
        inside = partial(self.place, depth=depth + 1)
        match proper:
            case _ if depth > _DEEPEST:
                return Unknown("the type contains itself")
            case types.UnionType():
                same = partial(
                    inside, as_value=as_value, marked=marked, has_functions=has_functions
                )
                return united(map(same, proper.items))
            case Instance() if _is_local(proper):
                return Unknown("its class is local to a function")
            case Instance():
                if as_value:
                    return self._value(proper, depth)
                return self._instance(proper, depth, marked)
            case (
                types.TypedDictType(fallback=fallback) | types.TupleType(partial_fallback=fallback)
            ) if fallback.type.fullname != "builtins.tuple":
                return (
                    inside(fallback, as_value=True) if as_value else self._other(fallback, marked)
                )
            case types.TupleType():
                items = [inside(each, as_value=as_value, marked=True) for each in proper.items]
                has_data = as_value or marked or any(map(_has_data, proper.items))
                return _tuple(proper, items) if has_data else Static()
            case types.TypeVarType():
                if last(proper.name) in self._parameters and not proper.id.is_self():
                    return Parameter(last(proper.name))
                return united(map(inside, proper.values or [proper.upper_bound]))
            case types.LiteralType():
                return inside(proper.fallback)
            case types.NoneType():
                return Static("None")
            case AnyType():
                return Unknown(_reason(proper))
            case types.CallableType() | types.Overloaded() | types.TypeType():
                may_be_module = not as_value and (marked or not has_functions)
                return Unknown("what can be called may be a Module") if may_be_module else Static()
            case _:
                return Unknown("its type is of a kind that has no place in a State")

    def _instance(self, found: Instance, depth: int, marked: bool) -> Type:
        info = found.type
        match kind_of(info):
            case Kind.VARIABLE | Kind.ARRAY:
                return self._value(found, depth)
            case Kind.PYTREE:
                self._need(info)
                inner = tuple(self.place(each, depth=depth + 1) for each in found.args)
                return Named(self._classes.public(info), inner)
            case Kind.LIST | Kind.DICT:
                return self._container(found, depth)
            case None if plain := kind_of_plain(info):
                if not marked and not any(map(_has_data, found.args[-1:])):
                    return Static()
                self._need(info)
                items = (self.place(e, marked=True, depth=depth + 1) for e in found.args[-1:])
                return Named(_PLAIN[plain], tuple(items))
            case None:
                return self._other(found, marked)

    def _container(self, found: Instance, depth: int) -> Type:
        """Return a List, Dict or Rngs; subclasses that add nothing are the same."""
        base = container_of(found.type)
        self._need(base)
        items = map_instance_to_supertype(found, base).args
        places = [self.place(each, has_functions=False, depth=depth + 1) for each in items]
        if not items and self._classes.stream is not None:
            places = [self._value(Instance(self._classes.stream, []))]
        return Named(self._classes.public(base), tuple(places))

    def _other(self, found: Instance, marked: bool) -> Type:
        info = found.type
        if self._classes.may_be_model(info):
            return Unknown(f"what is declared as {short_name(found)} may be a model")
        if not marked:
            return Static()
        if is_scalar(info):
            return self._value(found)
        return Unknown(f"it is not known what data a {short_name(found)} has")

    def _value(self, found: Instance, depth: int = 0) -> Type:
        """Return an object as that of a value: a Variable, an array, or what stands in one."""
        self._need(found.type)
        arguments = [] if kind_of(found.type) is Kind.ARRAY else found.args
        inner = (self.place(each, as_value=True, depth=depth + 1) for each in arguments)
        return Named(self._classes.public(found.type), tuple(inner))


def _is_local(found: Instance) -> bool:
    return "@" in found.type.fullname or "<" in found.type.fullname


def _tuple(found: types.TupleType, items: list[Type]) -> Type:
    if any(isinstance(item, types.UnpackType) for item in found.items):
        return Named("builtins:tuple", (Unknown("a tuple of unknown length"),))
    return Tuple(tuple(items))


def _reason(found: AnyType) -> str:
    if found.type_of_any == TypeOfAny.from_unimported_type:
        return "it comes from a module that was not followed"
    source = found.source_any or found
    missing = source.missing_import_name
    return f"{missing} could not be imported" if missing else "its type is Any"


def _has_data(found: MypyType) -> bool:
    """Tell whether a plain container of such values is data without a mark."""
    return any(isinstance(e, types.TypeVarType) or holds_data(e) for e in options(found)[0])
