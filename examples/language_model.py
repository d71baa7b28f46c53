"""A character language model that learns the Zen of Python, and samples from it with a cache.

Run ``python -m examples.language_model``. While it trains, the transformer sees whole windows of
text under a causal mask. To sample, a view of the same model attends to keys and values that it
keeps from the characters before, so that a character costs one step instead of one pass over all; the
steps are one compiled loop.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
from collections.abc import Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax

import typed_nnx as nnx

with contextlib.redirect_stdout(io.StringIO()):  # it prints itself when it is imported
    import this

TEXT = codecs.decode(this.s, "rot13")
CHARACTERS = sorted(set(TEXT))
END = CHARACTERS.index("\n")  # of a line
WIDTH, HEADS, DEPTH = 64, 4, 2
WINDOW = 64  # characters
ROWS = 16  # of a batch


class Block(nnx.Module):
    """A layer of a transformer, normalised before each part: float [batch, length, width]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.attention_norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs)
        self.mlp_norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.grow = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.shrink = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x: jax.Array, mask: jax.Array | None) -> jax.Array:
        x = x + self.attention(self.attention_norm(x), mask=mask)
        return x + self.shrink(nnx.gelu(self.grow(self.mlp_norm(x))))


class LanguageModel(nnx.Module):
    """Maps characters as int [batch, length] to logits of the next, float [batch, length, kinds]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.characters = nnx.Embed(len(CHARACTERS), WIDTH, rngs=rngs)
        self.positions = nnx.Embed(WINDOW, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs=rngs) for _ in range(DEPTH)])
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.head = nnx.Linear(WIDTH, len(CHARACTERS), rngs=rngs)

    def __call__(self, characters: jax.Array, first: jax.Array | int = 0) -> jax.Array:
        """`first` is the position of the first of the characters: 0 unless there is a cache."""
        positions = first + jnp.arange(characters.shape[1])
        x = self.characters(characters) + self.positions(positions)[None]
        for block in self.blocks:
            # A cache holds the past only: nothing to hide.
            mask = None if block.attention.decode else nnx.make_causal_mask(characters)
            x = block(x, mask)
        return self.head(self.norm(x))


@nnx.jit
def train_step(
    model: LanguageModel, optimizer: nnx.Optimizer[LanguageModel], windows: jax.Array
) -> jax.Array:
    """Learn to continue each window, int [batch, length + 1], and return the loss in nats."""

    def loss_of(model: LanguageModel) -> jax.Array:
        logits = model(windows[:, :-1])
        losses: jax.Array = optax.softmax_cross_entropy_with_integer_labels(logits, windows[:, 1:])
        return losses.mean()

    loss: jax.Array
    loss, slopes = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, slopes)
    return loss


def encode(text: str) -> np.ndarray:
    """Return the characters as numbers, int32 [length]."""
    return np.array([CHARACTERS.index(character) for character in text], np.int32)


def train(steps: int, seed: int = 0) -> tuple[LanguageModel, list[float]]:
    """Return a trained model, and the losses of the steps."""
    model = LanguageModel(rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    windows = np.lib.stride_tricks.sliding_window_view(encode(TEXT), WINDOW + 1)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(steps):
        rows = rng.integers(0, len(windows), ROWS)
        losses.append(train_step(model, optimizer, jnp.asarray(windows[rows])))
    return model, [float(loss) for loss in losses]


def draw(logits: jax.Array, temperature: float, seed: int, position: jax.Array | int) -> jax.Array:
    """Draw a character by its logits, float [kinds]; the same seed and position, the same luck."""
    key = jax.random.fold_in(jax.random.key(seed), position)
    return jax.random.categorical(key, logits / temperature)


def with_cache(model: LanguageModel) -> LanguageModel:
    """Return a view of the model: the same parameters, and an empty cache of one window."""
    decoder = nnx.view(model, decode=True)
    for block in decoder.blocks:
        block.attention.init_cache((1, WINDOW, WIDTH))
    return decoder


Carry: TypeAlias = tuple[LanguageModel, jax.Array, jax.Array]
"""What a step of generation passes on: the model with its cache, the characters, the position."""


@nnx.jit
def generate(
    decoder: LanguageModel, window: jax.Array, known: jax.Array, temperature: float, seed: int
) -> tuple[jax.Array, jax.Array]:
    """Continue a window, int [window], of which some characters are known, to the end of a line.

    All of it is one program: each step writes keys and values into the cache, in place, and the loop
    ends as soon as a line does. Returns the window and how many of its characters count.
    """

    def unfinished(carry: Carry) -> jax.Array:
        _, window, position = carry
        return (position < WINDOW - 1) & ((position < known - 1) | (window[position] != END))

    def step(carry: Carry) -> Carry:
        decoder, window, position = carry
        logits = decoder(window[position][None, None], position)[0, 0]
        drawn = draw(logits, temperature, seed, position)
        following = jnp.where(position + 1 < known, window[position + 1], drawn)
        return decoder, window.at[position + 1].set(following), position + 1

    first = (decoder, window, jnp.zeros((), jnp.int32))
    _, window, position = nnx.while_loop(unfinished, step, first)
    return window, position + 1


def sample(model: LanguageModel, prompt: str, temperature: float = 0.5, seed: int = 0) -> str:
    """Continue the prompt until its line ends or the window is full."""
    known = encode(prompt)
    window = jnp.asarray(np.pad(known, (0, WINDOW - len(known))))
    window, count = generate(with_cache(model), window, jnp.asarray(len(known)), temperature, seed)
    return "".join(CHARACTERS[character] for character in np.asarray(window[:count]))


def sample_slowly(
    model: LanguageModel, prompt: str, temperature: float = 0.5, seed: int = 0
) -> str:
    """Do what `sample` does without a cache: a pass over the whole window for each character."""
    forward = nnx.jit(LanguageModel.__call__)
    characters = list(encode(prompt))
    while len(characters) < WINDOW and characters[-1] != END:
        position = len(characters) - 1
        # The mask keeps what fills the window up from the characters before it.
        window = np.pad(characters, (0, WINDOW - len(characters)))
        logits = forward(model, jnp.asarray(window)[None])[0, position]
        characters.append(int(draw(logits, temperature, seed, position)))
    return "".join(CHARACTERS[character] for character in characters)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print some samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args(arguments).steps
    model, losses = train(steps)
    print(f"loss in nats per character: {losses[0]:.3f} at first, {losses[-1]:.3f} at last")
    for prompt in ("Beautiful", "If the", "Now is"):
        print(f"{prompt!r}: {sample(model, prompt)!r}")


if __name__ == "__main__":
    main()
