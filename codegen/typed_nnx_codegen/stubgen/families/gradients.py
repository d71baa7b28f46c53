"""`grad` and `value_and_grad`: gradients by the types of the arguments that are chosen.

A function whose type holds an ``Any`` may fit several overloads, and mypy then gives up: for the
same options the overloads below exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.gradient_parts import (
    IMPORTS,
    PROTOCOLS,
    Chosen,
    choices,
    function_protocols,
    joined,
    names,
    type_variables,
)
from typed_nnx_codegen.stubgen.families.gradient_results import RESULTS, result_classes

_OPTIONS = "holomorphic: bool = ..., allow_int: bool = ..., reduce_axes: Sequence[Hashable] = ..."
# With these the gradient by a Module is a Module.
_TREES = (
    "graph: Literal[False], graph_updates: bool | None = ...",
    "graph: bool | None = ..., graph_updates: Literal[False]",
)
_MODES = "graph: bool | None = ..., graph_updates: bool | None = ..."
_CLASSES = {"grad": "Gradient", "value_and_grad": "ValueAndGradient"}

# Positions that are counted from the end, or that few functions have, and other orders.
_OTHER_POSITIONS = "Literal[-1, -2, -3, -4, 4, 5, 6, 7]"
_OTHER_PAIRS = (
    "tuple[Literal[1, 2, 3], Literal[0]] | tuple[Literal[2, 3], Literal[1]]"
    " | tuple[Literal[3], Literal[2]]"
)
_OTHERS = (
    f"{_OTHER_POSITIONS} | DiffState[int, Any] | {_OTHER_PAIRS}"
    " | list[int] | list[DiffState[Any, Any]] | list[int | DiffState[Any, Any]]"
)


def _overload(name: str, parameters: list[str], result: str) -> str:
    return f"@overload\ndef {name}({joined(parameters)}) -> {result}: ..."


def _has_aux(has_aux: bool) -> str:
    return "has_aux: Literal[True]" if has_aux else "has_aux: Literal[False] = ..."


def _function_type(chosen: Chosen, has_aux: bool) -> str:
    value = "tuple[_R, _X]" if has_aux else "_R"
    return f"{chosen.function}[_P, {joined(names('A', chosen.count))}, {value}] | _NoFunction"


def _result_type(name: str, chosen: Chosen, has_aux: bool) -> str:
    made = RESULTS.get((name, has_aux), RESULTS[name, False])
    own = [*names("A", chosen.count), *names("F", chosen.count), "_P"]
    if made.of == "_X_co":
        own.append("_X")
    elif made.of is not None:
        own.append("tuple[_R, _X]" if has_aux else "_R")
    return f"{made.name}{chosen.result}[{joined(own)}]"


def _precise(name: str, *, is_decorator: bool) -> Iterator[str]:
    for chosen in choices():
        for has_aux in (False, True):
            function = _function_type(chosen, has_aux)
            result = _result_type(name, chosen, has_aux)
            argnums = f"argnums: {chosen.argnums}" + (" = ..." if chosen.is_default else "")
            options = [argnums, _has_aux(has_aux), _OPTIONS, _MODES]
            if is_decorator:
                yield _overload(name, ["*", *options], f"Callable[[{function}], {result}]")
            else:
                yield _overload(name, [f"f: {function}", "*", *options], result)


def _by_trees(name: str) -> Iterator[str]:
    """Yield the overloads for ``graph=False`` and ``graph_updates=False``."""
    for modes in _TREES:
        for chosen in choices():
            if chosen.is_tuple:
                continue
            for has_aux in (False, True):
                argnums = f"argnums: Literal[{chosen.positions[0]}]"
                argnums += " = ..." if chosen.is_default else ""
                parameters = [f"f: {_function_type(chosen, has_aux)}", "*", argnums]
                parameters += [_has_aux(has_aux), _OPTIONS, modes]
                yield _overload(name, parameters, _tree_result(name, has_aux))
        parameters = ["f: Callable[_P, Any]", "*", "argnums: tuple[Any, ...] | list[Any]"]
        yield _overload(
            name,
            [*parameters, "has_aux: bool = ...", _OPTIONS, modes],
            f"{_CLASSES[name]}[_P, Any]",
        )
        parameters = ["*", "argnums: DiffArgs = ...", "has_aux: bool = ...", _OPTIONS, modes]
        yield _overload(
            name, parameters, f"Callable[[Callable[_P, Any]], {_CLASSES[name]}[_P, Any]]"
        )


def _tree_result(name: str, has_aux: bool) -> str:
    value = "tuple[_R, _X]" if has_aux else "_R"
    result = "tuple[_A0, _X]" if has_aux else "_A0"
    if name == "value_and_grad":
        result = f"tuple[{value}, _A0]"
    return f"{_CLASSES[name]}[_P, {result}]"


def _imprecise(name: str) -> Iterator[str]:
    """Yield overloads for positions whose types are not told apart."""
    for has_aux in (False, True):
        aux = "tuple[_R, _X]" if has_aux else "_R"
        result = "tuple[Any, _X]" if has_aux else "Any"
        if name == "value_and_grad":
            result = f"tuple[{aux}, Any]"
        made = f"{_CLASSES[name]}[_P, {result}]"
        options = [f"argnums: {_OTHERS}", _has_aux(has_aux), _OPTIONS, _MODES]
        yield _overload(name, [f"f: Callable[_P, {aux}]", "*", *options], made)
        yield _overload(name, ["*", *options], f"Callable[[Callable[_P, {aux}]], {made}]")


def _unknown(name: str) -> str:
    """Return the overload for functions without a known signature: first, for functools.partial."""
    options = ["argnums: DiffArgs = ...", "has_aux: bool = ...", _OPTIONS, _MODES]
    return _overload(name, ["f: _AnyFunction", "*", *options], f"{_CLASSES[name]}[..., Any]")


def _definition(name: str) -> str:
    return "\n".join(
        [
            _unknown(name),
            *_by_trees(name),
            *_precise(name, is_decorator=False),
            *_precise(name, is_decorator=True),
            *_imprecise(name),
        ]
    )


_DEFINITIONS = {name: _definition(name) for name in _CLASSES}
_DEFINITIONS["grad"] = f"{result_classes()}\n\n{_DEFINITIONS['grad']}"  # after their bases

STUBS = (
    ModuleStub(
        module="typed_nnx._transforms.grad",
        definitions=_DEFINITIONS,
        preamble="\n".join([type_variables(), PROTOCOLS, function_protocols()]),
        imports=IMPORTS,
    ),
)
