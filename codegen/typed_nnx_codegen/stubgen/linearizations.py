"""`vjp` and `jvp`: cotangents and tangents by the types of the arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typed_nnx_codegen.stubgen.overloads import Overloads

MOST = 4
"""Up to so many arguments have types of their own."""

_MODES = "graph: bool | None = ..., graph_updates: bool | None = ..."
_VJP_OPTIONS = f"reduce_axes: Sequence[Hashable] = ..., {_MODES}"
_STATE = "State[Any, Any, Any, Any]"
_MORE = f"Unpack[tuple[{'Any, ' * (MOST + 1)}Unpack[tuple[Any, ...]]]]"

# (has_aux, what the function returns, what comes after the result and its derivative)
_AUX = (
    ("has_aux: Literal[False] = ...", "R", ""),
    ("has_aux: Literal[True]", "tuple[R, _X]", ", _X"),
)


def _overload(name: str, parameters: Sequence[str], result: str) -> str:
    return f"@overload\ndef {name}({', '.join(parameters)}) -> {result}: ..."


def _arguments(count: int) -> list[str]:
    return [f"_A{n}" for n in range(count)]


def _vjp() -> Iterator[str]:
    for has_aux, value, aux in _AUX:
        options = [has_aux, _VJP_OPTIONS]
        unknown = f"tuple[R, Pullback[R, tuple[Any, ...]]{aux}]"
        for count in range(1, MOST + 1):
            own = ", ".join(_arguments(count))
            result = f"tuple[R, Pullback[R, tuple[{own}]]{aux}]"
            primals = f"*primals: Unpack[tuple[{own}]]"
            yield _overload("vjp", [f"f: Callable[[{own}], {value}]", primals, *options], result)
        primals = f"*primals: {_MORE}"
        yield _overload("vjp", [f"f: Callable[..., {value}]", primals, *options], unknown)
        function, made = f"Callable[P, {value}]", f"Vjp[P, {unknown}]"
        yield _overload("vjp", [f"f: {function}", "*", *options], made)
        yield _overload("vjp", ["*", *options], f"Callable[[{function}], {made}]")


def _jvp() -> Iterator[str]:
    for has_aux, value, aux in _AUX:
        options = ["*", has_aux, _MODES]
        result = f"tuple[R, R{aux}]"
        for count in range(1, MOST + 1):
            own = _arguments(count)
            tangents = ", ".join(f"{name} | {_STATE}" for name in own)
            parameters = [
                f"f: Callable[[{', '.join(own)}], {value}]",
                f"primals: tuple[{', '.join(own)}]",
                f"tangents: tuple[{tangents}] | list[Any]",
            ]
            yield _overload("jvp", [*parameters, *options], result)
        more = f"list[Any] | tuple[{'Any, ' * (MOST + 1)}Unpack[tuple[Any, ...]]]"
        parameters = [f"f: Callable[..., {value}]", f"primals: {more}", "tangents: Sequence[Any]"]
        yield _overload("jvp", [*parameters, *options], result)
        function = f"Callable[..., {value}]"
        yield _overload("jvp", [f"f: {function}", *options], f"Jvp[{result}]")
        yield _overload("jvp", options, f"Callable[[{function}], Jvp[{result}]]")


_TYPES = "\n".join(
    [
        'P = ParamSpec("P")',
        *(f'{name} = TypeVar("{name}")' for name in ["R", *_arguments(MOST), "_X"]),
    ]
)

MODULES = (
    Overloads(
        "typed_nnx._transforms.vjp_overloads",
        (
            "from collections.abc import Callable, Hashable, Sequence",
            "from typing import Any, Literal, ParamSpec, TypeVar, Unpack, overload",
            "from typed_nnx._core.state import State",
            "from typed_nnx._transforms.vjp import Jvp, Pullback, Vjp",
        ),
        [_TYPES, "\n".join(_vjp()), "\n".join(_jvp())],
    ),
)
