"""A case file that is written anew in each run: gradients for every choice of arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from typed_nnx_codegen.stubgen.gradients import MOST

_HEADER = '''\
from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias, assert_type

import jax

import typed_nnx as nnx
from tests.assert_type.models import CNN, MLP
from typed_nnx import DiffState

Aux: TypeAlias = dict[str, int]
Layer: TypeAlias = nnx.Param[jax.Array]

MLPParams: TypeAlias = nnx.State[Any, Any, MLP, type[nnx.Param[Any]]]
CNNParams: TypeAlias = nnx.State[Any, Any, CNN, type[nnx.Param[Any]]]
MLPAll: TypeAlias = nnx.State[Any, Any, MLP, EllipsisType]
CNNAll: TypeAlias = nnx.State[Any, Any, CNN, EllipsisType]


def loss(m: MLP, x: jax.Array, c: CNN, p: Layer) -> jax.Array:
    """Return a loss, float32 []."""
    return (m(x) + c(x) + p[...]).mean()


def with_aux(m: MLP, x: jax.Array, c: CNN, p: Layer) -> tuple[jax.Array, Aux]:
    """Return a loss, float32 [], and more."""
    return loss(m, x, c, p), {"count": 1}


def short(model: MLP) -> jax.Array:
    """Return a loss of one argument, float32 []."""
    return model(jax.numpy.ones(3)).mean()
'''

_PARAMETERS = "m: MLP, x: jax.Array, c: CNN, p: Layer"
_ARGUMENTS = "m, x, c=c, p=p"
_GRADIENTS = ("MLPParams", "jax.Array", "CNNParams", "Layer")
_ALL = ("MLPAll", "jax.Array", "CNNAll", "Layer")
"""The gradients by all Variables, as with the filter `...`."""


def text() -> str:
    """Return the text of the case file."""
    functions = []
    for name in ("grad", "value_and_grad"):
        for has_aux in (False, True):
            suffix = "_with_aux" if has_aux else ""
            head = f"def {name}{suffix}({_PARAMETERS}) -> None:"
            functions.append("\n".join([head, *_cases(name, has_aux)]))
    return _HEADER + "\n\n" + "\n\n\n".join(functions) + "\n"


def _cases(name: str, has_aux: bool) -> Iterator[str]:
    function = "with_aux" if has_aux else "loss"
    option = ", has_aux=True" if has_aux else ""
    for argnums, gradients in _choices():
        is_by_filter = "DiffState" in argnums
        if has_aux and is_by_filter:
            continue
        result = _result(name, has_aux, gradients)
        made = f"nnx.{name}({function}, argnums={argnums}{option})"
        yield f"    assert_type({made}({_ARGUMENTS}), {result})"
        if is_by_filter:
            continue
        made = f"nnx.{name}(argnums={argnums}{option})({function})"
        yield f"    assert_type({made}({_ARGUMENTS}), {result})"
        if not has_aux and argnums not in ("0", "(0,)"):
            yield f"    nnx.{name}(short, argnums={argnums})  # E"
    if has_aux:
        yield f"    nnx.{name}(loss, has_aux=True)  # E"
        yield f"    nnx.{name}(has_aux=True)(loss)  # E"
    else:
        yield f"    nnx.{name}(argnums=1)(short)  # E"
        yield f"    nnx.{name}(argnums=(0, 1))(short)  # E"
        yield f"    nnx.{name}(short, argnums=DiffState(1, ...))  # E"


def _choices() -> Iterator[tuple[str, str]]:
    """Yield argnums, and the type of the gradients by them."""
    numbers = range(len(_GRADIENTS))
    for number in numbers:
        yield str(number), _GRADIENTS[number]
        yield f"DiffState({number}, ...)", _ALL[number]
    for count in (1, 2, 3, 4):
        for chosen in itertools.combinations(numbers, count):
            precise = [_GRADIENTS[n] if count <= MOST else "Any" for n in chosen]
            yield _tuple([str(n) for n in chosen]), _types(precise)
    for first, second in itertools.combinations(numbers, 2):
        states = [f"DiffState({n}, ...)" for n in (first, second)]
        yield _tuple([states[0], str(second)]), _types([_ALL[first], _GRADIENTS[second]])
        yield _tuple([str(first), states[1]]), _types([_GRADIENTS[first], _ALL[second]])
        yield _tuple(states), _types([_ALL[first], _ALL[second]])


def _tuple(parts: Sequence[str]) -> str:
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _types(parts: Sequence[str]) -> str:
    return f"tuple[{', '.join(parts)}]"


def _result(name: str, has_aux: bool, gradients: str) -> str:
    if name == "grad":
        return f"tuple[{gradients}, Aux]" if has_aux else gradients
    value = "tuple[jax.Array, Aux]" if has_aux else "jax.Array"
    return f"tuple[{value}, {gradients}]"
