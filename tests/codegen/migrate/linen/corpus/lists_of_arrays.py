"""Lists of arrays with sizes of their own: skip connections, as arguments and results too."""

from collections.abc import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Block(nn.Module):
    """One layer."""

    features: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.features)(x))


class Annotated(nn.Module):
    """The type says that the argument is a list; places are computed."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x, skips: Sequence[jax.Array]):
        for k, n in enumerate(self.features):
            x = jnp.concatenate([x, skips[-k - 1]], axis=-1)
            x = nn.Dense(n)(x)
        return x


class ZippedWithSizes(nn.Module):
    """Sizes and arrays go together."""

    features: Sequence[int]

    @nn.compact
    def __call__(self, x, skips: list[jax.Array]):
        for n, skip in zip(self.features, skips):
            x = jnp.concatenate([x, skip], axis=-1)
            x = nn.Dense(n)(x)
        return x


class DownsFirst(nn.Module):
    """Loops over submodules of `setup` fill the list, and empty it."""

    sizes: Sequence[int]

    def setup(self):
        self.downs = [Block(n) for n in self.sizes]
        self.ups = [Block(n) for n in self.sizes]

    def __call__(self, x):
        skips = []
        for down in self.downs:
            skips.append(x)
            x = down(x)
        for up in self.ups:
            x = up(jnp.concatenate([x, skips.pop()], axis=-1))
        return x


class ZippedWithParts(nn.Module):
    """The submodules and the list, from its end, go together."""

    sizes: Sequence[int]

    def setup(self):
        self.downs = [Block(n) for n in self.sizes]
        self.ups = [Block(n) for n in self.sizes]

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
        for up, skip in zip(self.ups, reversed(skips)):
            x = up(jnp.concatenate([x, skip], axis=-1))
        return x


class Indexed(nn.Module):
    """The number of the iteration is a place in the list."""

    sizes: Sequence[int]

    def setup(self):
        self.downs = [Block(n) for n in self.sizes]
        self.ups = [Block(n) for n in self.sizes]

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
        for i, up in enumerate(self.ups):
            x = up(jnp.concatenate([x, skips[-i - 1]], axis=-1))
        return x


class SharedHead(nn.Module):
    """One layer takes all items: they have one size."""

    @nn.compact
    def __call__(self, xs: Sequence[jax.Array]):
        head = nn.Dense(4)
        return sum(head(x) for x in xs)


class SharedHeadLoop(nn.Module):
    """The layer is one of `setup`."""

    def setup(self):
        self.head = nn.Dense(4)

    def __call__(self, xs: list[jax.Array]):
        out = []
        for x in xs:
            out.append(self.head(x))
        return out


class Counted(nn.Module):
    """As many layers as items."""

    @nn.compact
    def __call__(self, xs: Sequence[jax.Array]):
        y = 0
        for i in range(len(xs)):
            y = y + nn.Dense(3)(xs[i])
        return y


class UpsFirst(nn.Module):
    """What empties the list is built before what fills it."""

    sizes: Sequence[int]

    def setup(self):
        self.ups = [Block(n) for n in self.sizes]
        self.downs = [Block(n) for n in self.sizes]

    def __call__(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
        for up in self.ups:
            x = up(jnp.concatenate([x, skips.pop()], axis=-1))
        return x


class Odd(nn.Module):
    """Only the call knows which items the list gets."""

    sizes: Sequence[int]

    def setup(self):
        self.downs = [Block(n) for n in self.sizes]
        self.out = Block(2)

    def __call__(self, x):
        skips = []
        for k, down in enumerate(self.downs):
            x = down(x)
            if k % 2:
                skips.append(x)
        return self.out(jnp.concatenate([x, skips[-1]], axis=-1))


class HeadsTogether(nn.Module):
    """An array is split into as many parts as a field says, and these are put together again."""

    width: int
    heads: int

    def setup(self):
        self.q = nn.Dense(self.width)
        self.k = nn.Dense(self.width)
        self.norm = nn.LayerNorm()
        self.out = nn.Dense(3)

    def __call__(self, x):
        q, k = (
            jnp.concatenate(jnp.split(layer(x), self.heads, axis=-1), axis=0)
            for layer in (self.q, self.k)
        )
        weights = nn.softmax(q @ k.T / 2)
        y = jnp.concatenate(jnp.split(q + weights @ k, self.heads, axis=0), axis=-1)
        return self.out(self.norm(y))


class HeadsBeside(nn.Module):
    """What as many layers return as a field says is put together, with more, without one."""

    heads: int
    sizes: Sequence[int] = (4, 6)

    @nn.compact
    def __call__(self, x, ids):
        heads = [nn.Dense(4, name=f"head_{k}")(x) for k in range(self.heads)]
        y = nn.Dense(3, name="all")(jnp.concatenate(heads, axis=-1))
        stacked = nn.Dense(2, name="stacked")(jnp.stack(heads, axis=-1))
        tables = [nn.Embed(n, 5, name=f"table_{k}")(ids[:, k]) for k, n in enumerate(self.sizes)]
        return y, stacked, nn.Dense(1, name="tables")(jnp.concatenate(tables, axis=-1))


class HeadsChanged(nn.Module):
    """The list changes: a person must look."""

    heads: int

    @nn.compact
    def __call__(self, x):
        heads = [nn.Dense(4, name=f"head_{k}")(x) for k in range(self.heads)]
        rest = nn.Dense(3, name="rest")(jnp.concatenate(heads[1:], axis=-1))
        heads.append(x)
        more = nn.Dense(3, name="more")(jnp.concatenate(heads, axis=-1))
        heads.pop()
        heads.pop()
        return rest, more, nn.Dense(3, name="less")(jnp.concatenate(heads, axis=-1))


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)


def arrays(*sizes):
    """Return arrays of some sizes."""
    return [jnp.sin(jnp.arange(2.0 * size)).reshape(2, size) for size in sizes]


class OfComprehensions(nn.Module):
    """Comprehensions over sizes: joined at once, or held by a name."""

    widths: Sequence[int] = (4, 3)

    @nn.compact
    def __call__(self, x):
        wide = jnp.concatenate([nn.relu(nn.Dense(2 * width)(x)) for width in self.widths], -1)
        x = nn.Dense(5)(jnp.concatenate([nn.Dense(width)(wide) for width in self.widths], axis=-1))
        each = [nn.Dense(width)(x) for width in self.widths]
        return nn.Dense(2)(each[0]) + nn.Dense(2)(each[-1])


EXAMPLES = [
    Example(Build("OfComprehensions"), X),
    Example(Build("OfComprehensions", (2, 4, 3)), X),
    Example(Build("Annotated", (4, 6)), X, arrays(3, 2)),
    Example(Build("ZippedWithSizes", (4, 6)), X, arrays(3, 2)),
    Example(Build("DownsFirst", (4, 6, 3)), X),
    Example(Build("ZippedWithParts", (4, 6, 3)), X),
    Example(Build("Indexed", (4, 6, 3)), X),
    Example(Build("SharedHead"), arrays(3, 3)),
    Example(Build("SharedHeadLoop"), arrays(3, 3)),
    Example(Build("Counted"), arrays(3, 4)),
    Example(Build("UpsFirst", (4, 6, 3)), X),
    Example(Build("Odd", (4, 6, 3)), X),
    Example(Build("Block", 4), X),
    Example(Build("HeadsTogether", 6, 3), X),
    Example(Build("HeadsBeside", 3), X, jnp.arange(4).reshape(2, 2)),
    Example(Build("HeadsChanged", 3), X),
]
