# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Callable, Mapping
from jax.extend.core import ClosedJaxpr
from typed_nnx._transforms.make_jaxpr import Traceable
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R")

class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]

@overload
def eval_shape(f: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Return what a function returns with shapes in place of values; nothing is computed.

    The arguments stay as they are: Modules that come out are new ones. The shapes in a Variable have
    the sharding that its metadata says, on the mesh of the metadata or the current one: without
    ``out_sharding`` they are replicated over a current mesh.

    >>> import jax.numpy as jnp
    >>> eval_shape(lambda: Param(jnp.ones((2, 3)))).shape
    (2, 3)

    Args:
        f: The function, often the class of a Module.
        *args: Its arguments; may be abstract themselves.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.
        **kwargs: Its keyword arguments.

    Returns:
        The result, with `jax.ShapeDtypeStruct` in place of arrays.

    Raises:
        UnknownMeshAxisError: The mesh has no axis of a name in ``out_sharding``.
    """
@overload
def eval_shape(f: Callable[..., _R], _0: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], *args: Any, graph: bool | None, graph_updates: bool | None = None, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""
@overload
def eval_shape(f: Callable[..., _R], *args: Any, graph: bool | None = None, graph_updates: bool | None, **kwargs: Any) -> _R: """Return what a function returns with shapes in place of values; nothing is computed."""

@overload
def __call__(self: Traceable[_P], *args: _P.args, **kwargs: _P.kwargs) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
@overload
def __call__(self: Traceable[...], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> ClosedJaxpr: """Trace the function; nothing is computed and nothing changes."""
