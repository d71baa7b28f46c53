"""The Variable types that every model uses, and the registry of Variable types by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from typed_nnx._core.settings import MISSING, Missing
from typed_nnx._core.variable import Variable
from typed_nnx.errors import VariableError

A = TypeVar("A")
V = TypeVar("V", bound=type[Variable[Any]])

_by_name: dict[str, type[Variable[Any]]] = {}


@overload
def register_variable_name(name: str, typ: V, *, overwrite: bool = False) -> V: ...
@overload
def register_variable_name(
    name: str, typ: Missing = MISSING, *, overwrite: bool = False
) -> Callable[[V], V]: ...
def register_variable_name(
    name: str, typ: V | Missing = MISSING, *, overwrite: bool = False
) -> V | Callable[[V], V]:
    """Give a Variable type a name, the collection name that Linen and checkpoints use.

    Works as a decorator when `typ` is left out.

    Raises:
        VariableError: Another type has the name and `overwrite` is False.
    """
    if isinstance(typ, Missing):
        return lambda cls: register_variable_name(name, cls, overwrite=overwrite)
    if name in _by_name and not overwrite:
        raise _name_error(f"the name {name!r} already belongs to {_by_name[name].__name__}", name)
    _by_name[name] = typ
    return typ


def variable_type_from_name(
    name: str, /, *, base: type[Variable[Any]] = Variable, allow_register: bool = False
) -> type[Variable[Any]]:
    """Return the Variable type with a registered name.

    Args:
        name: The name.
        base: Base class of a type that has to be made.
        allow_register: Make and register a new type when the name is unknown.

    Raises:
        VariableError: The name is unknown and `allow_register` is False.
    """
    if name not in _by_name:
        if not allow_register:
            raise _name_error(f"no Variable type has the name {name!r}", name)
        register_variable_name(name, type(name, (base,), {"__slots__": ()}))
    return _by_name[name]


def variable_name_from_type(typ: type[Variable[Any]], /, *, allow_register: bool = False) -> str:
    """Return the registered name of a Variable type.

    Args:
        typ: The type.
        allow_register: Register the type under its class name when it has no name.

    Raises:
        VariableError: The type has no name and `allow_register` is False.
    """
    for name, known in _by_name.items():
        if known is typ:
            return name
    if not allow_register:
        problem = f"the Variable type {typ.__name__} has no registered name"
        raise _name_error(problem, typ.__name__)
    name = typ.__name__
    if name in _by_name:
        raise _name_error(f"the name {name!r} already belongs to {_by_name[name]!r}", name)
    _by_name[name] = typ
    return name


def _name_error(problem: str, name: str) -> VariableError:
    fix = (
        f"nnx.register_variable_name({name!r}, YourVariable), with overwrite=True to replace "
        "another type, or pass allow_register=True"
    )
    return VariableError("Variable names", f"{problem}.", fix)


@register_variable_name("params")
class Param(Variable[A]):
    """A parameter that is trained."""

    __slots__ = ()


@register_variable_name("batch_stats")
class BatchStat(Variable[A]):
    """A running statistic of batch normalization."""

    __slots__ = ()


@register_variable_name("cache")
class Cache(Variable[A]):
    """State that autoregressive decoding keeps between steps."""

    __slots__ = ()


@register_variable_name("intermediates")
class Intermediate(Variable[A]):
    """A value that `Module.sow` recorded."""

    __slots__ = ()


@register_variable_name("perturbations")
class Perturbation(Intermediate[A]):
    """A zero that `Module.perturb` adds, so that its gradient is that of an intermediate value."""

    __slots__ = ()


class LoRAParam(Param[A]):
    """A parameter of a low-rank adapter."""

    __slots__ = ()


class OptState(Variable[A]):
    """Any state of an optimizer."""

    __slots__ = ()


class OptArray(OptState[A]):
    """State of an optimizer that belongs to no Variable."""

    __slots__ = ()


class OptVariable(OptState[A]):
    """State of an optimizer that belongs to one Variable and carries its metadata."""

    __slots__ = ()


class MetricState(Variable[A]):
    """What a metric has accumulated."""

    __slots__ = ()


class _HijaxMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Variable) and value.hijax


class HijaxVariable(metaclass=_HijaxMeta):
    """For ``isinstance``: a Variable that was made with ``hijax=True``, which here is metadata only."""

    __slots__ = ()
