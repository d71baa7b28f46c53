"""What the examples of docs/mypy-plugin.md use without saying so, for mypy to check them."""

from __future__ import annotations

import ast

IMPORTS = """\
from __future__ import annotations
import dataclasses
import functools
from collections.abc import Callable
from functools import partial
from typing import Any
import jax
import jax.numpy as jnp
import optax
import typed_nnx as nnx
"""

COMMON = """\
class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs)])
        self.mean = nnx.BatchStat(jnp.zeros(2))
        self.size = 2

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x)

class Other(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(2, 2, rngs=rngs)

def loss(model: Model, x: jax.Array) -> jax.Array:
    return model(x).mean()

rngs = nnx.Rngs(0)
model = Model(rngs)
other = Other(rngs)
x = jnp.ones((4, 2))
state = nnx.state(model)
"""

# By the error code.
OF_SECTION: dict[str, str] = {
    "nnx-state-excluded": "_, params, rest = nnx.split(model, nnx.Param, ...)",
    "nnx-state-mismatch": """\
class Encoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Linear(2, 2, rngs=rngs)
        self.out = nnx.Linear(2, 2, rngs=rngs)
class Decoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(2, 2, rngs=rngs)
        self.out = nnx.Linear(2, 2, rngs=rngs)
encoder = Encoder(rngs)
decoder = Decoder(rngs)
""",
    "nnx-optimizer-wrt": """\
tx = optax.sgd(0.1)
def loss(model: Model) -> jax.Array: ...
""",
    "nnx-attribute": """\
class Towers(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.heads = nnx.Dict(text=nnx.Linear(2, 2, rngs=rngs), image=nnx.Linear(2, 2, rngs=rngs))
towers = Towers(rngs)
metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
""",
    "nnx-carry": "def is_early(model: Model) -> jax.Array: ...",
    "nnx-branches": """\
is_training = jnp.array(True)
i = jnp.array(0)
y = jnp.ones((4, 2))
def first(x: jax.Array, y: jax.Array) -> jax.Array: ...
def second(x: jax.Array) -> jax.Array: ...
""",
    "nnx-jax-mutation": """\
class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.count = nnx.Variable(jnp.array(0))
    def __call__(self, x: jax.Array) -> jax.Array: ...
""",
    "nnx-deprecated": """\
model = nnx.Linear(2, 2, rngs=rngs)
state = nnx.state(model)
""",
}


def with_what_it_uses(block: str, *more: str) -> tuple[int, str]:
    """Return a block with the imports and definitions that it needs above it.

    Args:
        block: The block.
        more: More definitions, later ones before earlier ones of the same name.

    Returns:
        The number of lines above the block, and all lines.
    """
    available = [each for source in (COMMON, *more) for each in ast.parse(source).body]
    tree = ast.parse(block)
    wanted = _used(tree) - _bound(tree)
    chosen: list[str] = []
    for statement in reversed(available):
        bound = _bound(statement)
        if bound & wanted:
            chosen.insert(0, ast.unparse(statement))
            wanted = (wanted - bound) | (_used(statement) - bound)
    above = IMPORTS + "\n".join(chosen) + "\n"
    return above.count("\n"), above + block


def _used(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _bound(node: ast.AST) -> set[str]:
    """Return the names that a statement, or a module, binds at the top."""
    found: set[str] = set()
    for statement in node.body if isinstance(node, ast.Module) else [node]:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif isinstance(statement, ast.Assign):
            found |= {
                each.id
                for target in statement.targets
                for each in ast.walk(target)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
    return found
