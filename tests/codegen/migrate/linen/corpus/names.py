"""Names of submodules that are easy to get wrong."""

from dataclasses import field
from functools import partial
from typing import Sequence

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

Linear = nn.Dense


class NestedCalls(nn.Module):
    """The outer layer is built first, so the last layer is `Dense_0`."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.tanh(nn.Dense(4)(nn.LayerNorm()(nn.Dense(3)(x)))))


class BuiltBeforeCalled(nn.Module):
    """Numbers follow construction, not calls."""

    @nn.compact
    def __call__(self, x):
        out = nn.Dense(2)
        hidden = nn.Dense(5)
        return out(nn.tanh(hidden(x)))


class SameWidths(nn.Module):
    """Equal shapes: a wrong order would go unseen by a check of shapes."""

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        x = nn.Dense(d)(nn.tanh(nn.Dense(d)(x)))
        second, first = nn.Dense(d), nn.Dense(d)
        x = second(nn.tanh(first(x)))
        return nn.Dense(d)(x) + nn.sigmoid(nn.Dense(d)(x)) * nn.Dense(d)(x)


class Unused(nn.Module):
    """A layer that is never called takes a number."""

    features: int

    @nn.compact
    def __call__(self, x):
        nn.Dense(9)
        kept = nn.Dense(self.features)
        return kept(x)


class MixedNames(nn.Module):
    """Named layers do not count."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        x = nn.Dense(5, name="middle")(x)
        x = Linear(6)(x)
        x = partial(nn.Dense, use_bias=False)(3)(x)
        return Linear(name="last", features=2)(x)


class Dense(nn.Module):
    """Has the name of a layer of the library."""

    units: int

    @nn.compact
    def __call__(self, x):
        return nn.softplus(nn.Dense(self.units)(x))


