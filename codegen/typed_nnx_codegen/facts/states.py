"""What the type of a State says of its model and its filter, and its leaves.

A State carries both in entries of its type that no annotation can name, so that they go wherever
the type goes: through variables, containers, generic functions and mypy's cache. Where it has none,
as after an annotation, typed_nnx's ``State[K, V, M, F]`` has them as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy import types
from mypy.nodes import TypeInfo
from mypy.types import AnyType, Instance, ProperType, Type, TypeType, get_proper_type

from typed_nnx_codegen.facts.filter_syntax import filter_of_type
from typed_nnx_codegen.facts.filters import (
    FILTER,
    Filter,
    OfType,
    Unknown,
    decode,
    entries_of,
    of_class,
    with_entries,
)
from typed_nnx_codegen.facts.kinds import arguments_at, runtime_base

MODEL: Final = "__nnx_model__"
_MAPPED: Final = "__nnx_mapped__"
_PURE: Final = "__nnx_pure__"
_ARGUMENTS: Final = 4
"""How many type arguments a State has where its model and filter are among them."""


@dataclass(frozen=True)
class StateView:
    """A State, with what is known of it.

    Attributes:
        instance: The State itself.
        model: The type of the model, or of the part of a model, whose State it is.
        filter: What of it is in the State, by paths that are relative to `model`.
        values: What its leaves are where a function made them: the type of their values, Any where
            that is not known; None where they are those of the model.
        is_pure: Whether its leaves are values themselves, without Variables around them.
    """

    instance: Instance
    model: ProperType
    filter: Filter
    values: ProperType | None = None
    is_pure: bool = False


def is_state(info: TypeInfo) -> bool:
    """Tell whether a class is a State."""
    return state_class(info) is not None


def state_class(info: TypeInfo) -> TypeInfo | None:
    """Return the class State that a class is, or is derived from."""
    return runtime_base(info, "State")


def has_entries(state: Instance) -> bool:
    """Tell whether the plugin has found out of which model a State is."""
    return MODEL in entries_of(state)


def view_of(found: Type) -> StateView | None:
    """Return what is known of a State; None where it is no State or nothing is known."""
    return _view(found, takes_entries=True)


def declared_view_of(found: Type) -> StateView | None:
    """Return what the arguments of the type of a State say, which mypy itself keeps right."""
    return _view(found, takes_entries=False)


def _view(found: Type, *, takes_entries: bool) -> StateView | None:
    instance = get_proper_type(found)
    state = state_class(instance.type) if isinstance(instance, Instance) else None
    if state is None or not isinstance(instance, Instance):
        return None
    entries = entries_of(instance if takes_entries else None)
    arguments = arguments_at(instance, "State")
    model, kind = arguments[2:] if len(arguments) == _ARGUMENTS else (None, None)
    if not _is_known(model):
        # What an annotation says goes first: mypy keeps its type variables up to date.
        model = get_proper_type(entries.get(MODEL))
    if model is None or not _is_known(model):
        return None
    of = _declared(kind) if kind is not None else Unknown()
    if FILTER in entries:
        of = decode(entries[FILTER])
    values = get_proper_type(entries.get(_MAPPED))
    return StateView(instance, model, of, values, is_pure=_PURE in entries)


def _is_known(model: ProperType | None) -> bool:
    return model is not None and not isinstance(
        model, AnyType | types.TypeVarType | types.UninhabitedType
    )


def _declared(kind: ProperType) -> Filter:
    """Return the filter that the argument of a State stands for; `...` is what others left."""
    if isinstance(kind, TypeType) and isinstance(kind.item, Instance):
        return of_class(kind.item.type)
    if isinstance(kind, Instance) and kind.type.fullname in (
        "types.EllipsisType",
        "builtins.ellipsis",
    ):
        return Unknown()
    return filter_of_type(kind)


def state_of(
    like: Instance,
    model: ProperType,
    of: Filter,
    *,
    values: ProperType | None = None,
    is_pure: bool = False,
) -> Instance:
    """Return the type of the State of a model.

    Args:
      like: The type of a State, whose class the result has.
      model: The type of the model.
      of: What of the model is in the State.
      values: The type of the values, where the leaves are results of a function.
      is_pure: Whether the leaves are values themselves, without Variables around them.
    """
    entries: dict[str, Type | Filter] = {MODEL: model, FILTER: of}
    if values is not None:
        entries[_MAPPED] = values
    if is_pure:
        entries[_PURE] = types.NoneType()
    arguments = list(like.args)
    if len(arguments) == _ARGUMENTS and like.type.name == "State":
        arguments[2] = model
        if isinstance(of, OfType) and isinstance(get_proper_type(arguments[3]), AnyType):
            arguments[3] = TypeType(of.type)
    return with_entries(Instance(like.type, arguments), entries)
