"""What is data and what is static: annotations, rules and the marks that carry them."""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Generic,
    Never,
    TypeVar,
    get_args,
    get_origin,
    overload,
)

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from typing_extensions import Format, dataclass_transform, get_annotations

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx.errors import ArgumentTypeError, ForeignModuleError, GraphError, PytreeAttributeError

T = TypeVar("T", bound=type)

DATA_TAG = "__data__"
STATIC_TAG = "__static__"

_data_types: list[type] = [Variable, GraphNode, np.ndarray]


def register_data_type(type_: T, /) -> T:
    """Make values of a type (and its subclasses) data wherever they are assigned.

    Works as a class decorator.
    """
    if type_ not in _data_types:
        _data_types.append(type_)
        _decided.cache_clear()
    return type_


def _decide(cls: type) -> bool | None:
    """Whether values of a type are data by default; None for tracers, which say it one by one."""
    if issubclass(cls, tuple(_data_types)):
        return True
    if issubclass(cls, jax.core.Tracer):
        return None
    return issubclass(cls, jax.Array | jax.Ref)


_decided = functools.lru_cache(maxsize=4096)(_decide)

# With this type mypy does not ask whether the *instances* of the class have a hash.
is_data_type: Callable[[type], bool | None] = _decided


# With `from __future__ import annotations` an annotation is a text: `nnx.Data[list]`.
_TEXT = re.compile(r"^\s*(?:[\w]+\.)*(Data|Static)\s*\[")


def _tag_of(annotation: object) -> bool | None:
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        found = _TEXT.match(annotation)
        return None if found is None else found.group(1) == "Data"
    if get_origin(annotation) is Annotated:
        tags = get_args(annotation)[1:]
        if DATA_TAG in tags:
            return True
        if STATIC_TAG in tags:
            return False
    return None


def _annotated_in(cls: type) -> Iterator[tuple[str, bool]]:
    # Python 3.14 evaluates annotations on demand, and a name in them may not exist yet.
    for name, annotation in get_annotations(cls, format=Format.FORWARDREF).items():
        tag = _tag_of(annotation)
        if tag is not None:
            yield name, tag
    for name, value in list(
        vars(cls).items()
    ):  # `x: int = nnx.data()` without a dataclass decorator
        if isinstance(value, dataclasses.Field) and "static" in value.metadata:
            yield name, not value.metadata["static"]
    fields: Mapping[str, Any] = vars(cls).get("__dataclass_fields__", {})
    for name, field in fields.items():
        if "static" in field.metadata:
            yield name, not field.metadata["static"]


def declared_statuses(cls: type) -> dict[str, bool]:
    """Return the attributes that a class declares as data (True) or static (False)."""
    found: dict[str, bool] = {}
    for base in reversed(cls.__mro__):
        found.update(_annotated_in(base))
    return found


A = TypeVar("A")

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
        return "data" if self.is_data else "static"

    def __repr__(self) -> str:
        return f"nnx.{self.name}({self.value!r})"


def _annotated(is_data: bool, given: object, options: dict[str, Any]) -> Any:
    if given is not MISSING and not options:
        return Mark(given, is_data)
    name = "data" if is_data else "static"
    if given is not MISSING:
        raise ArgumentTypeError(
            f"nnx.{name}",
            f"got a value and the options {sorted(options)}; expected one or the other.",
            f"nnx.{name}(value) when assigning an attribute, nnx.{name}(default=value) for a "
            "dataclass field.",
        )
    metadata = {**(options.pop("metadata", None) or {}), "static": not is_data}
    return dataclasses.field(metadata=metadata, **options)


@overload  # an empty container says nothing of what the attribute will hold
def data(value: dict[Never, Never] | list[Never], /) -> Any: ...
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
def data(value: Any = MISSING, /, **kwargs: Any) -> Any:
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
def static(value: Any = MISSING, /, **kwargs: Any) -> Any:
    """Annotate an attribute as static: part of the structure, compared and not traced.

    Used like `data`: around a value that is assigned, or as a field specifier of `nnx.dataclass`.

    Raises:
        PytreeAttributeError: The value holds an array, Variable or Pytree; raised where it is
            assigned.
    """
    return _annotated(False, value, kwargs)


def is_data(value: object, /) -> bool:
    """Whether an attribute with this value is data by default.

    Arrays, Variables, array references, Pytrees and values of registered types
    (`register_data_type`) are; everything else, plain containers too, is static.
    """
    verdict = is_data_type(type(value))
    return isinstance(value, jax.Array) if verdict is None else verdict


