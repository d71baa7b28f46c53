# Generated from the source of typed_nnx._transforms.jit_stages by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

import functools
import jax
from collections.abc import Mapping
from typed_nnx._core.bounded import Bounded
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.interned import Interned
from typed_nnx._transforms.jit_program import Program
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.lifted import Unseen
from typed_nnx._transforms.signature import Signature
from typing import Any
from typing import Concatenate
from typing import Generic
from typing import NamedTuple
from typing import ParamSpec
from typing import Protocol
from typing import Self
from typing import TypeAlias
from typing import TypeVar
from typing import overload

class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]

A = TypeVar("A")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")

class Stage(Generic[R]):
    _program: Program
    _stage: Any
    def __init__(self, program: Program, stage: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    @property
    def args_info(self) -> Any: ...
    @property
    def in_avals(self) -> Any: ...
    @property
    def in_tree(self) -> Any: ...
    @property
    def donate_argnums(self) -> tuple[int, ...]: ...
    @property
    def out_info(self) -> Any: ...
    @property
    def out_tree(self) -> Any: ...
    @property
    def updates_info(self) -> Any: ...
    def __repr__(self) -> str: ...

def _struct_of(aval: Any) -> jax.ShapeDtypeStruct: ...

class Traced(Stage[R]):
    @property
    def jaxpr(self) -> Any: ...
    def with_bound(self, bound: tuple[Any, ...]) -> Traced[R]: ...
    @property
    def fun_name(self) -> str: ...
    @property
    def out_avals(self) -> Any: ...
    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered[R]: ...

class Lowered(Stage[R]):
    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled[R]: ...
    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str: ...
    def compiler_ir(self, dialect: str | None = None) -> Any: ...
    def cost_analysis(self) -> Any: ...

class Compiled(Stage[R]):
    def __call__(self, *args: Any, **kwargs: Any) -> R: ...
    def call(self, *args: Any, **kwargs: Any) -> R: ...
    def as_text(self) -> str | None: ...
    def cost_analysis(self) -> Any: ...
    def memory_analysis(self) -> Any: ...
    def runtime_executable(self) -> Any: ...
    @property
    def input_shardings(self) -> Any: ...
    @property
    def input_formats(self) -> Any: ...
    @property
    def input_layouts(self) -> Any: ...
    @property
    def output_shardings(self) -> Any: ...
    @property
    def output_formats(self) -> Any: ...
    def _outputs(self, given: Any, found: Any) -> Any: ...

class Outputs(NamedTuple):
    result: Any
    updates: Any

class HasStages(Generic[P, R]):
    @overload
    def trace(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: Any,
        _1: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: Any,
        _1: Any,
        _2: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def trace(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: Any,
        _5: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Traced[R]: ...
    @overload
    def lower(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: Any,
        _1: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: Any,
        _1: Any,
        _2: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def lower(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: Any,
        _5: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Lowered[R]: ...
    @overload
    def compile(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: Any,
        _1: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: Any,
        _1: Any,
        _2: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def compile(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: Any,
        _5: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> Compiled[R]: ...
    @overload
    def eval_shape(
        self,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: Any,
        _1: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: Any,
        _1: Any,
        _2: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    @overload
    def eval_shape(
        self,
        _0: Any,
        _1: Any,
        _2: Any,
        _3: Any,
        _4: Any,
        _5: _Shape,
        *args: Any,
        **kwargs: Any,
    ) -> R: ...
    def _traced(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Traced[R]: ...
    def _shapes(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> R: ...

class Staged(Lifted[P, R], HasStages[P, R]):
    _options: Any
    _jitted: Any
    _signatures: Interned
    _with_shardings: Bounded[Signature, Any]
    def _gather(self, args: Any, kwargs: Any) -> Call: ...
    def _intern(self, call: Call) -> Signature: ...
    def _jitted_for(self, signature: Signature, call: Call) -> Any: ...
    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]: ...
    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R: ...
    def with_lift(self, lift: Lift) -> Self: ...
    def clear_cache(self) -> None: ...
    def _cache_size(self) -> int: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: Lifted[[Unseen], S], instance: object, owner: Any = None
    ) -> JitMethod[..., S]: ...
    @overload
    def __get__(
        self: Lifted[Concatenate[A, Q], S], instance: A, owner: Any = None
    ) -> JitMethod[Q, S]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> JitMethod[..., R]: ...  # pyright: ignore[reportIncompatibleMethodOverride]

class JitMethod(functools.partial[R], HasStages[P, R], Generic[P, R]):
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @property
    def _staged(self) -> Staged[..., R]: ...
    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Traced[R]: ...
    def _shapes(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R: ...
