"""Fields that hold modules, classes, partials, functions and initializers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional, Protocol

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


class Mlp(nn.Module):
    sizes: Sequence[int]
    activate_final: bool = False

    @nn.compact
    def __call__(self, x):
        for position, size in enumerate(self.sizes):
            x = nn.Dense(size)(x)
            if position + 1 < len(self.sizes) or self.activate_final:
                x = nn.relu(x)
        return x


class Value(nn.Module):
    """The class of the torso is given: its width is what the torso knows."""

    torso_cls: Any

    @nn.compact
    def __call__(self, observations, actions):
        inputs = jnp.concatenate([observations, actions], axis=-1)
        hidden = self.torso_cls()(inputs)
        return jnp.squeeze(nn.Dense(1)(hidden), -1)


def make_value(sizes):
    torso = partial(Mlp, sizes=sizes, activate_final=True)
    return Value(torso_cls=torso)


class ValueUser(nn.Module):
    @nn.compact
    def __call__(self, x, actions):
        return Value(partial(Mlp, (4, 3), activate_final=True))(x, actions)


class Narrow(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Wide(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width * 3)(x))


class EitherBlock(nn.Module):
    """One of two classes, which make different widths."""

    block: Any
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = self.block(4)(x)
        return nn.Dense(2)(x)


NarrowNet = partial(EitherBlock, block=Narrow)


WideNet = partial(EitherBlock, block=Wide, depth=1)


class SettingsInPartial(nn.Module):
    """Settings that have other names in NNX, by position too."""

    dense: Callable = partial(nn.Dense, 5, use_bias=False)
    conv: Callable = partial(nn.Conv, kernel_size=(3,), padding="SAME")
    act: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        x = self.act(self.dense()(x))
        return self.conv(4)(x)


class Given(nn.Module):
    """Only a function of the file says what the field holds."""

    torso_cls: Any
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        hidden = self.torso_cls()(x)
        return nn.Dense(self.heads)(hidden)


def make_given(sizes, wide: bool = False):
    torso = partial(Mlp, sizes=sizes)
    if wide:
        torso = partial(Wide, width=sizes[0])
    cls = partial(Given, torso_cls=torso)
    return cls(heads=3)


class Part(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


class Headed(nn.Module):
    """The default of the field is a module."""

    head: nn.Module = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return self.head(nn.Dense(5)(x))


class HeadedUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Headed(nn.Dense(4))(x)
        return Headed(head=Part(2))(x)


class Heads(nn.Module):
    heads: dict[str, Any]
    extra: list[nn.Module] | None = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        if self.extra is not None:
            for one in self.extra:
                x = one(x)
        return {name: head(x) for name, head in self.heads.items()}


class Wrapper(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return x + self.inner(x)


class WrapperUser(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = Wrapper(Part(6))(x)
        return Wrapper(inner=Wrapper(nn.Dense(6)))(x)


class OptionalModules(nn.Module):
    """Nothing constructs it here: its types alone say that fields hold modules."""

    head: Optional[nn.Module] = None
    tail: nn.Module | None = None
    scale: Any = None

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)
        if self.head is not None:
            x = self.head(x)
        if self.tail:
            x = self.tail(x)
        return x if self.scale is None else self.scale(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
PROJECTION = Build.ref("Projection")
TORSO = Build("functools.partial", Build.ref("Mlp"), (5, 7), activate_final=True)
PART = Build("Part", 4)
DENSE = Build("flax.linen.Dense", 2)


class _Torso(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class BuiltOutsideIn(nn.Module):
    """Linen builds the head first, whose size is that of what fields build inside of its call."""

    torso: Callable[..., nn.Module] = partial(_Torso, 4)
    neck: Callable[..., nn.Module] = partial(_Torso, 3)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.neck()(self.torso()(x)))


EXAMPLES = [
    Example(Build("BuiltOutsideIn"), X),
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
    Example(Build("Mlp", (5, 4)), X),
    Example(Build("Value", TORSO), X, X[:, :2]),
    Example(Build("ValueUser"), X, X[:, :2]),
    Example(Build("NarrowNet"), X),
    Example(Build("WideNet"), X),
    Example(Build("EitherBlock", Build.ref("Wide"), 3), X),
    Example(Build("SettingsInPartial"), SEQ),
    Example(Build("Given", TORSO), X),
    Example(Build("Given", Build("functools.partial", Build.ref("Wide"), 2), heads=3), X),
    Example(Build("Headed"), X),
    Example(Build("Headed", PART), X),
    Example(Build("HeadedUser"), X),
    Example(Build("Heads", {"a": PART, "b": DENSE}), X),
    Example(Build("Heads", {"a": DENSE}, [PART, Build("Part", 3)]), X),
    Example(Build("Wrapper", Build("flax.linen.Dense", 6)), X),
    Example(Build("WrapperUser"), X),
    Example(Build("OptionalModules"), X),
    Example(Build("OptionalModules", Build("flax.linen.Dense", 6)), X),
    Example(
        Build("OptionalModules", None, Build("Projection", 6), Build("flax.linen.LayerNorm")), X
    ),
]
