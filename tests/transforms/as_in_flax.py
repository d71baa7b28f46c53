"""Run a transform with both libraries, and compare what it gives and what it leaves in its arguments."""

from __future__ import annotations

import typing as tp
from collections.abc import Callable
from typing import Any

import numpy as np
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.graph.oracle import walk


class Call(tp.NamedTuple):
    """A transformed function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def assert_as_in_flax(make: Callable[[Any], Call], calls: int = 1, is_same: bool = True) -> None:
    """Assert that calls give equal values and identities in both libraries, or are refused by both.

    Args:
        make: Returns the function and its arguments, made with a library.
        calls: How often it is called with them.
        is_same: Whether it matters which objects of the arguments are in the results.
    """
    libraries: tuple[Any, ...] = nnx, flax_nnx
    ours, theirs = (outcome(lib, make, calls, is_same) for lib in libraries)
    assert ours == theirs, f"\nflax:      {theirs!r}\ntyped_nnx: {ours!r}"


def outcome(lib: Any, make: Callable[[Any], Call], calls: int = 1, is_same: bool = True) -> Any:
    """Return what calls give and leave, or that they are refused; a call that fails changes nothing."""
    function, arguments = None, ()
    before = None
    try:
        function, arguments = make(lib)
        before = described(lib, arguments)
        results = [function(*arguments) for _ in range(calls)]
    except (TypeError, ValueError, NotImplementedError):
        assert before in (None, described(lib, arguments))
        return "refused"
    if is_same:
        return described(lib, [results, arguments])
    return described(lib, results), described(lib, arguments)


def described(lib: Any, value: Any) -> Any:
    """Describe a nest of objects and values: their types, identities, metadata and numbers."""
    return _rounded(walk(_without_states(lib, value)))


def _without_states(lib: Any, x: Any) -> Any:
    """Return a value with the dict of the paths of each State in its place."""
    if isinstance(x, lib.State):
        return {"State": {str(path): leaf for path, leaf in lib.to_flat_state(x)}}
    if isinstance(x, dict):
        return {key: _without_states(lib, value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return type(x)(_without_states(lib, value) for value in x)
    return x


def _rounded(x: Any) -> Any:
    if isinstance(x, float | complex):
        return complex(np.round(x, 4))
    if isinstance(x, dict):
        return {key: _rounded(value) for key, value in x.items()}
    return type(x)(map(_rounded, x)) if isinstance(x, list | tuple) else x
