"""What is data and what is static: annotations, rules and the marks that carry them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Generic, TypeVar, overload

import jax

from typed_nnx._core.data_types import DATA_TAG, STATIC_TAG, is_data_type
from typed_nnx._core.unset import UNSET
from typed_nnx.errors import ContainerCycleError

A = TypeVar("A")
T = TypeVar("T", bound=type)

Data = Annotated[A, DATA_TAG]
"""``x: nnx.Data[list[Block]]`` in a class body makes the attribute data."""

Static = Annotated[A, STATIC_TAG]
"""``x: nnx.Static[int]`` in a class body makes the attribute static."""


class Mark(Generic[A]):
    """A value under way to an attribute, annotated with `data` or `static`."""

    __slots__ = ("is_data", "value")

    def __init__(self, value: A, is_data: bool) -> None:
        self.value = value
        self.is_data = is_data

    @property
    def name(self) -> str:
        """The name of the annotation."""
        return "data" if self.is_data else "static"

    def __repr__(self) -> str:
        return f"nnx.{self.name}({self.value!r})"


def _annotated(is_data: bool, given: Any, options: dict[str, Any]) -> Any:
    if given is not UNSET and not options:
        return Mark(given, is_data)
    name = "data" if is_data else "static"
    if given is not UNSET:
        raise TypeError(
            f"nnx.{name}: got a value and the options {sorted(options)}; expected one or the "
            f"other.\n  Fix: nnx.{name}(value) when assigning an attribute, "
            f"nnx.{name}(default=value) for a dataclass field."
        )
    metadata = {**(options.pop("metadata", None) or {}), "static": not is_data}
    return dataclasses.field(metadata=metadata, **options)


@overload
def data(value: A, /) -> A: ...
@overload
def data(
    *,
    default: A,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> A: ...
@overload
def data(
    *,
    default_factory: Callable[[], A],
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> A: ...
@overload
def data(
    *,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> Any: ...
def data(value: Any = UNSET, /, **kwargs: Any) -> Any:
    """Annotate an attribute as data: its arrays are leaves for jax.

    ``self.x = nnx.data(value)`` annotates one assignment; ``x: int = nnx.data(default=0)`` is a
    field specifier of `nnx.dataclass` and takes the options of `dataclasses.field`.
    """
    return _annotated(True, value, kwargs)


@overload
def static(value: A, /) -> A: ...
@overload
def static(
    *,
    default: A,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> A: ...
@overload
def static(
    *,
    default_factory: Callable[[], A],
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> A: ...
@overload
def static(
    *,
    init: bool = True,
    repr: bool = True,
    hash: bool | None = None,
    compare: bool = True,
    metadata: dict[str, Any] | None = None,
    kw_only: bool = ...,
) -> Any: ...
def static(value: Any = UNSET, /, **kwargs: Any) -> Any:
    """Annotate an attribute as static: part of the structure, compared and not traced.

    The counterpart of `data`; assigning an array, Variable or Pytree with it is an error.
    """
    return _annotated(False, value, kwargs)


def is_data(value: Any, /) -> bool:
    """Whether an attribute with this value is data by default.

    Arrays, Variables, array references, Pytrees and values of registered types
    (`register_data_type`) are; everything else, plain containers too, is static.
    """
    verdict = is_data_type(type(value))
    return isinstance(value, jax.Array) if verdict is None else verdict


def has_data(value: Any, /) -> list[Any]:
    """Return the data values inside `value`, a plain container of any depth or a single value."""
    return [leaf for leaf in _leaves(value, is_data) if is_data(leaf)]


def _leaves(
    value: Any, is_leaf: Callable[[Any], bool], above: tuple[int, ...] = ()
) -> Iterator[Any]:
    """Yield the leaves of nested plain containers; what else jax knows is left to jax.

    jax would neither take dict keys of several types nor notice a container in itself.
    """
    if is_leaf(value):
        yield value
    elif type(value) in (list, tuple, dict):
        if id(value) in above:
            raise ContainerCycleError((), type(value).__name__)
        inside = value.values() if type(value) is dict else value
        for item in inside:
            yield from _leaves(item, is_leaf, (*above, id(value)))
    else:
        yield from jax.tree.leaves(value, is_leaf=is_leaf)


def contents_of(value: Any) -> list[Any]:
    """Return the leaves of a plain container, or a value itself, as `_nnx_status` is decided by them.

    Data, annotations and objects of flax.nnx are leaves. What is data of ours was looked at when it
    was put together, and may be part of a cycle.
    """
    stops = (Mark, *flax_kinds())
    return list(_leaves(value, lambda each: isinstance(each, stops) or is_data(each)))


_flax: tuple[Any, tuple[type, ...]] = (None, ())  # the module that was looked at, and its classes


def flax_kinds() -> tuple[type, ...]:
    """Return the classes of Modules and Variables of flax.nnx; nothing where nobody imported it."""
    global _flax
    module = sys.modules.get("flax.nnx")
    if module is _flax[0]:
        return _flax[1]
    if getattr(module, "__name__", None) != "flax.nnx":  # also where typed_nnx has taken the name
        return ()
    found = [getattr(module, name, None) for name in ("Pytree", "Variable")]
    kinds = tuple([each for each in found if isinstance(each, type)])
    if len(kinds) == len(found):  # else it is being imported
        _flax = (module, kinds)
    return kinds
