"""Lists of arrays of which it is not known how many there are: what functions make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.running.references import Headed, Repeated
from typed_nnx_codegen.migrate.linen.running.values import Array, Code, Shape, Size, Value
from typed_nnx_codegen.migrate.linen.shapes.arguments import Arguments
from typed_nnx_codegen.migrate.linen.shapes.axes import changed, inserted
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, number_of, prefixed
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim

_MODULES: Final = ("jax.numpy.", "numpy.")


def over_arrays(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """Return what a function makes of such a list, or the list that it makes; else None.

    Args:
        name: The public name of the function.
        args: The arguments by position.
        keywords: The arguments by name.
    """
    module = next((one for one in _MODULES if name.startswith(one)), "")
    call = Arguments(tuple(args), dict(keywords))
    function = name.removeprefix(module)
    if not module:
        return _sum(call) if name == "builtins.sum" else None
    if function in ("split", "array_split"):
        return _split(call)
    rule = _RULES.get(function)
    element = _element(call.get(0, "arrays", "object", "a"))
    return None if rule is None or element is None else rule(element, call)


def _element(value: Value) -> Shape | None:
    """Return the shape of each array of a list; None where the value is another."""
    if not isinstance(value, Repeated) or isinstance(value, Headed):
        return None
    return value.element.shape if isinstance(value.element, Array) else None


def _split(call: Arguments) -> Value | None:
    """Return the parts of an array that is split into a number of parts that fields say."""
    array, where = call.get(0, "ary"), call.get(1, "indices_or_sections")
    axis = call.integer(2, "axis", default=0)
    is_open = isinstance(where, Code | Size) and number_of(where) is None
    if not isinstance(array, Array) or not is_open or axis is None:
        return None
    size, count = array.shape.axis(axis), dim_of(where)
    is_number = isinstance(where, Size) or (isinstance(where, Code) and where.is_number)
    part: Dim | None = None
    if size is not None and count is not None and is_number:
        part = size // count
    return Repeated(Array(changed(array.shape, axis, part)))


def _stacked(element: Shape, call: Arguments) -> Value:
    axis = call.integer(1, "axis", default=0)
    return Array() if axis is None else Array(inserted(element, axis, None))


def _joined(element: Shape, call: Arguments) -> Value:
    axis = call.integer(1, "axis", default=0)
    return Array() if axis is None else Array(changed(element, axis, None))


def _as_array(element: Shape, call: Arguments) -> Value:
    del call
    return Array(prefixed((None,), element))


def _sum(call: Arguments) -> Value | None:
    element = _element(call.get(0))
    is_plain = len(call.positional) == 1 and not call.named
    return Array(element) if element is not None and is_plain else None


_RULES: Final[dict[str, Callable[[Shape, Arguments], Value]]] = {
    "stack": _stacked,
    "concatenate": _joined,
    "concat": _joined,
    "array": _as_array,
    "asarray": _as_array,
    **dict.fromkeys(
        ("mean", "sum", "max", "min"),
        lambda element, call: (
            Array(element) if call.integer(1, "axis", default=1) == 0 else Array()
        ),
    ),
}
