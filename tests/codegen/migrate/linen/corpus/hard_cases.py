"""What a codemod must mark, or do right, and never get wrong without a word."""

import functools
import math
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

# A module of the file: its copies are bound by those who use it.
TEMPLATE = nn.Dense(4)
REGISTRY: dict[str, Callable[..., nn.Module]] = {}
LAYERS = {"dense": nn.Dense, "general": nn.DenseGeneral}


def register(cls):
    REGISTRY[cls.__name__] = cls
    return cls


def opaque_width(x):
    """A width that only running tells."""
    return int(np.asarray(x.shape).sum() % 5) + 2


def opaque_features(x):
    """Makes features in a way that no reader follows."""
    parts = [x**p for p in range(1, int(math.isqrt(x.shape[-1])) + 2)]
    return functools.reduce(lambda a, b: jnp.concatenate([a, b], axis=-1), parts)


class OpaqueInput(nn.Module):
    """The input of the layer comes from a function."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(opaque_features(x))


class OpaqueOutput(nn.Module):
    """The width of the layer depends on the shape of the input."""

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(opaque_width(x))(x)
        return nn.Dense(2)(h)


class LayersByShape(nn.Module):
    """How many layers there are depends on the input."""

    @nn.compact
    def __call__(self, x):
        for _ in range(int(math.log2(x.shape[1]))):
            x = nn.relu(nn.Conv(x.shape[-1] + 1, (2,), strides=(2,))(x))
        return nn.Dense(2)(x)


class WhileByShape(nn.Module):
    """Convolves until little is left."""

    channels: int

    @nn.compact
    def __call__(self, x):
        while x.shape[1] > 1:
            x = nn.relu(nn.Conv(self.channels, (3, 3), strides=(2, 2))(x))
        return x.reshape(x.shape[0], -1)


class FlattenAnySize(nn.Module):
    """The width after the flattening follows from the size of the image."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(2, (3, 3), strides=(2, 2), padding="VALID")(x)
        x = nn.max_pool(x, (2, 2), strides=(1, 1))
        x = nn.Conv(3, (2, 2), padding=1)(x)
        return nn.Dense(4)(x.reshape((x.shape[0], -1)))


class GlobalTemplate(nn.Module):
    """Copies a module of the file."""

    @nn.compact
    def __call__(self, x):
        x = TEMPLATE.copy()(x)
        return TEMPLATE.copy(features=2, name="out")(nn.relu(x))


class FromTable(nn.Module):
    """Takes the class of its layers from a table."""

    kinds: Sequence[str]

    @nn.compact
    def __call__(self, x):
        for kind in self.kinds:
            x = LAYERS[kind](4)(x)
        return x


@register
class Registered(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.features)(x))


class FromRegistry(nn.Module):
    """Builds what a name says, with keywords from a field."""

    name_of_part: str
    kwargs: Any

    def setup(self):
        self.part = REGISTRY[self.name_of_part](**self.kwargs)

    def __call__(self, x):
        return self.part(x)


class LambdaBuilds(nn.Module):
    """Each call of the function is another layer."""

    @nn.compact
    def __call__(self, x):
        layer = lambda y: nn.Dense(y.shape[-1])(y)  # noqa: E731
        shared = nn.Dense(x.shape[-1])
        again = lambda y: shared(y)  # noqa: E731
        return again(again(layer(layer(x))))


class MappedBuilds(nn.Module):
    """Layers made by map and by reduce."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        x = functools.reduce(lambda y, w: nn.relu(nn.Dense(w)(y)), self.widths, x)
        outs = list(map(lambda w: nn.Dense(w)(x), self.widths))
        return jnp.concatenate(outs, axis=-1)


class SharedDefault(nn.Module):
    """One default object for all instances: they share its weights."""

    encoder: nn.Module = nn.Dense(4)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.encoder(x))


class SharedDefaultTwice(nn.Module):
    @nn.compact
    def __call__(self, x):
        return SharedDefault()(x) + SharedDefault()(x)


class SamePlainMethods(nn.Module):
    """Two compact methods from a plain one: both find `Dense_0`."""

    @nn.compact
    def first(self, x):
        return nn.tanh(nn.Dense(x.shape[-1])(x))

    @nn.compact
    def second(self, x):
        return nn.sigmoid(nn.Dense(x.shape[-1])(x))

    def __call__(self, x):
        return self.second(self.first(x))


class BranchShiftsNames(nn.Module):
    """What is `Dense_1` depends on the branch that init took."""

    @nn.compact
    def __call__(self, x, context=None):
        h = nn.Dense(4)(x)
        if context is not None:
            h = h + nn.Dense(4)(context)
        h = nn.relu(h)
        return nn.Dense(4)(h)


class WalrusAndStar(nn.Module):
    """Builds in odd places of expressions."""

    @nn.compact
    def __call__(self, x):
        if (y := nn.Dense(4)(x)).ndim > 1:
            x = y
        a, *rest = [nn.Dense(w)(x) for w in (2, 3, 4)]
        b = {"k": nn.Dense(3)(rest[-1])}["k"]
        return jnp.concatenate([a, b, *(r for r in rest if r.shape[-1] > 3)], -1)


class OrderOfArguments(nn.Module):
    """Arguments that build, before and after the call's own constructor."""

    @nn.compact
    def __call__(self, x):
        y = nn.Dense(3)(x)
        z = jnp.add(nn.Dense(3)(y), nn.Dense(3)(y) * nn.Dense(3)(x))
        return nn.Dense(2)(jnp.where(z > 0, nn.Dense(3)(z), nn.Dense(3)(y)))


