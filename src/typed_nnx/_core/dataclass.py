"""`dataclass`: dataclasses whose fields say with `data` and `static` what they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, overload

from typing_extensions import dataclass_transform

from typed_nnx._core.fields import data, static

T = TypeVar("T")


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
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
) -> Callable[[type[T]], type[T]]: ...
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