def has_data(value: object, /) -> list[Any]:
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
            raise GraphError.contains_itself((), value)
        inside = value.values() if type(value) is dict else value
        for item in inside:
            yield from _leaves(item, is_leaf, (*above, id(value)))
    else:
        yield from jax.tree.leaves(value, is_leaf=is_leaf)


def contents_of(value: object) -> list[Any]:
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


Cls = TypeVar("Cls")


@overload
def dataclass(cls: type[Cls], /) -> type[Cls]: ...
@overload
def dataclass(  # the options of dataclasses.dataclass
    *,
    init: bool = True,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    slots: bool = False,
    weakref_slot: bool = False,
) -> Callable[[type[Cls]], type[Cls]]: ...
@dataclass_transform(field_specifiers=(data, static, dataclasses.field))
def dataclass(  # noqa: PLR0913  # the options of dataclasses.dataclass
    cls: Any = None,
    /,
    *,
    init: bool = True,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    match_args: bool = True,
    kw_only: bool = False,
    slots: bool = False,
    weakref_slot: bool = False,
) -> Any:
    """Make a Pytree class a dataclass; `nnx.data` and `nnx.static` are its field specifiers.

    The options are those of `dataclasses.dataclass`; the repr stays that of Pytrees.
    """
    decorate = dataclasses.dataclass(
        repr=False,
        init=init,
        eq=eq,
        order=order,
        unsafe_hash=unsafe_hash,
        match_args=match_args,
        kw_only=kw_only,
        slots=slots,
        weakref_slot=weakref_slot,
    )
    return decorate if cls is None else decorate(cls)


# Values of these types hold neither arrays nor annotations.
_INNOCENT: frozenset[type] = frozenset(
    {
        str, int, bool, float, complex, bytes, type, type(None), type(...),
        types.FunctionType, types.BuiltinFunctionType, types.MethodType, type(jnp.float32),
    }
)  # fmt: skip


def needs_no_check(value: object) -> bool:
    """Whether a value of this type can hold neither data nor an annotation."""
    return type(value) in _INNOCENT


def decide_status(
    node: object,
    name: str,
    value: object,
    mark: bool | None,
    declared: bool | None,
    current: bool | None,
) -> bool:
    """Return whether an attribute becomes data, or raise if it must not have this value.

    `mark` is what an annotation at the assignment says, `declared` what the class declares, `current`
    what the attribute is now.
    """
    holder = type(node)
    innocent = needs_no_check(value)
    is_child = not innocent and is_data(value)
    inside = [] if innocent or is_child else _data_inside(holder, name, value)
    if mark is not None:
        if not mark and (is_child or inside):
            raise PytreeAttributeError(holder, name, value, "marked")
        return mark
    if declared is not None:
        if not declared and (is_child or inside):
            raise PytreeAttributeError(holder, name, value, "declared")
        return declared
    if current:
        return True
    if is_child and current is False:
        raise PytreeAttributeError(holder, name, value, "assigned")
    if inside:
        found = sorted({type(leaf).__name__ for leaf in inside})
        raise PytreeAttributeError(holder, name, value, "contains", found)
    return is_child


def _data_inside(holder: type, name: str, value: object) -> list[Any]:
    """Return the data inside a value; raise where it holds annotations, or something of flax.nnx."""
    data: list[Any] = []
    kinds = flax_kinds()
    leaves = contents_of(value)
    marks = {leaf.name for leaf in leaves if isinstance(leaf, Mark)}
    if marks:
        found = sorted(marks, reverse=True)
        raise PytreeAttributeError(holder, name, value, "nested", found)
    for leaf in leaves:
        if isinstance(leaf, kinds):
            kind = type(leaf).__name__
            raise ForeignModuleError(
                f"{holder.__name__}.{name}",
                f"the value is, or holds, a {kind} of flax.nnx; gradients, optimizers, States and "
                "checkpoints of typed_nnx would leave it out.",
                f"build {kind} with `import typed_nnx as nnx`, or for code of other packages call "
                "nnx.install_as_flax_nnx() before importing it",
            )
        if is_data(leaf):
            data.append(leaf)
    return data


def check_attributes(
    node: object, attributes: Mapping[str, Any], statuses: Mapping[str, bool]
) -> None:
    """Check attributes again after construction: later changes to containers went past assignment."""
    for name, value in attributes.items():
        if needs_no_check(value) or is_data(value):
            continue
        if _data_inside(type(node), name, value) and not statuses.get(name, True):
            raise PytreeAttributeError(type(node), name, value, "declared")
