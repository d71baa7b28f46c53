"""The layers whose variables have other names, or another layout, in Linen than in NNX.

All others have equal names on both sides (test_library_layers.py runs them).
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import jax.numpy as jnp

from typed_nnx_codegen.migrate.weights.trees import Leaf, Path, Tree

_Adapter: TypeAlias = Callable[[Tree], Tree]


def as_nnx_names(cls: type, tree: Tree) -> Tree:
    """Return the Linen variables of a library layer under the names and in the layout of NNX.

    Args:
        cls: The NNX class.
        tree: The Linen variables of the layer. What is not known keeps its path.
    """
    for base in cls.__mro__:
        if base.__name__ in _ADAPTERS:
            return _ADAPTERS[base.__name__](tree)
    return {_without_keywords(path): leaf for path, leaf in tree.items()}


def _without_keywords(path: Path) -> Path:
    # The input's forget gate is `if` in Linen; an attribute is called `if_`.
    return tuple(
        f"{part}_" if index == 1 and keyword.iskeyword(part) else part
        for index, part in enumerate(path)
    )


def _joined(tree: Tree, name: str, gates: Sequence[str], variable: str) -> None:
    """Replace the layers of gates by one layer whose last axis has them in turn."""
    paths: list[Path] = [("params", gate, variable) for gate in gates]
    if not all(path in tree for path in paths):
        return
    leaves = [tree.pop(path) for path in paths]
    names = ", ".join(leaf.name for leaf in leaves)
    value = jnp.concatenate([leaf.value for leaf in leaves], axis=-1)
    tree["params", name, variable] = Leaf(names, value)


def _optimized_lstm(tree: Tree) -> Tree:
    made = dict(tree)
    _joined(made, "dense_i", ("ii", "if", "ig", "io"), "kernel")
    _joined(made, "dense_h", ("hi", "hf", "hg", "ho"), "kernel")
    _joined(made, "dense_h", ("hi", "hf", "hg", "ho"), "bias")
    return made


def _gru(tree: Tree) -> Tree:
    # NNX's cell has no bias in the recurrent candidate: `hn/bias` goes nowhere, and that is said.
    made = dict(tree)
    _joined(made, "dense_i", ("ir", "iz", "in"), "kernel")
    _joined(made, "dense_i", ("ir", "iz", "in"), "bias")
    _joined(made, "dense_h", ("hr", "hz", "hn"), "kernel")
    return made


def _simple_cell(tree: Tree) -> Tree:
    return _renamed(tree, {"i": "dense_i", "h": "dense_h"})


def _renamed(tree: Tree, names: dict[str, str]) -> Tree:
    return {(path[0], names.get(path[1], path[1]), *path[2:]): leaf for path, leaf in tree.items()}


def _sequential(tree: Tree) -> Tree:
    made: Tree = {}
    for path, leaf in tree.items():
        name, _, index = path[1].rpartition("_")
        if name == "layers" and index.isdecimal():
            path = (path[0], "layers", index, *path[2:])
        made[path] = leaf
    return made


def _spectral_norm(tree: Tree) -> Tree:
    # Linen's key is the path of the weight from the layer's parent on, with `u` or `sigma`.
    return {
        (path[0], "batch_stats", _tuple_key(path[2:])) if path[0] == "batch_stats" else path: leaf
        for path, leaf in tree.items()
    }


def _weight_norm(tree: Tree) -> Tree:
    return {
        (path[0], "scales", _tuple_key(path[2:-1])) if path[-1] == "scale" else path: leaf
        for path, leaf in tree.items()
    }


def _tuple_key(parts: Sequence[str]) -> str:
    """Return the text of a key of NNX: a path in the layer, as a tuple."""
    return str(tuple(parts))


_ADAPTERS: Final[dict[str, _Adapter]] = {
    "OptimizedLSTMCell": _optimized_lstm,
    "GRUCell": _gru,
    "SimpleCell": _simple_cell,
    "Sequential": _sequential,
    "SpectralNorm": _spectral_norm,
    "WeightNorm": _weight_norm,
}
