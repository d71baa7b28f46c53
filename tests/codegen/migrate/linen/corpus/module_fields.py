"""Fields that hold modules, classes, partials, functions and initializers."""

from functools import partial
from typing import Callable, Optional, Protocol

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Projection(nn.Module):
    features: int
    kernel_init: Callable = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features, kernel_init=self.kernel_init)(x)


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


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
PROJECTION = Build.ref("Projection")

EXAMPLES = [
    Example(Build("Projection", 4), X),
    Example(Build("InstanceField", Build("flax.linen.Dense", 5)), X),
    Example(Build("InstanceField", Build("Projection", 5), decoder=Build("Projection", 2)), X),
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
]
