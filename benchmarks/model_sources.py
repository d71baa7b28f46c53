"""Writes source with many model classes, of all the constructs that people use."""

from __future__ import annotations

from pathlib import Path

_START = """\
from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import jax
import jax.numpy as jnp
import typed_nnx as nnx
{imports}

M = TypeVar("M", bound=nnx.Module)


class Scale{n}(nnx.Variable[jax.Array]):
    pass
"""

_BODIES = (
    """
class {name}(nnx.Module):
    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(din, dout, rngs=rngs)
        self.second = nnx.Linear(dout, dout, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.second(self.dropout(jax.nn.relu(self.first(x))))
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, *, use_bias: bool, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(size, size, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(size, rngs=rngs)
        self.bias: nnx.Param[jax.Array] | None = None
        if use_bias:
            self.bias = nnx.Param(jnp.zeros(size))
        self.size = size
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, depth: int, *, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([{zeroth}(size, size, rngs=rngs) for _ in range(depth)])
        self.scale = Scale{n}(jnp.ones(size))
        self.activation: Callable[[jax.Array], jax.Array] = jax.nn.gelu

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.layers:
            x = self.activation(layer(x))
        return x * self.scale[...]
""",
    """
class {name}({zeroth}):
    def __init__(self, size: int, *, rngs: nnx.Rngs) -> None:
        super().__init__(size, size, rngs=rngs)
        self.third = nnx.LayerNorm(size, rngs=rngs)
        self.count = nnx.BatchStat(jnp.zeros((), jnp.int32))
""",
    """
class {name}(nnx.Module, Generic[M]):
    def __init__(self, inner: M) -> None:
        self.inner = inner
        self.gain = nnx.Param(jnp.ones(3))
""",
    """
@nnx.dataclass
class {name}(nnx.Pytree):
    weight: nnx.Param[jax.Array]
    size: int = 3
    parts: nnx.Data[list[{zeroth}]] = nnx.data(default_factory=list)
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, *, rngs: nnx.Rngs) -> None:
        self.heads = nnx.Dict(
            a=nnx.Linear(size, 1, rngs=rngs), b={zeroth}(size, size, rngs=rngs)
        )
        self.body = nnx.Sequential(nnx.Linear(size, size, rngs=rngs), jax.nn.relu)
        self.rngs = rngs
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, wide: bool, *, rngs: nnx.Rngs) -> None:
        if wide:
            self.body = nnx.Linear(size, 4 * size, rngs=rngs)
        else:
            self.body = {zeroth}(size, size, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, size, rngs=rngs)
        self.table = jnp.zeros(size)
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, *, rngs: nnx.Rngs) -> None:
        self.boxed = {generic}({zeroth}(size, size, rngs=rngs))
        self.layers = nnx.List([])
        for _ in range(3):
            self.layers.append({zeroth}(size, size, rngs=rngs))
""",
    """
class {name}(nnx.Module):
    def __init__(self, size: int, *, rngs: nnx.Rngs) -> None:
        self.other = {other}(size, size, rngs=rngs)
        self.embed = nnx.Embed(10, size, rngs=rngs)

    def build(self) -> None:
        self.late = {zeroth}(3, 3, rngs=nnx.Rngs(0))
""",
)


def write_project(folder: Path, classes: int, files: int) -> None:
    """Write a package ``app`` with models.

    Args:
        folder: Where.
        classes: How many model classes.
        files: In how many files; some use those of others.
    """
    package = folder / "app"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    for number in range(files):
        count = classes // files + (number < classes % files)
        text = _module(number, count)
        (package / f"models_{number}.py").write_text(text, encoding="utf-8")


def _module(number: int, count: int) -> str:
    before = number // 2  # a tree of imports
    other = f"Model{before}x0" if number else f"Model{number}x0"
    imports = f"from app.models_{before} import {other}\n" if number else ""
    parts = [_START.format(n=number, imports=imports)]
    for index in range(count):
        body = _BODIES[index % len(_BODIES)]
        names = {
            "name": f"Model{number}x{index}",
            "zeroth": f"Model{number}x0",
            "generic": f"Model{number}x4",
            "other": other,
            "n": number,
        }
        parts.append(body.format(**names))
    return "\n".join(parts)