class WidthFromValues(nn.Module):
    """The width comes from data in a field."""

    table: Any

    @nn.compact
    def __call__(self, x):
        width = int(np.asarray(self.table).max())
        return nn.Dense(width)(x)


class GenericCaller(nn.Module):
    """Calls a method by name and hands keywords on."""

    part: nn.Module
    method: str = "__call__"

    @nn.compact
    def __call__(self, *args, **kwargs):
        out = getattr(self.part, self.method)(*args, **kwargs)
        return nn.Dense(2)(out)


class StateInParams(nn.Module):
    """Writes to `params`, and reads them by path."""

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4, name="inner")(x)
        norm = jnp.linalg.norm(self.variables["params"]["inner"]["kernel"])
        if self.is_mutable_collection("stats"):
            self.put_variable("stats", "norm", norm)
        return h / norm


class RewrittenVariables(nn.Module):
    """Changes the variables of a part on the way in."""

    @nn.compact
    def __call__(self, x):
        def trans_in(variables):
            return jax.tree.map(jnp.sign, variables)

        BinaryDense = nn.map_variables(nn.Dense, "params", trans_in_fn=trans_in, init=True)
        return BinaryDense(4)(x)


class ThreeCalls(nn.Module):
    """Widths of one layer's inputs must agree; a broadcast hides the truth."""

    @nn.compact
    def __call__(self, x):
        shared = nn.Dense(6)
        a = shared(x)
        b = shared(a + x.mean(-1, keepdims=True))
        c = shared(jnp.broadcast_to(b[:1], x.shape))
        return nn.Dense(1)(a * b * c)


class PooledToken(nn.Module):
    """Positions of a sequence are no batch: what is added to them has one more dimension."""

    @nn.compact
    def __call__(self, ids):
        positions = self.param("positions", nn.initializers.normal(1.0), (9, 5))
        x = nn.Embed(7, 5)(ids) + positions[: ids.shape[1]]
        x = x[jnp.arange(x.shape[0]), ids.argmax(-1)]
        return nn.Dense(3)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 8 * 3.0)).reshape(2, 8, 3)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("OpaqueInput"), X),
    Example(Build("OpaqueOutput"), X),
    Example(Build("LayersByShape"), SEQ),
    Example(Build("WhileByShape", 4), IMAGES),
    Example(Build("FlattenAnySize"), IMAGES),
    Example(Build("FlattenAnySize"), IMAGES[:, :6]),
    Example(Build("GlobalTemplate"), X),
    Example(Build("FromTable", ("dense", "general")), X),
    Example(Build("Registered", 4), X),
    Example(Build("FromRegistry", "Registered", {"features": 3}), X),
    Example(Build("LambdaBuilds"), X),
    Example(Build("MappedBuilds", (4, 3)), X),
    Example(Build("SharedDefault"), X),
    Example(Build("SharedDefaultTwice"), X),
    Example(Build("SamePlainMethods"), X),
    Example(Build("BranchShiftsNames"), X),
    Example(Build("BranchShiftsNames"), X, X[:, :4]),
    Example(Build("WalrusAndStar"), X),
    Example(Build("OrderOfArguments"), X),
    Example(Build("WidthFromValues", (3, 5)), X),
    Example(Build("GenericCaller", Build("flax.linen.Dense", 4)), X),
    Example(Build("GenericCaller", Build("flax.linen.Embed", 9, 4), method="attend"), X[:, :4]),
    Example(Build("StateInParams"), X),
    Example(Build("StateInParams"), X, mutable=("stats",)),
    Example(Build("RewrittenVariables"), X),
    Example(Build("ThreeCalls"), X),
    Example(Build("PooledToken"), jnp.arange(8).reshape(2, 4) % 7),
]
