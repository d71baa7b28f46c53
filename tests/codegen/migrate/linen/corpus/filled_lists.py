"""Lists of submodules that loops of `setup` fill: several at once, nested, on conditions."""

from typing import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Block(nn.Module):
    """A layer that is told its width twice."""

    width_in: int
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class Carried(nn.Module):
    """A width that the next iteration needs after it has changed."""

    widths: Sequence[int]

    def setup(self):
        blocks = []
        width = self.widths[0]
        self.first = nn.Dense(width)
        for k, _ in enumerate(self.widths):
            before = width
            width = self.widths[k]
            block = Block(before, width)
            blocks.append(block)
        self.blocks = blocks
        self.out = nn.Dense(2)

    def __call__(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


class Nested(nn.Module):
    """A loop in a loop fills one list."""

    widths: Sequence[int]
    depth: int = 2

    def setup(self):
        blocks = []
        for width in self.widths:
            for _ in range(self.depth):
                blocks.append(nn.Dense(width))
        self.blocks = blocks
        self.out = nn.Dense(2)

    def __call__(self, x):
        for block in self.blocks:
            x = nn.relu(block(x))
        return self.out(x)


class Staged(nn.Module):
    """Several loops fill one list, one after the other."""

    widths: Sequence[int]
    depth: int = 2

    def setup(self):
        blocks = [nn.Dense(3), nn.Dense(5)]
        for width in self.widths:
            for _ in range(self.depth):
                blocks.append(nn.Dense(width))
            blocks.append(nn.Dense(width + 1))
        for width in reversed(self.widths):
            blocks.append(nn.Dense(width))
        blocks.append(nn.Dense(4))
        self.blocks = blocks
        self.out = nn.Dense(2)

    def __call__(self, x):
        for block in self.blocks:
            x = nn.relu(block(x))
        return self.out(x)


class NamedPairs(nn.Module):
    """The numbers in the names are not the places in the list."""

    widths: Sequence[int]

    def setup(self):
        blocks = []
        for k, width in enumerate(self.widths):
            blocks.append(nn.Dense(width, name=f"dense_{k}"))
            blocks.append(nn.Dense(width, name=f"other_{k}"))
        self.blocks = blocks

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class LastOnly(nn.Module):
    """One iteration appends less than the others."""

    widths: Sequence[int]

    def setup(self):
        blocks = []
        for k, width in enumerate(self.widths):
            blocks.append(nn.Dense(width))
            if k != len(self.widths) - 1:
                blocks.append(nn.Dense(width * 2))
        self.blocks = blocks
        self.out = nn.Dense(2)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x)


class Down(nn.Module):
    """Some blocks of one width, and a last one only where it is wanted."""

    width: int
    depth: int = 1
    halves: bool = True

    def setup(self):
        blocks = []
        for _ in range(self.depth):
            blocks.append(nn.Dense(self.width))
        self.blocks = blocks
        if self.halves:
            self.last = nn.Dense(self.width // 2)

    def __call__(self, x):
        for block in self.blocks:
            x = nn.relu(block(x))
        if self.halves:
            x = self.last(x)
        return x


class Encoder(nn.Module):
    """The width behind each part depends on what it is built with."""

    widths: Sequence[int]
    depth: int = 1

    def setup(self):
        downs = []
        for k, width in enumerate(self.widths):
            is_last = k == len(self.widths) - 1
            downs.append(Down(width, self.depth, halves=not is_last))
        self.downs = downs
        self.out = nn.Dense(2)

    def __call__(self, x):
        for down in self.downs:
            x = down(x)
        return self.out(x)


class Part(nn.Module):
    """A loop over places."""

    widths: Sequence[int]

    def setup(self):
        blocks = []
        for i in range(len(self.widths)):
            blocks.append(nn.Dense(self.widths[i]))
        self.blocks = blocks

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Named(nn.Module):
    """A loop over widths."""

    widths: Sequence[int]

    def setup(self):
        blocks = []
        for width in self.widths:
            blocks.append(nn.Dense(width + 1))
        self.blocks = blocks

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Whole(nn.Module):
    """Loops of parts in a loop with the same variable."""

    rows: Sequence[Sequence[int]]

    def setup(self):
        parts = []
        for i in range(len(self.rows)):
            parts.append(Part(self.rows[i]))
            parts.append(Named(self.rows[i]))
        self.parts = parts
        self.out = nn.Dense(2)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return self.out(x)


class Compacted(nn.Module):
    """The same parts, in a compact method."""

    rows: Sequence[Sequence[int]]

    @nn.compact
    def __call__(self, x):
        for i, row in enumerate(self.rows):
            x = Part(row)(x)
            x = Named(row)(x)
        return nn.Dense(2)(x)


class EndsOfBranches(nn.Module):
    """All layers but the last one are those of a branch, and are called in a loop of their own."""

    wide: bool = True

    def setup(self):
        layers = []
        if self.wide:
            layers.append(nn.Dense(5))
            layers.append(nn.Dense(6))
        else:
            layers.append(nn.Dense(7))
        layers.append(nn.Dense(4))
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        return self.layers[-1](x)


class PlacesOfBranches(nn.Module):
    """The second side of the branch has more layers; each goes with its place."""

    wide: bool = True

    def setup(self):
        layers = []
        if self.wide:
            layers.append(nn.Dense(5))
        else:
            layers.append(nn.Dense(7))
            layers.append(nn.Dense(6))
        layers.append(nn.Dense(4))
        self.layers = layers

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) * (i + 1)
        return x


X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)
_ALL = ("Carried", "Nested", "Staged", "NamedPairs", "LastOnly", "Encoder")
_SHORT = ("Carried", "Nested", "Staged", "LastOnly", "Encoder")
_ROWS = [((3, 4), (5, 6, 7)), ((3,), ()), ((), (4,)), ((2, 9, 3), (5,))]

EXAMPLES = [
    *(Example(Build(name, widths=W), X, name=f"{name} of three") for name in _ALL),
    *(
        Example(Build(name, widths=W, depth=depth), X, name=f"{name} of depth {depth}")
        for name, depth in (("Nested", 3), ("Staged", 3), ("Encoder", 2), ("Encoder", 0))
    ),
    *(Example(Build(name, widths=(7,)), X, name=f"{name} of one") for name in _SHORT),
    *(
        Example(Build(name, rows), X, name=f"{name} of {rows}")
        for name in ("Whole", "Compacted")
        for rows in _ROWS
    ),
    Example(Build("Down", 6, 2, halves=False), X),
    Example(Build("Block", 5, 4), X),
    Example(Build("Part", (4, 3)), X),
    Example(Build("Named", (4, 3)), X),
    *(Example(Build("EndsOfBranches", wide), X) for wide in (True, False)),
    *(Example(Build("PlacesOfBranches", wide), X) for wide in (True, False)),
]
