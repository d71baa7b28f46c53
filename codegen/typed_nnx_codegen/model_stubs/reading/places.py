"""What a value of a type is in a State: which place it has there, if any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

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
    Absent,
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

    def place(
        self, found: MypyType, *, marked: bool = False, has_functions: bool = True, depth: int = 0
    ) -> Type:
        """Return the place of a value.

        Args:
            found: Its type.
            marked: Whether it is marked as data, or in something that is.
            has_functions: Whether a value that can be called is taken for a function; in a list of
                layers it may be a Module.
            depth: How many types it is in.
        """
        proper = get_proper_type(found)
        match proper:
            case _ if depth > _DEEPEST:
                return Unknown("the type contains itself")
            case types.UnionType():
                return united(
                    self.place(each, marked=marked, has_functions=has_functions, depth=depth + 1)
                    for each in proper.items
                )
            case types.TupleType() if not _is_named_tuple(proper):
                inner = [self.place(each, marked=True, depth=depth + 1) for each in proper.items]
                has_data = marked or any(map(_has_data, proper.items))
                return _tuple(proper, inner) if has_data else Static()
            case Instance() if not _is_local(proper):
                return self._instance(proper, marked, depth)
            case types.CallableType() | types.Overloaded() | types.TypeType() if (
                marked or not has_functions
            ):
                return Unknown("what can be called may be a Module")
            case types.TypedDictType():
                return self._other(proper.fallback, marked)
            case types.TupleType():
                return self._other(proper.partial_fallback, marked)
            case _:
                return self.value(proper, depth)

    def _instance(self, found: Instance, marked: bool, depth: int) -> Type:
        info = found.type
        match kind_of(info):
            case Kind.VARIABLE | Kind.ARRAY:
                return self.value(found, depth)
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
            places = [self.value(Instance(self._classes.stream, []))]
        return Named(self._classes.public(base), tuple(places))

    def _other(self, found: Instance, marked: bool) -> Type:
        info = found.type
        if self._classes.may_be_model(info):
            return Unknown(f"what is declared as {short_name(found)} may be a model")
        if not marked:
            return Static()
        if is_scalar(info):
            return self.value(found)
        return Unknown(f"it is not known what data a {short_name(found)} has")

    def value(self, found: MypyType, depth: int = 0) -> Type:  # noqa: C901  # one line per type
        """Return a type as that of a value, in which every class stands for itself."""
        proper = get_proper_type(found)

        def inner(each: MypyType) -> Type:
            return self.value(each, depth + 1)

        match proper:
            case _ if depth > _DEEPEST:
                return Unknown("the type contains itself")
            case Instance() if _is_local(proper):
                return Unknown("its class is local to a function")
            case Instance():
                self._need(proper.type)
                is_array = kind_of(proper.type) is Kind.ARRAY
                arguments = () if is_array else tuple(map(inner, proper.args))
                return Named(self._classes.public(proper.type), arguments)
            case types.TupleType() if _is_named_tuple(proper):
                return inner(proper.partial_fallback)
            case types.TupleType():
                return _tuple(proper, [inner(item) for item in proper.items])
            case types.UnionType():
                return united(map(inner, proper.items))
            case types.TypeVarType():
                if last(proper.name) in self._parameters and not proper.id.is_self():
                    return Parameter(last(proper.name))
                bounds = proper.values or [proper.upper_bound]
                return united(self.place(each, depth=depth + 1) for each in bounds)
            case types.TypedDictType():
                return inner(proper.fallback)
            case types.LiteralType():
                return self.place(proper.fallback, depth=depth + 1)
            case types.NoneType():
                return Absent()
            case AnyType():
                return Unknown(_reason(proper))
            case types.CallableType() | types.Overloaded() | types.TypeType():
                return Static()
            case _:
                return Unknown("its type is of a kind that has no place in a State")


def _is_local(found: Instance) -> bool:
    return "@" in found.type.fullname or "<" in found.type.fullname


def _is_named_tuple(found: types.TupleType) -> bool:
    return found.partial_fallback.type.fullname != "builtins.tuple"


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
