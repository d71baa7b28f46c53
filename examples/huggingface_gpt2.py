"""The weights of a GPT-2 of Hugging Face in a model of our own, by a map that type checkers read.

Run ``python -m examples.huggingface_gpt2 [model.safetensors]``. A file of ``transformers`` has query,
key and value of a layer in one matrix, and names of its own. `weights` says for each Variable of the
model which tensor it comes from and which part of it. A misspelt attribute is an error of mypy, a
parameter without an entry and a tensor of another shape are errors when the file is read. Without
a file the program writes a small one with random numbers, and compares the model with
a GPT-2 in numpy.

Source: Radford et al., "Language models are unsupervised multitask learners", 2019; the names and
shapes are those of ``GPT2LMHeadModel``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import typed_nnx as nnx
from typed_nnx.training.checkpoint import load_safetensors

Tensor: TypeAlias = np.ndarray[Any, Any]


class Config(NamedTuple):
    """The sizes of a GPT-2; those of the small one that OpenAI published by default."""

    kinds: int = 50257
    length: int = 1024
    width: int = 768
    heads: int = 12
    depth: int = 12


class Block(nnx.Module):
    """A layer: float [batch, length, width]."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        width = config.width
        self.attention_norm = nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(config.heads, width, decode=False, rngs=rngs)
        self.mlp_norm = nnx.LayerNorm(width, epsilon=1e-5, rngs=rngs)
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.attention_norm(x), is_causal=True)
        return x + self.down(nnx.gelu(self.up(self.mlp_norm(x))))


class GPT2(nnx.Module):
    """Maps tokens, int [batch, length], to logits of the next, float [batch, length, kinds]."""

    def __init__(self, config: Config, *, rngs: nnx.Rngs) -> None:
        self.tokens = nnx.Embed(config.kinds, config.width, rngs=rngs)
        self.positions = nnx.Embed(config.length, config.width, rngs=rngs)
        self.blocks = nnx.List([Block(config, rngs=rngs) for _ in range(config.depth)])
        self.norm = nnx.LayerNorm(config.width, epsilon=1e-5, rngs=rngs)

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.tokens(tokens) + self.positions(jnp.arange(tokens.shape[1]))[None]
        for block in self.blocks:
            x = block(x)
        return self.tokens.attend(self.norm(x))  # the head is the embedding


class Source(NamedTuple):
    """Where a Variable comes from.

    Attributes:
        variable: The Variable; None where a layer has none, such as a bias.
        tensor: The name of a tensor in the file.
        part: Returns from the tensor what goes into the Variable, but for its shape.
    """

    variable: nnx.Variable[jax.Array] | None
    tensor: str
    part: Callable[[Tensor], Tensor] = lambda tensor: tensor


def third(number: int) -> Callable[[Tensor], Tensor]:
    """Return what takes query (0), key (1) or value (2) of a matrix or bias of all three."""
    return lambda tensor: np.split(tensor, 3, axis=-1)[number]


def weights(model: GPT2) -> Iterator[Source]:
    """Yield where each Variable of the model comes from.

    GPT-2 keeps kernels as [in, out], like ours. Where a file has those of ``torch.nn.Linear``, [out,
    in], the part is ``np.transpose``, or ``lambda tensor: third(0)(tensor.T)``.
    """
    yield Source(model.tokens.embedding, "wte.weight")
    yield Source(model.positions.embedding, "wpe.weight")
    for number, block in enumerate(model.blocks):
        at, attention = f"h.{number}.", block.attention
        projections = attention.query, attention.key, attention.value
        for place, projection in enumerate(projections):
            yield Source(projection.kernel, at + "attn.c_attn.weight", third(place))
            yield Source(projection.bias, at + "attn.c_attn.bias", third(place))
        yield from dense(attention.out, at + "attn.c_proj")
        yield from dense(block.up, at + "mlp.c_fc")
        yield from dense(block.down, at + "mlp.c_proj")
        yield from norm(block.attention_norm, at + "ln_1")
        yield from norm(block.mlp_norm, at + "ln_2")
    yield from norm(model.norm, "ln_f")


def dense(layer: nnx.Linear | nnx.LinearGeneral, name: str) -> Iterator[Source]:
    """Yield the sources of kernel and bias."""
    yield Source(layer.kernel, f"{name}.weight")
    yield Source(layer.bias, f"{name}.bias")


def norm(layer: nnx.LayerNorm, name: str) -> Iterator[Source]:
    """Yield the sources of scale and bias."""
    yield Source(layer.scale, f"{name}.weight")
    yield Source(layer.bias, f"{name}.bias")


