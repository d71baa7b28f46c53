# Written by `make stubs`. Do not edit. There is no such module at run time: these are the types
# that checkers give to the functions of the source with `typed_as`.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

from collections.abc import Mapping
from typed_nnx._transforms.jit_stages import Compiled, HasStages, Lowered, Traced
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

_P = ParamSpec("_P")
_R = TypeVar("_R")

class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]

@overload
def trace(self: HasStages[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> Traced[_R]:
    """Trace the function for arguments, which stay as they are.

    Args:
        *args: Arguments, or abstract ones.
        **kwargs: Keyword arguments.
    """
@overload
def trace(self: HasStages[..., _R], _0: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""
@overload
def trace(self: HasStages[..., _R], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""
@overload
def trace(self: HasStages[..., _R], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""
@overload
def trace(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""
@overload
def trace(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""
@overload
def trace(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> Traced[_R]: """Trace the function for arguments, which stay as they are."""

@overload
def lower(self: HasStages[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""
@overload
def lower(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> Lowered[_R]: """Trace the function for arguments and translate it to the input of the compiler."""

@overload
def compile(self: HasStages[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""
@overload
def compile(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> Compiled[_R]: """Compile the function for arguments, which stay as they are."""

@overload
def eval_shape(self: HasStages[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: Any, _1: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: Any, _1: Any, _2: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
@overload
def eval_shape(self: HasStages[..., _R], _0: Any, _1: Any, _2: Any, _3: Any, _4: Any, _5: _Shape, *args: Any, **kwargs: Any) -> _R: """Return what the function returns with shapes in place of values."""
