"""Any model comes back bit for bit, in every way to restore it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.support.examples import few_or
from tests.training.checkpoint_models import bits
from typed_nnx.training import checkpoint

TYPES = [nnx.Param, nnx.BatchStat, nnx.Cache, nnx.Variable]
DTYPES = [
    "float32",
    "bfloat16",
    "float16",
    "int8",
    "uint32",
    "bool",
    "complex64",
    "float8_e5m2",
    "int4",
]
IMPLS = ["threefry2x32", "rbg", "unsafe_rbg"]
SHAPES = [(), (1,), (3,), (0,), (2, 0), (2, 3)]
TEXTS = st.text(min_size=1, max_size=4) | st.sampled_from(["0", "-1", "a.b", "a/b", "%", "value"])
# Keys of several types on one level cannot be sorted by jax in other places than here.
KEYS = st.one_of(
    st.lists(TEXTS, max_size=3, unique=True),
    st.lists(st.integers(-3, 1000), max_size=3, unique=True),
)


def array(draw: st.DrawFn) -> Any:
    shape, seed = draw(st.sampled_from(SHAPES)), draw(st.integers(0, 2**31))
    words: Any = np.random.default_rng(seed).integers(0, 2**32, (*shape, 4), np.uint32)
    kind = draw(st.sampled_from(["jax", "numpy", "key", "legacy"]))
    if kind == "key":
        impl = draw(st.sampled_from(IMPLS))
        return jax.random.wrap_key_data(words[..., :2] if impl == IMPLS[0] else words, impl=impl)
    if kind == "legacy":
        return jnp.asarray(words[..., :2])
    # Values from bits: NaNs with payloads and subnormal numbers too.
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.name in ("float32", "complex64"):
        part = np.ascontiguousarray(words[..., : dtype.itemsize // 4])
        values = np.frombuffer(part.tobytes(), dtype).reshape(shape)
    else:
        values = (words[..., 0] % 13).astype(dtype)
    return jnp.asarray(values) if kind == "jax" else values


@st.composite
def nodes(draw: st.DrawFn, depth: int) -> Any:
    kinds = ["array", "variable"] if depth == 0 else ["array", "variable", "module", "list", "dict"]
    match draw(st.sampled_from(kinds)):
        case "variable":
            return draw(st.sampled_from(TYPES))(array(draw))
        case "module":
            module = nnx.Module()
            for name in draw(st.lists(st.sampled_from("abcd"), max_size=3, unique=True)):
                setattr(module, name, nnx.data(draw(nodes(depth - 1))))
            return module
        case "list":
            return nnx.List(map(nnx.data, draw(st.lists(nodes(depth - 1), max_size=3))))
        case "dict":
            return {key: draw(nodes(depth - 1)) for key in draw(KEYS)}
        case _:
            return array(draw)


def blank(value: Any) -> Any:
    if isinstance(value, jax.Array | np.ndarray) and "key<" in str(value.dtype):
        return jax.random.wrap_key_data(
            jnp.zeros_like(jax.random.key_data(value)), impl=jax.random.key_impl(value)
        )
    return np.zeros_like(value) if isinstance(value, np.ndarray) else jnp.zeros_like(value)


def emptied(node: Any) -> Any:
    """Return a copy of a node with zeros in it."""
    graphdef, state = nnx.split(node)
    return nnx.merge(graphdef, jax.tree.map(blank, state))


@pytest.mark.thorough
@settings(max_examples=few_or(15, 400), deadline=None)
@given(nodes(depth=few_or(3, 4)))
def test_any_model_comes_back(node: Any) -> None:
    root = nnx.Dict(root=nnx.data(node))
    other, part = emptied(root), emptied(root)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c"
        checkpoint.save(path, root)
        checkpoint.restore(path, other)
        assert bits(other) == bits(root)
        checkpoint.restore(path, part, nnx.Param)
        assert bits(nnx.state(part, nnx.Param)) == bits(nnx.state(root, nnx.Param))
        rest = nnx.Not(nnx.Param)
        assert bits(nnx.state(part, rest)) == bits(nnx.state(emptied(root), rest))
