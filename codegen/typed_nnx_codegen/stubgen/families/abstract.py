"""Builds the overloads of functions that take arguments or shapes of them.

``jit(f).lower(model, jax.ShapeDtypeStruct(...))`` has no type that says "the parameters of ``f``, of
which each may be a shape". The first overload has the parameters themselves; the others take what
has a shape as one of the first arguments and check nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from typed_nnx_codegen.stubgen.families.decorating import overload_text

IMPORTS = (
    "from collections.abc import Mapping",
    "from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload",
)
# What a `jax.ShapeDtypeStruct` has and an array has not; that class itself has parts that jax does
# not type, so that a public signature with it would count as not typed either.
PREAMBLE = """\
class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]
"""

MOST = 6
"""A shape is seen among so many first arguments."""


def abstract_overloads(
    name: str,
    result: str,
    *,
    before: tuple[str, ...],
    anything: tuple[str, ...],
    parameters: str = "P",
    indent: str = "",
    remark: str = "",
) -> str:
    """Return the overloads of one function.

    Args:
        name: Its name.
        result: The type of what it returns.
        before: The parameters before the arguments, with the function's own types.
        anything: The same for a function of any arguments.
        parameters: The name of the function's parameters.
        indent: What each line starts with.
        remark: A comment for the overloads with shapes.
    """
    own = (*before, f"*args: {parameters}.args", f"**kwargs: {parameters}.kwargs")
    return overload_text(name, own, result, indent=indent) + "".join(
        overload_text(name, (*anything, *found), result, indent=indent, remark=remark)
        for found in shape_parameters()
    )


def shape_parameters() -> Iterator[tuple[str, ...]]:
    """Yield the parameters with a shape in each place."""
    for place in range(MOST):
        given = [f"_{number}: Any" for number in range(place)]
        yield (*given, f"_{place}: _Shape", "*args: Any", "**kwargs: Any")