def load(path: Path, config: Config) -> GPT2:
    """Return a model with the weights of a file.

    Raises:
        CheckpointMismatchError: A tensor is missing or has another size.
        KeyError: `weights` has no source for a Variable.
    """
    model = GPT2(config, rngs=nnx.Rngs(0))
    with safe_open(path, framework="numpy") as file:
        prefix = "transformer." if "transformer.wte.weight" in file.keys() else ""  # noqa: SIM118  # no dict
    of_variable = {id(source.variable): source for source in weights(model)}
    # A State holds the Variables of the model themselves.
    leaves = dict(nnx.to_flat_state(nnx.state(model)))
    sources = {place: of_variable[id(leaf)] for place, leaf in leaves.items()}

    def name(place: tuple[Any, ...]) -> str:
        return prefix + sources[place].tensor

    def part(place: tuple[Any, ...], tensor: Tensor) -> Tensor:
        return sources[place].part(tensor).reshape(leaves[place].shape)

    # `...`: the file may have more, such as the causal masks of older ones.
    load_safetensors(path, model, ..., name=name, transform=part)
    return model


SMALL = Config(kinds=50, length=16, width=32, heads=4, depth=2)


def write(path: Path, config: Config, seed: int = 0) -> None:
    """Write a file with the names and shapes of transformers, and random numbers."""
    rng, width = np.random.default_rng(seed), config.width
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (config.kinds, width),
        "wpe.weight": (config.length, width),
    }
    sizes = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, 4 * width),
        "mlp.c_proj": (4 * width, width),
    }
    for number in range(config.depth):
        for name, shape in sizes.items():
            shapes[f"h.{number}.{name}.weight"] = shape
            shapes[f"h.{number}.{name}.bias"] = shape[1:]
        for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias"):
            shapes[f"h.{number}.{name}"] = (width,)
        shapes[f"h.{number}.attn.bias"] = (1, 1, config.length, config.length)  # a mask
    shapes |= {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    tensors = {
        name: (rng.normal(size=shape) / np.sqrt(width)).astype(np.float32)
        for name, shape in shapes.items()
    }
    save_file(tensors, path, metadata={"format": "pt"})


def reference(tensors: dict[str, Tensor], tokens: Tensor, heads: int) -> Tensor:
    """Return the logits of GPT-2, from the tensors of a file and tokens, int [length]."""

    def normalized(x: Tensor, name: str) -> Tensor:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def projected(x: Tensor, name: str) -> Tensor:
        return x @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    x = tensors["wte.weight"][tokens] + tensors["wpe.weight"][: len(tokens)]
    for number in range(sum(name.endswith("ln_1.weight") for name in tensors)):
        at = f"h.{number}."
        qkv = projected(normalized(x, at + "ln_1"), at + "attn.c_attn")
        query, key, value = (
            part.reshape(len(tokens), heads, -1).swapaxes(0, 1) for part in np.split(qkv, 3, -1)
        )
        scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        scores = np.where(np.tri(len(tokens), dtype=bool), scores, -np.inf)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances /= chances.sum(-1, keepdims=True)
        attended = (chances @ value).swapaxes(0, 1).reshape(len(tokens), -1)
        x = x + projected(attended, at + "attn.c_proj")
        hidden = projected(normalized(x, at + "ln_2"), at + "mlp.c_fc")
        hidden = hidden / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
        x = x + projected(hidden, at + "mlp.c_proj")
    logits: Tensor = normalized(x, "ln_f") @ tensors["wte.weight"].T
    return logits


def main(arguments: Sequence[str] | None = None) -> None:
    """Read a file, and compare the model with numpy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="the model.safetensors of a GPT-2 small")
    given: Path | None = parser.parse_args(arguments).file
    with tempfile.TemporaryDirectory() as folder:
        path, config = given or Path(folder, "model.safetensors"), Config() if given else SMALL
        if given is None:
            write(path, config)
        model = load(path, config)
        tensors = {name.removeprefix("transformer."): t for name, t in load_file(path).items()}
    tokens = np.random.default_rng(0).integers(0, config.kinds, config.length)
    logits = nnx.jit(GPT2.__call__)(model, jnp.asarray(tokens)[None])[0]
    difference = np.abs(np.asarray(logits) - reference(tensors, tokens, config.heads)).max()
    print(f"{len(tensors)} tensors; the largest logit is {float(logits.max()):.3f}")
    print(f"largest difference from the reference: {difference:.1e}")


if __name__ == "__main__":
    main()
