"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from typed_nnx_codegen.migrate.linen.running.values import Array, Const, Shape, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments, Rule, names
from typed_nnx_codegen.migrate.linen.shapes.axes import changed
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


def _along_one(call: Arguments) -> Value:
    return _transformed(call, lambda size: size)


def _to_half(call: Arguments) -> Value:
    return _transformed(call, _half)


def _half(size: Dim) -> Dim:
    return size // 2 + 1


def _transformed(call: Arguments, made: Callable[[Dim], Dim]) -> Value:
    shape, axis = call.shape(0, "a"), call.integer(2, "axis", default=-1)
    if axis is None:
        return Array()
    size = shape.axis(axis) if call.is_none(1, "n") else dim_of(call.get(1, "n"))
    return Array(changed(shape, axis, None if size is None else made(size)))


def _from_half(call: Arguments) -> Value:
    shape, axis = call.shape(0, "a"), call.integer(2, "axis", default=-1)
    if axis is None:
        return Array()
    if not call.is_none(1, "n"):
        return Array(changed(shape, axis, dim_of(call.get(1, "n"))))
    size = shape.axis(axis)
    return Array(changed(shape, axis, None if size is None else (size - 1) * 2))


def _along_several(call: Arguments) -> Value:
    return Array(call.shape(0, "a")) if call.is_none(1, "s") else Array()


def _several_to_half(call: Arguments) -> Value:
    shape, axes = call.shape(0, "a"), call.axes(2, "axes")
    if axes is None and call.is_none(2, "axes"):
        axes = (-1,)
    if axes is None or not call.is_none(1, "s"):
        return Array()
    size = shape.axis(axes[-1])
    return Array(changed(shape, axes[-1], None if size is None else _half(size)))


def _frequencies(call: Arguments) -> Value:
    return Array(Shape((dim_of(call.get(0, "n")),)))


def _half_frequencies(call: Arguments) -> Value:
    size = dim_of(call.get(0, "n", default=Const(None)))
    return Array(Shape((None if size is None else _half(size),)))


FOURIER: Final[dict[str, Rule]] = {
    **dict.fromkeys(names("fft ifft"), _along_one),
    **dict.fromkeys(names("fft2 ifft2 fftn ifftn"), _along_several),
    **dict.fromkeys(names("rfft2 rfftn"), _several_to_half),
    "fftshift": lambda call: Array(call.shape(0, "x")),
    "ifftshift": lambda call: Array(call.shape(0, "x")),
    "rfft": _to_half,
    "irfft": _from_half,
    "fftfreq": _frequencies,
    "rfftfreq": _half_frequencies,
}