class Homonyms(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Dense(5)(x)
        x = nn.Dense(4)(x)
        return Dense(3)(x)


class DynamicNames(nn.Module):
    features: Sequence[int]
    prefix: str = "layer"

    @nn.compact
    def __call__(self, x):
        for i, f in enumerate(self.features):
            x = nn.Dense(f, name=f"{self.prefix}_{i}")(x)
            x = nn.LayerNorm(name=f"norm_{i}")(x)
            x = nn.relu(x)
        for i in range(2):
            x = x + nn.Dense(x.shape[-1], name="residual" + str(i + 1))(x)
        return nn.Dense(2, name=f"{self.prefix}_out")(x)


class TwoLevelNames(nn.Module):
    depths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for stage, depth in enumerate(self.depths):
            for block in range(depth):
                x = nn.Dense(3 + stage, name=f"stage{stage}_block{block:02d}")(x)
                x = nn.tanh(x)
        return x


class NamesInSetup(nn.Module):
    """Where a name is given, the attribute's does not count."""

    def setup(self):
        self.query = nn.Dense(4, name="q")
        self._hidden = nn.Dense(5)
        self.outs = [nn.Dense(2, name=f"out{i}") for i in range(2)]

    def __call__(self, x):
        h = nn.relu(self._hidden(self.query(x)))
        return [out(h) for out in self.outs]


class SetattrNames(nn.Module):
    """Attributes made by name."""

    n: int

    def setup(self):
        for i in range(self.n):
            setattr(self, f"fc{i}", nn.Dense(4 + i))

    def __call__(self, x):
        for i in range(self.n):
            x = nn.relu(getattr(self, f"fc{i}")(x))
        return x


class MixedSetupCompact(nn.Module):
    """Setup and compact in one class."""

    width: int

    def setup(self):
        self.embed = nn.Dense(self.width, name="input_layer")
        self.scale = self.param("scale", nn.initializers.ones, (self.width,))

    @nn.compact
    def __call__(self, x):
        h = self.embed(x) * self.scale
        h = nn.Dense(self.width + 1)(nn.relu(h))
        return nn.Dense(self.width, name="output_layer")(h)


class ReservedWords(nn.Module):
    """Names that cannot be attributes as they are."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, name="in")(x)
        x = nn.Dense(5, name="1x1")(x)
        x = nn.Dense(3, name="block.0")(x)
        return nn.Dense(2, name="train")(jnp.tanh(x))


class FieldNamedAsLayer(nn.Module):
    """A field has the name that the layer would have in the new class."""

    dense: int = 4
    dense_0: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.dense)(x)
        x = nn.Dense(self.dense_0)(x)
        return nn.Dense(2, name="head")(x)

    def head(self, x):
        return x


class NamePassedOn(nn.Module):
    """`name` as a variable and as None."""

    first_name: str | None = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, name=self.first_name)(x)
        name = "second" if self.first_name else None
        return nn.Dense(3, name=name)(x)


def _label(number: int) -> str:
    return f"part_{number}"


class NamesOfTexts(nn.Module):
    """Names that are surely texts: a field and a function say so."""

    layer_name: str = "dense"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, name=self.layer_name)(x)
        return nn.Dense(3, name=_label(7))(nn.relu(x))


class NamesInLocals(nn.Module):
    """Names that locals and loops hold, which are texts by what is computed."""

    widths: dict[str, int] = field(default_factory=lambda: {"a": 3, "b": 4})
    heads: Sequence[str] = ("q", "k")

    @nn.compact
    def __call__(self, x):
        each = [nn.Dense(width, name=name)(x) for name, width in self.widths.items()]
        for name, width in {"c": 2, "d": 3}.items():
            each.append(nn.Dense(width, name=name)(x))
        x = jnp.concatenate(each, axis=-1)
        for number, head in enumerate(self.heads):
            label = head + str(number)
            x = nn.Dense(4, name=label)(nn.relu(x))
        last = f"last_{len(self.heads)}"
        return nn.Dense(2, name=last)(x)


class OneMayHaveNoName(nn.Module):
    """The only layer of its class whose name may be None."""

    layer_name: str | None = None

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(nn.Dense(4, name="first")(x))
        return nn.Dense(3, name=self.layer_name)(x)


class _Hidden(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.size)(x))


class HiddenBlocks(nn.Module):
    """Attributes are named for the class, and begin with no underscores of it."""

    count: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.count):
            x = _Hidden(3)(x)
        return _Hidden(4)(nn.Dense(2)(x))


class AnyOrder(nn.Module):
    """Methods whose layers have one name each, called in one order or the other."""

    first: str = "a"

    def _a(self, x):
        return x + nn.Dense(x.shape[-1], name="a")(x)

    def _b(self, x):
        return x + nn.LayerNorm(name="b")(x)

    @nn.compact
    def __call__(self, x):
        if self.first == "a":
            x = self._a(x)
            x = self._b(x)
        else:
            x = self._b(x)
            x = self._a(x)
        return x


class OneNameInBranches(nn.Module):
    """Both sides of a branch of the call have the layer of one name."""

    width: int = 3

    def _head(self, x):
        return nn.Dense(self.width, name="head")(x)

    @nn.compact
    def __call__(self, x, twice: bool = False):
        if twice:
            x = nn.Dense(4, name="a")(x) * 2
            return self._head(x)
        x = nn.Dense(4, name="a")(x)
        return self._head(x) + 1


class NamesWithinNames(nn.Module):
    """The name of a variable has another one in it."""

    @nn.compact
    def __call__(self, x):
        for name in ("a", "b"):
            h = nn.Dense(4, name=f"{name}_proj")(x)
            x = h + self._positions(f"obs_{name}", h)
        return x

    def _positions(self, name, tokens):
        return self.param(f"{name}_pos", nn.initializers.normal(0.02), (1, tokens.shape[-1]))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("NestedCalls"), X),
    Example(Build("BuiltBeforeCalled"), X),
    Example(Build("SameWidths"), X),
    Example(Build("AnyOrder"), X),
    Example(Build("AnyOrder", "b"), X),
    Example(Build("OneNameInBranches"), X),
    Example(Build("OneNameInBranches"), X, True),
    Example(Build("Unused", 4), X),
    Example(Build("MixedNames"), X),
    Example(Build("Dense", 4), X),
    Example(Build("Homonyms"), X),
    Example(Build("DynamicNames", (5, 4)), X),
    Example(Build("DynamicNames", (5,), prefix="block"), X),
    Example(Build("TwoLevelNames", (2, 1)), X),
    Example(Build("NamesInSetup"), X),
    Example(Build("SetattrNames", 3), X),
    Example(Build("MixedSetupCompact", 4), X),
    Example(Build("ReservedWords"), X),
    Example(Build("FieldNamedAsLayer"), X),
    Example(Build("_Hidden", 3), X),
    Example(Build("HiddenBlocks"), X),
    Example(Build("NamesOfTexts"), X),
    Example(Build("NamesOfTexts", "other"), X),
    Example(Build("NamesInLocals"), X),
    Example(Build("NamesInLocals", {"e": 5}, ("v",)), X),
    Example(Build("OneMayHaveNoName"), X),
    Example(Build("OneMayHaveNoName", "last"), X),
    Example(Build("NamePassedOn"), X),
    Example(Build("NamePassedOn", "first"), X),
    Example(Build("NamesWithinNames"), X),
]
