"""Small models and steps that the tests of `jit` and its kin share, for either library."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np


@functools.cache
def counter_type(lib: tp.Any) -> tp.Any:
    class Counter(lib.Module):
        """A kernel, float [3]; a count of calls; a static mode."""

        def __init__(self, size: int = 3) -> None:
            self.kernel = lib.Param(jnp.arange(1.0, size + 1))
            self.count = lib.BatchStat(jnp.array(0))
            self.mode = "train"

        def __call__(self, x: tp.Any) -> tp.Any:
            self.count[...] += 1
            return self.kernel[...] * x

    return Counter


def counter(lib: tp.Any, size: int = 3) -> tp.Any:
    """Make a model with kernel [1, 2, 3], count 0 and mode ``"train"``."""
    return counter_type(lib)(size)


@functools.cache
def pair_type(lib: tp.Any) -> tp.Any:
    class Pair(lib.Module):
        """Two Counters in a List, plain containers held as data and a plain array."""

        def __init__(self) -> None:
            self.layers = lib.List([counter(lib), counter(lib, 2)])
            self.table = lib.data({"a": jnp.array(1.0)})
            self.rows = lib.data([jnp.array(1.0)])
            self.scale = jnp.array(2.0)

    return Pair


def pair(lib: tp.Any) -> tp.Any:
    return pair_type(lib)()


def bump(model: tp.Any, x: tp.Any = 1) -> tp.Any:
    """Count up by `x` and multiply the kernel by it."""
    model.count[...] += x
    return model.kernel[...] * x


def count_of(model: tp.Any) -> int:
    return int(model.count[...])


def raw(variable: tp.Any) -> tp.Any:
    """Return what a Variable holds, without the library's wrapping."""
    return variable.get_raw_value()


def numbers(value: tp.Any) -> tp.Any:
    return np.asarray(value).tolist()


def contents(lib: tp.Any, node: tp.Any) -> tp.Any:
    """Return structure and values of `node` in a form that ``==`` compares."""
    graphdef, state = lib.split(node)
    values = {
        jax.tree_util.keystr(path): (str(jnp.asarray(leaf).dtype), numbers(leaf))
        for path, leaf in jax.tree_util.tree_leaves_with_path(state)
    }
    return graphdef, values


def same_contents(lib: tp.Any, first: tp.Any, second: tp.Any) -> bool:
    """Whether two object graphs have the same structure, sharing, static values and arrays."""
    (graphdef, values), (other_graphdef, other_values) = contents(lib, first), contents(lib, second)
    return bool(graphdef == other_graphdef) and values == other_values


def counting(traces: list[tp.Any], function: tp.Callable[..., tp.Any]) -> tp.Callable[..., tp.Any]:
    """Return `function`, which also notes each time that it is traced."""

    @functools.wraps(function)
    def traced(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        traces.append(None)
        return function(*args, **kwargs)

    return traced
