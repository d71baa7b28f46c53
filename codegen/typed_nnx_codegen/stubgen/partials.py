"""Functions that bind the first arguments of a function, for each number of them."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.overloads import Overloads

MOST = 6
"""Up to so many bound arguments are checked."""

_NAMES = tuple(f"_A{number}" for number in range(1, MOST + 1))
_MODES = "graph: bool | None = None, graph_updates: bool | None = None"
# A sharding may be anything that jax takes for one, or a tree of them.
_JIT_OPTIONS = (
    "in_shardings: Any = None, out_shardings: Any = None, static_argnums: ArgNums = None, "
    "static_argnames: ArgNames = None, donate_argnums: ArgNums = None, "
    "donate_argnames: ArgNames = None, keep_unused: bool = False, device: Device | None = None, "
    f"backend: str | None = None, inline: bool = False, {_MODES}"
)


def _overloads(name: str, takes: str, gives: str, options: str) -> str:
    """Return an overload for each number of arguments and one for more.

    Args:
        name: The name of the function.
        takes: Its first parameter, with ``{0}`` in the place of the parameters of what it takes.
        gives: The type of what it returns, likewise.
        options: Its options.
    """
    lines = []
    for count in range(MOST + 1):
        names = _NAMES[:count]
        parameters = f"Concatenate[{', '.join(names)}, P]" if names else "P"
        bound = [*(f"_{number}: {each}" for number, each in enumerate(names, 1)), "/"]
        first = [takes.format(parameters), *(bound if names else ()), "*", options]
        lines.append(f"@overload\ndef {name}({', '.join(first)}) -> {gives.format('P')}: ...")
    anything = [f"_{number}: Any" for number in range(1, MOST + 2)]
    more = ", ".join([takes.format("..."), *anything, "/", "*more: Any", options])
    return "\n".join([*lines, f"@overload\ndef {name}({more}) -> {gives.format('...')}: ..."])


_JITTED = """
# What `jit` returns, and what is made of it. By its call: some checkers do not compare the parameters
# of a class that has names with those of one that has none.
class _Jitted(Protocol[P, R_co]):
    @property
    def _traced(self, /) -> Any: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ..."""

MODULES = (
    Overloads(
        "typed_nnx._transforms.partial_overloads",
        (
            "from collections.abc import Callable",
            "from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload",
            "from typed_nnx._transforms.cached_partial import CachedPartial, JitPartial",
            "from typed_nnx._transforms.engine.argnums import ArgNames, ArgNums",
            "from typed_nnx._transforms.jit import Device",
        ),
        [
            "\n".join(
                [
                    'P = ParamSpec("P")',
                    *(f'{name} = TypeVar("{name}")' for name in ("R", *_NAMES)),
                    'R_co = TypeVar("R_co", covariant=True)',
                ]
            ),
            _JITTED,
            _overloads("jit_partial", "fun: Callable[{}, R]", "JitPartial[{}, R]", _JIT_OPTIONS),
            _overloads("cached_partial", "f: _Jitted[{}, R]", "CachedPartial[{}, R]", _MODES),
        ],
    ),
)
