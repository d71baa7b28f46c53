"""What type checkers see of the classes that are made when flax is there; never imported at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import jax

from typed_nnx._core.modules import Module
from typed_nnx._core.variable import Variable

if TYPE_CHECKING:
    from flax import linen

A = TypeVar("A")
B = TypeVar("B")


class NNXMeta(Generic[A]):
    """A Linen variable that carries the type and the metadata of the Variable it was."""

    var_type: type[Variable[A]]
    value: A
    metadata: dict[str, Any]

    def __init__(self, var_type: type[Variable[A]], value: A, metadata: dict[str, Any]) -> None: ...
    def unbox(self) -> A:
        raise NotImplementedError

    def replace(self, **updates: Any) -> Self:
        raise NotImplementedError

    def replace_boxed(self, val: B) -> NNXMeta[B]:
        raise NotImplementedError

    def add_axis(self, index: int, params: dict[Any, Any]) -> NNXMeta[A]:
        raise NotImplementedError

    def remove_axis(self, index: int, params: dict[Any, Any]) -> NNXMeta[A]:
        raise NotImplementedError

    def get_partition_spec(self) -> jax.sharding.PartitionSpec:
        raise NotImplementedError

    def to_nnx_variable(self) -> Variable[A]:
        raise NotImplementedError


class ToLinen(linen.Module):  # type: ignore[misc]  # mypy does not follow flax; its names are Any
    """A Linen module around a Module; its methods are methods of this one."""

    nnx_class: Callable[..., Module]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    skip_rng: bool
    metadata_fn: Callable[[Variable[Any]], Any] | None

    def __init__(
        self,
        nnx_class: Callable[..., Module],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] = ...,
        skip_rng: bool = False,
        metadata_fn: Callable[[Variable[Any]], Any] | None = ...,
        parent: Any = ...,
        name: str | None = None,
    ) -> None: ...
    def __call__(
        self, *args: Any, nnx_method: Callable[..., Any] | str | None = None, **kwargs: Any
    ) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError
