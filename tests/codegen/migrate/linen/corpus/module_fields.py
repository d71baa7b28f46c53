"""Fields that hold modules, classes, partials, functions and initializers."""

from functools import partial
from typing import Callable, Optional, Protocol, Type

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.tree_util import Partial

from typed_nnx_codegen.verify.examples import Build, Example


class Projection(nn.Module):
    features: int
    kernel_init: Callable = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features, kernel_init=self.kernel_init)(x)


class ClassField(nn.Module):
    dense_cls: Type[nn.Module] = nn.Dense
    norm_cls: Optional[Type[nn.Module]] = nn.LayerNorm
    features: int = 4

    @nn.compact
    def __call__(self, x):
        x = self.dense_cls(self.features)(x)
        if self.norm_cls is not None:
            x = self.norm_cls()(x)
        return self.dense_cls(features=2, name="out")(x)


class InstanceField(nn.Module):
    """A module built outside takes the name of the field."""

    encoder: nn.Module
    decoder: Optional[nn.Module] = None

    @nn.compact
    def __call__(self, x):
        h = self.encoder(x)
        h = nn.Dense(4)(h)
        if self.decoder is not None:
            return self.decoder(h)
        return h


class InstanceDefault(nn.Module):
    """The default itself is a module."""

    head: nn.Module = nn.Dense(3)

    def __call__(self, x):
        return nn.softmax(self.head(x))


class FactoryField(nn.Module):
    """A function that builds, called once for each layer."""

    make_layer: Callable[[int], nn.Module]
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):
            x = nn.relu(self.make_layer(4 + i)(x))
        return x


class FactoryInSetup(nn.Module):
    block: Callable[[], nn.Module] = partial(Projection, features=6)

    def setup(self):
        self.first = self.block()
        self.rest = [self.block() for _ in range(2)]

    def __call__(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = x + layer(x)
        return x


class Residual(nn.Module):
    """Wraps whatever it is given."""

    inner: nn.Module

    def __call__(self, x, *args, **kwargs):
        return x + self.inner(x, *args, **kwargs)


class ResidualUser(nn.Module):
    """Wrapped layers built in compact belong to the builder."""

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        x = Residual(nn.Dense(d))(x)
        x = Residual(Projection(d))(x)
        x = nn.Dense(4)(x)
        return Residual(nn.Dense(4))(x)


class ResidualSetupUser(nn.Module):
    """The same in setup: they belong to the wrapper."""

    width: int

    def setup(self):
        self.first = Residual(nn.Dense(self.width))
        self.layers = [Residual(inner=Projection(self.width)) for _ in range(2)]

    def __call__(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


class PreNorm(nn.Module):
    fn: nn.Module
    epsilon: float = 1e-5

    @nn.compact
    def __call__(self, x, **kwargs):
        return self.fn(nn.LayerNorm(epsilon=self.epsilon)(x), **kwargs)


class TransformerOfWrappers(nn.Module):
    depth: int
    width: int

    @nn.compact
    def __call__(self, x):
        layers = []
        for _ in range(self.depth):
            layers.append((PreNorm(nn.SelfAttention(num_heads=2)), PreNorm(Projection(self.width))))
        for attn, ff in layers:
            x = attn(x) + x
            x = ff(x) + x
        return x


class TorsoAndHead(nn.Module):
    """Modules in fields with methods of their own."""

    torso: nn.Module
    action_head: nn.Module
    input_layer: nn.Module = Projection(5)

    def __call__(self, observation):
        return self.action_head(self.embed(observation))

    def embed(self, observation):
        return self.torso(self.input_layer(observation))


class CopiedField(nn.Module):
    """Copies of a module in a field have weights of their own."""

    block: nn.Module
    n: int = 2

    def setup(self):
        self.blocks = [self.block.copy() for _ in range(self.n)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Embedding(Protocol):
    """What embeds arrays: a module, or a function."""

    def __call__(self, x: jax.Array) -> jax.Array: ...


class ProtocolModule(nn.Module, Embedding):
    """A module that names the protocol which it follows."""

    features: int = 4

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.tanh(nn.Dense(self.features)(x))


class ProtocolFields(nn.Module):
    embedding: Embedding
    norm: Optional[Embedding] = None

    @nn.compact
    def __call__(self, x):
        x = self.embedding(x)
        return x if self.norm is None else self.norm(x)


class DefaultsInTurn(nn.Module):
    """The default of one field gets the size that the default of a later one returns."""

    last: nn.Module = Projection(3)
    first: nn.Module = Projection(5)

    @nn.compact
    def __call__(self, x):
        return self.last(jnp.tanh(self.first(x)))


class TreePartials(nn.Module):
    """Partials of `jax.tree_util`."""

    features: int = 3

    @nn.compact
    def __call__(self, x, training: bool = False):
        norm = Partial(nn.LayerNorm, use_bias=False)
        dense = Partial(nn.Dense, use_bias=False)
        return norm()(dense(self.features)(norm()(x)))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
PROJECTION = Build.ref("Projection")

EXAMPLES = [
    Example(Build("Projection", 4), X),
    Example(Build("ClassField"), X),
    Example(Build("ClassField", PROJECTION, Build.ref("flax.linen.RMSNorm"), 5), X),
    Example(Build("ClassField", norm_cls=None), X),
    Example(Build("InstanceField", Build("flax.linen.Dense", 5)), X),
    Example(Build("InstanceField", Build("Projection", 5), decoder=Build("Projection", 2)), X),
    Example(Build("InstanceDefault"), X),
    Example(Build("InstanceDefault", head=Build("Projection", 2)), X),
    Example(Build("FactoryField", Build.ref("flax.linen.Dense")), X),
    Example(Build("FactoryField", PROJECTION, depth=3), X),
    Example(
        Build(
            "FactoryField",
            Build("functools.partial", Build.ref("flax.linen.Dense"), use_bias=False),
        ),
        X,
    ),
    Example(Build("FactoryInSetup"), X),
    Example(Build("Residual", Build("flax.linen.Dense", 6)), X),
    Example(Build("ResidualUser"), X),
    Example(Build("ResidualSetupUser", 6), X),
    Example(Build("PreNorm", Build("flax.linen.Dense", 4)), X),
    Example(Build("TransformerOfWrappers", 2, 6), SEQ),
    Example(Build("TorsoAndHead", Build("Projection", 4), Build("flax.linen.Dense", 2)), X),
    Example(
        Build("TorsoAndHead", Build("Projection", 4), Build("flax.linen.Dense", 2)),
        X,
        method="embed",
    ),
    Example(Build("CopiedField", Build("Projection", 6)), X),
    Example(Build("ProtocolFields", Build("Projection", 4)), X),
    Example(Build("ProtocolFields", Build("Projection", 4), norm=Build("flax.linen.LayerNorm")), X),
    Example(Build("ProtocolFields", jnp.tanh), X),
    Example(Build("ProtocolFields", Build("ProtocolModule", 5)), X),
    Example(Build("ProtocolModule"), X),
    Example(Build("DefaultsInTurn"), X),
    Example(Build("DefaultsInTurn", first=Build("Projection", 4)), X),
    Example(Build("TreePartials"), X),
]
