"""Runs programs of Haiku as they are and migrated, with the same weights, and compares them."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx
from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.haiku.translation import migrate_haiku
from typed_nnx_codegen.migrate.linen.migration import LinenResult, map_path, map_text
from typed_nnx_codegen.migrate.options import Options

_NUMBERS = itertools.count()


def migrated(path: Path) -> LinenResult:
    """Return a file as it is migrated."""
    (found,) = [one for one in migrate_haiku([path], [path.parent], Options()) if one.path == path]
    return found


def written(path: Path) -> Path:
    """Write a file as it is migrated, with its map; return it."""
    result = migrated(path)
    found = path.with_name(f"{path.stem}_new.py")
    found.write_text(result.after)
    map_path(found).write_text(map_text(result.map, None))
    return found


def module_of(path: Path) -> ModuleType:
    """Return a file as a module."""
    name = f"haiku_program_{next(_NUMBERS)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found  # dataclasses look there
    spec.loader.exec_module(found)
    return found


def moved(tree: Any, seed: int = 7) -> Any:
    """Return arrays moved by noise; whole numbers stay."""
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.random.split(jax.random.key(seed), max(len(leaves), 1))

    def noisy(key: Any, one: Any) -> Any:
        if not jnp.issubdtype(one.dtype, jnp.floating):
            return one
        return one + 0.1 * jnp.abs(jax.random.normal(key, one.shape, one.dtype))

    return jax.tree.unflatten(structure, [noisy(*pair) for pair in zip(keys, leaves, strict=False)])


@dataclass
class Call:
    """A model and a call of it.

    Attributes:
        build: The code that constructs the model.
        args: The arguments of the call.
        kwargs: The keywords of the call.
        method: The method that is called.
        lifted: Sizes that no call tells.
    """

    build: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    method: str = "__call__"
    lifted: Mapping[str, Any] | None = None


def compare(path: Path, call: Call) -> LinenResult:
    """Compare outputs, gradients and states of a model as it is and migrated."""
    hk = importlib.import_module("haiku")
    result = migrated(path)
    old = module_of(path)
    new_file = written(path)
    names: list[str] = []

    def run(*args: Any, **kwargs: Any) -> Any:
        made = eval(call.build, vars(old))
        names.append(made.module_name)
        return getattr(made, call.method)(*args, **kwargs)

    net = hk.transform_with_state(run)
    key = jax.random.key(0)
    first = dict(call.kwargs) | ({"is_training": True} if "is_training" in call.kwargs else {})
    params, state = net.init(key, *call.args, **first)
    params, state = moved(params), moved(state)
    out, new_state = net.apply(params, state, key, *call.args, **call.kwargs)

    new = module_of(new_file)
    name, _, rest = call.build.partition("(")
    cls = getattr(new, name.strip())
    entry = json.loads(map_path(new_file).read_text())["classes"][cls.__name__]
    bound = inspect.signature(getattr(cls, call.method)).bind(None, *call.args, **call.kwargs)
    bound.apply_defaults()
    sizes = dict(call.lifted or {})
    for one in entry["lifted"]:
        if one["name"] not in sizes:
            sizes[one["name"]] = eval(one["expr"], {**vars(new), **bound.arguments})
    given = {**sizes, "rngs": nnx.Rngs(0)}
    text = (
        f"{name}({rest.rpartition(')')[0].rstrip(', ')}{', ' if rest.strip(') ') else ''}**given)"
    )
    model = eval(text, {**vars(new), "given": given})
    strict = call.method == "__call__"

    def load(p: Any, s: Any, into: Any) -> None:
        given = weights.haiku_variables(p, s, module=names[-1])
        weights.load(given, into, map_path(new_file), strict=strict)

    load(params, state, model)
    graphdef, rest_of = nnx.split(model)

    found = getattr(model, call.method)(*call.args, **call.kwargs)
    assert_equal(out, found)
    expected = nnx.merge(graphdef, rest_of)
    load(params, new_state, expected)
    assert_equal(nnx.to_pure_dict(nnx.state(expected)), nnx.to_pure_dict(nnx.state(model)))

    def loss(output: Any) -> Any:
        floats = [one for one in jax.tree.leaves(output) if jnp.issubdtype(one.dtype, jnp.floating)]
        return sum(jnp.sum(jnp.sin(one)) for one in floats)

    grads = jax.grad(lambda p: loss(net.apply(p, state, key, *call.args, **call.kwargs)[0]))(params)
    fresh = nnx.merge(graphdef, rest_of)
    load(params, state, fresh)
    own = nnx.grad(lambda m: loss(getattr(m, call.method)(*call.args, **call.kwargs)))(fresh)
    expected = jax.tree.map(jnp.zeros_like, nnx.state(model, nnx.Param))
    expected_model = nnx.clone(model)
    nnx.update(expected_model, expected)
    load(grads, state, expected_model)
    assert_equal(nnx.to_pure_dict(nnx.state(expected_model, nnx.Param)), nnx.to_pure_dict(own))
    return result


def assert_equal(one: Any, other: Any) -> None:
    """Check that arrays are equal to 1e-5."""
    first, second = jax.tree.leaves(one), jax.tree.leaves(other)
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        a, b = _plain(a), _plain(b)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(b).max(initial=0)))


def _plain(one: Any) -> Any:
    if hasattr(one, "dtype") and jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
        return np.zeros(())
    return np.asarray(one)
