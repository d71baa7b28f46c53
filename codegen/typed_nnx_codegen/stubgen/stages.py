"""`jit(f).lower(...)`, `eval_shape` and others that take arguments or shapes of them.

No type says "the parameters of ``f``, of which each may be a shape". The first overload has the
parameters themselves; the others take a shape as one of the first arguments and check nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from typed_nnx_codegen.stubgen.overloads import Overloads

MOST = 6
"""A shape is seen among so many first arguments."""

_STAGES = (
    ("trace", "Traced[_R]"),
    ("lower", "Lowered[_R]"),
    ("compile", "Compiled[_R]"),
    ("eval_shape", "_R"),
)
"""What a jitted function is asked for without being called, and what that returns."""

_MODES = ("graph", "graph_updates")

_IMPORTS = (
    "from collections.abc import Callable, Mapping",
    "from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload",
    "from jax.extend.core import ClosedJaxpr",
    "from typed_nnx._transforms.jit_stages import Compiled, HasStages, Lowered, Traced",
    "from typed_nnx._transforms.make_jaxpr import Traceable",
)
# What a `jax.ShapeDtypeStruct` has and an array has not; that class itself has parts that jax does
# not type, so that a public signature with it would count as not typed either.
_PREAMBLE = """\
_P = ParamSpec("_P")
_R = TypeVar("_R")

class _Struct(Protocol):
    @property
    def shape(self) -> Any: ...
    def update(self, **kwargs: Any) -> Any: ...

_Shape: TypeAlias = _Struct | tuple[_Struct, ...] | list[_Struct] | Mapping[Any, _Struct]
"""


def _overloads(name: str, of: str, result: str, *, more: tuple[tuple[str, ...], ...] = ()) -> str:
    """Return the overloads of a function.

    Args:
        name: Its name.
        of: Its first parameter, with ``{}`` in the place of the parameters of the user's function.
        result: The type of what it returns.
        more: Parameters of more overloads.
    """
    known = (of.format("_P"), "*args: _P.args", "**kwargs: _P.kwargs")
    shapes = [(of.format("..."), *found) for found in _shape_parameters()]
    return "\n".join(
        f"@overload\ndef {name}({', '.join(parameters)}) -> {result}: ..."
        for parameters in (known, *shapes, *more)
    )


def _shape_parameters() -> Iterator[tuple[str, ...]]:
    """Yield the parameters with a shape in each place."""
    for place in range(MOST):
        given = [f"_{number}: Any" for number in range(place)]
        yield (*given, f"_{place}: _Shape", "*args: Any", "**kwargs: Any")


def _with_modes() -> Iterator[tuple[str, ...]]:
    """Yield the parameters of `eval_shape` with its options: none may stand after ``P.args``."""
    for needed in _MODES:
        modes = [f"{name}: bool | None" + ("" if name == needed else " = None") for name in _MODES]
        yield ("f: Callable[..., _R]", "*args: Any", *modes, "**kwargs: Any")


MODULES = (
    Overloads(
        "typed_nnx._transforms.stage_overloads",
        _IMPORTS,
        [
            _PREAMBLE,
            *(_overloads(name, "self: HasStages[{}, _R]", result) for name, result in _STAGES),
        ],
    ),
    Overloads(
        "typed_nnx._transforms.shape_overloads",
        _IMPORTS,
        [
            _PREAMBLE,
            _overloads("eval_shape", "f: Callable[{}, _R]", "_R", more=tuple(_with_modes())),
            _overloads("__call__", "self: Traceable[{}]", "ClosedJaxpr"),
        ],
    ),
)
