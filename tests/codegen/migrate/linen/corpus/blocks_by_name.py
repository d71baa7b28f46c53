"""Lists of blocks of two classes, and the list of what the first ones return."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Plain(nn.Module):
    """It returns what each layer makes, and one more unless it is the last."""

    features: int
    layers: int = 1
    last: bool = False

    def setup(self):
        self.dense = [nn.Dense(self.features) for _ in range(self.layers)]
        if not self.last:
            self.down = nn.Dense(self.features)

    def __call__(self, x):
        outs = ()
        for one in self.dense:
            x = one(x)
            outs += (x,)
        if not self.last:
            x = self.down(x)
            outs += (x,)
        return x, outs


class Attending(nn.Module):
    """It takes another array, too."""

    features: int
    layers: int = 1
    last: bool = False

    def setup(self):
        self.dense = [nn.Dense(self.features) for _ in range(self.layers)]
        self.attend = nn.Dense(self.features)
        if not self.last:
            self.down = nn.Dense(self.features)

    def __call__(self, x, context):
        outs = ()
        for one in self.dense:
            x = one(x) + self.attend(context)
            outs += (x,)
        if not self.last:
            x = self.down(x)
            outs += (x,)
        return x, outs


class PlainUp(nn.Module):
    """It takes as many arrays as it has layers."""

    features: int
    layers: int = 1

    def setup(self):
        self.dense = [nn.Dense(self.features) for _ in range(self.layers)]

    def __call__(self, x, skips):
        for one in self.dense:
            skip = skips[-1]
            skips = skips[:-1]
            x = one(jnp.concatenate((x, skip), axis=-1))
        return x


class AttendingUp(nn.Module):
    """It takes another array, too."""

    features: int
    layers: int = 1

    def setup(self):
        self.dense = [nn.Dense(self.features) for _ in range(self.layers)]
        self.attend = nn.Dense(self.features)

    def __call__(self, x, skips, context):
        for one in self.dense:
            skip = skips[-1]
            skips = skips[:-1]
            x = one(jnp.concatenate((x, skip), axis=-1)) + self.attend(context)
        return x


class BlocksByName(nn.Module):
    """A text says the class of each block, and the call asks for the class."""

    kinds: Sequence[str] = ("attend", "plain")
    sizes: Sequence[int] = (4, 6)
    layers: int = 2

    def setup(self):
        self.first = nn.Dense(self.sizes[0])
        downs = []
        for i, kind in enumerate(self.kinds):
            last = i == len(self.sizes) - 1
            if kind == "attend":
                down = Attending(self.sizes[i], self.layers, last)
            else:
                down = Plain(self.sizes[i], self.layers, last)
            downs.append(down)
        self.downs = downs
        self.mid = nn.Dense(self.sizes[-1])
        ups = []
        turned = list(reversed(self.sizes))
        for i, kind in enumerate(reversed(self.kinds)):
            if kind == "attend":
                up = AttendingUp(turned[i], self.layers + 1)
            else:
                up = PlainUp(turned[i], self.layers + 1)
            ups.append(up)
        self.ups = ups
        self.norm = nn.LayerNorm()
        self.out = nn.Dense(3)

    def __call__(self, x, context):
        x = self.first(x)
        outs = (x,)
        for down in self.downs:
            if isinstance(down, Attending):
                x, some = down(x, context)
            else:
                x, some = down(x)
            outs += some
        x = self.mid(x)
        for up in self.ups:
            some = outs[-(self.layers + 1) :]
            outs = outs[: -(self.layers + 1)]
            if isinstance(up, AttendingUp):
                x = up(x, skips=some, context=context)
            else:
                x = up(x, skips=some)
        return self.out(self.norm(x))


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
CONTEXT = jnp.linspace(-1.0, 2.0, 14).reshape(2, 7)
SKIPS = (jnp.ones((2, 7)), jnp.linspace(0.0, 1.0, 6).reshape(2, 3))
EXAMPLES = [
    Example(Build("Plain", 4, 2), X),
    Example(Build("Attending", 4, 2, last=True), X, CONTEXT),
    Example(Build("PlainUp", 4, 2), X, SKIPS),
    Example(Build("AttendingUp", 4, 2), X, SKIPS, CONTEXT),
    Example(Build("BlocksByName"), X, CONTEXT),
    Example(Build("BlocksByName", ("plain", "attend", "plain"), (4, 6, 5), 1), X, CONTEXT),
]
