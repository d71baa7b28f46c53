"""scan, remat, vmap and jit in every form."""

import functools
from typing import Any, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning
from flax.linen import partitioning as nn_partitioning

from typed_nnx_codegen.verify.examples import Build, Example


class MLPBlock(nn.Module):
    width: int
    rate: float = 0.0

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        y = nn.LayerNorm()(x)
        y = nn.gelu(nn.Dense(self.width)(y))
        y = nn.Dropout(self.rate)(y, deterministic=deterministic)
        return x + nn.Dense(x.shape[-1])(y)


class CarryBlock(nn.Module):
    """A block in the form that scan wants."""

    width: int

    @nn.compact
    def __call__(self, x, _):
        return MLPBlock(self.width, name="block")(x), None


class ScanOrLoop(nn.Module):
    """A field says whether layers are stacked."""

    depth: int
    width: int
    scan: bool = True
    remat: bool = False

    @nn.compact
    def __call__(self, x):
        block = CarryBlock
        if self.remat:
            block = nn.remat(block, prevent_cse=not self.scan)
        if self.scan:
            x, _ = nn.scan(
                block,
                variable_axes={"params": 0},
                split_rngs={"params": True},
                in_axes=nn.broadcast,
                length=self.depth,
            )(self.width, name="encoderblock")(x, 1.0)
        else:
            for lyr in range(self.depth):
                x, _ = block(self.width, name=f"encoderblock_{lyr}")(x, 1.0)
        return nn.LayerNorm(name="norm")(x)


class FunctionBody(nn.Module):
    """Scan over a function of the module itself."""

    depth: int

    @nn.compact
    def __call__(self, x):
        def body(module, carry, _):
            carry = nn.relu(nn.Dense(carry.shape[-1])(carry))
            return carry, carry.sum()

        scan = nn.scan(
            body, variable_axes={"params": 0}, split_rngs={"params": True}, length=self.depth
        )
        return scan(self, x, None)


class RematLoop(nn.Module):
    widths: Sequence[int]
    use_remat: bool = True

    @nn.compact
    def __call__(self, x):
        block_cls = nn.remat(MLPBlock) if self.use_remat else MLPBlock
        for w in self.widths:
            x = block_cls(w)(x)
        return x


class JittedWithSettings(nn.Module):
    """The names of static arguments have that of the module, which Linen ignores."""

    @functools.partial(nn.jit, static_argnames=("self", "factor"))
    @nn.compact
    def __call__(self, x, *, factor: int = 2):
        return nn.Dense(4)(x) * factor


class MultiHead(nn.Module):
    """One head for each member, from one input or from one input each."""

    heads: int
    shared_input: bool = True

    @nn.compact
    def __call__(self, x):
        VmapDense = nn.vmap(
            nn.Dense,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None if self.shared_input else 0,
            out_axes=-2,
            axis_size=self.heads,
        )
        return VmapDense(features=3, name="heads")(x)


class PerPixel(nn.Module):
    """vmap with the same weights for all."""

    @nn.compact
    def __call__(self, x):
        block = nn.vmap(
            MLPBlock,
            in_axes=1,
            out_axes=1,
            variable_axes={"params": None},
            split_rngs={"params": False},
        )(4)
        return block(x)


class NestedEnsemble(nn.Module):
    outer: int
    inner: int

    @nn.compact
    def __call__(self, x):
        lift = functools.partial(
            nn.vmap, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None
        )
        net = lift(lift(MLPBlock, axis_size=self.inner), axis_size=self.outer)
        return net(4)(x)


class EnsembleSetup(nn.Module):
    """The class of the members is a field."""

    net_cls: Any
    num: int = 2

    def setup(self):
        self.ensemble = nn.vmap(
            self.net_cls,
            variable_axes={"params": 0, "batch_stats": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=None,
            out_axes=0,
            axis_size=self.num,
        )()

    def __call__(self, *args):
        return self.ensemble(*args)


class BatchNormedMember(nn.Module):
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=not self.train)(nn.Dense(4)(x))


class LastAxisStack(nn.Module):
    """Weights stacked along their second axis."""

    @nn.compact
    def __call__(self, x):
        stack = nn.vmap(
            nn.Dense,
            in_axes=None,
            out_axes=1,
            axis_size=3,
            variable_axes={"params": 1},
            split_rngs={"params": True},
        )
        return stack(4)(x)


class NamedTarget(nn.Module):
    members: int = 3

    @nn.compact
    def __call__(self, x):
        Members = nn.vmap(
            target=MLPBlock,
            in_axes=None,
            out_axes=0,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            axis_size=self.members,
        )
        return Members(width=5)(x)


class TrainedBlock(nn.Module):
    """A block whose field says whether it drops."""

    width: int
    deterministic: bool
    scale: float = 1.0

    @nn.compact
    def __call__(self, x, _):
        x = nn.Dropout(0.5, deterministic=self.deterministic)(nn.Dense(self.width)(x))
        return x * (1.0 if self.deterministic else self.scale), None


class FieldOfCall(nn.Module):
    """Fields of modules under transforms that the call decides."""

    depth: int = 2

    @nn.compact
    def __call__(self, x, train: bool = False):
        x, _ = nn.remat(TrainedBlock)(6, not train, name="first")(x, None)
        blocks = nn.scan(
            TrainedBlock,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            length=self.depth,
        )
        x, _ = blocks(6, not train, scale=0.5, name="blocks")(x, None)
        return x


class Normed(nn.Module):
    train: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=not self.train, momentum=0.5)(nn.Dense(3)(x))


class SharedWeightsOwnStatistics(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            Normed,
            variable_axes={"params": None, "batch_stats": 0},
            split_rngs={"params": False},
        )()(x)


class AlikeAtFirst(nn.Module):
    """All members begin with the same weights."""

    @nn.compact
    def __call__(self, x):
        return nn.vmap(
            nn.Dense,
            variable_axes={"params": 0},
            split_rngs={"params": False},
            in_axes=(0,),
            axis_size=2,
        )(features=3)(x)


class Grid(nn.Module):
    rows: int
    columns: int

    @nn.compact
    def __call__(self, x):
        lift = functools.partial(nn.vmap, variable_axes={"params": 0}, split_rngs={"params": True})
        return lift(lift(nn.Dense, in_axes=None, axis_size=self.columns))(5)(x)


class Gain(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        return x * self.param("gain", nn.initializers.normal(), (5,)) + y.sum()


class AnyArguments(nn.Module):
    def setup(self):
        self.members = nn.vmap(
            Gain,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=None,
            axis_size=2,
        )()

    def __call__(self, *args):
        return self.members(*args)


S, A = jnp.linspace(-1, 1, 10).reshape(2, 5), jnp.linspace(0, 1, 6).reshape(2, 3)


class Block(nn.Module):
    width: int
    rate: float = 0.0

    @nn.compact
    def __call__(self, x, scale, deterministic: bool = True):
        y = nn.gelu(nn.Dense(self.width)(nn.LayerNorm()(x)))
        y = nn.Dropout(self.rate)(y, deterministic=deterministic)
        return x + scale * nn.Dense(x.shape[-1])(y), None


class Stack(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x, deterministic=True):
        x, _ = nn.scan(
            nn.remat(Block, static_argnums=(3,), prevent_cse=False),
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": True},
            in_axes=(nn.broadcast, nn.broadcast),
            length=self.depth,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )(8, rate=0.1, name="layers")(x, 0.5, deterministic)
        return nn.Dense(2)(x)


class Conditioned(nn.Module):
    @nn.compact
    def __call__(self, carry, inputs):
        x, total = carry
        y = nn.tanh(nn.Dense(x.shape[-1])(x) + nn.Dense(x.shape[-1])(inputs["shift"]))
        return (y, total + y.sum()), {"mean": y.mean(-1), "gain": y * inputs["gain"]}


class StackWithInputs(nn.Module):
    """The number of layers is that of the inputs."""

    def setup(self):
        self.layers = nn.scan(
            Conditioned,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            in_axes=0,
            out_axes=1,
            reverse=True,
        )()

    def __call__(self, x, shift, gain):
        (x, total), found = self.layers((x, 0.0), {"shift": shift, "gain": gain})
        return x, total, found


class MaybeRemat(nn.Module):
    remat: bool = False
    policy: Any = None

    @nn.compact
    def __call__(self, x):
        block_cls = Block
        if self.remat:
            block_cls = nn.checkpoint(block_cls, policy=self.policy)
        for width in (3, 4):
            x, _ = block_cls(width)(x, 1.0)
        return x


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask=None, train: bool = False):
        x = nn.Dense(self.width)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return x if mask is None else x * mask


class RematByKeyword(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.remat(Layer, static_argnums=(3,))(4)(x, None, train)
        x = nn.remat(Layer)(3, name="second")(x, mask=jnp.ones(3))
        return Layer(2)(x, train=train)


class RematMethods(nn.Module):
    width: int

    def setup(self):
        self.a = nn.Dense(self.width)
        self.b = nn.Dense(3)

    @functools.partial(nn.remat, static_argnums=(2,))
    def first(self, x, twice):
        return nn.relu(self.a(x)) * (2 if twice else 1)

    @nn.checkpoint
    def second(self, x):
        return self.b(x)

    def __call__(self, x):
        return self.second(self.first(x, True))


class InCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(3, name="layer")
        nn.share_scope(self, layer)
        return layer(x)


class PlainGated(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, scale, train: bool):
        y = nn.Dense(self.features)(x) * scale
        if train:
            y = y + 1.0
        return y


class RematOfPartitioning(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        block = nn_partitioning.remat(PlainGated, static_argnums=(2,))
        x = block(3)(x, 2.0, train)
        x = block(4, name="last")(x, 0.5, train)
        return PlainGated(2)(x, 1.0, train)


class OneStatic(nn.Module):
    def setup(self):
        self.blocks = [partitioning.remat(PlainGated, static_argnums=(2,))(3) for _ in range(2)]

    def __call__(self, x, train: bool = False):
        for block in self.blocks:
            x = block(x, 2.0, train)
        return x


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
THREE = jnp.linspace(-2, 1, 30).reshape(3, 2, 5)
PAIRS = jnp.linspace(-1, 2, 24).reshape(2, 2, 6)
ROWS = jnp.linspace(-1, 1, 10).reshape(2, 5)

EXAMPLES = [
    Example(Build("MLPBlock", 4), X),
    Example(Build("CarryBlock", 4), X, None),
    Example(Build("ScanOrLoop", 2, 4), X),
    Example(Build("ScanOrLoop", 2, 4, remat=True), X),
    Example(Build("ScanOrLoop", 2, 4, scan=False), X),
    Example(Build("ScanOrLoop", 2, 4, scan=False, remat=True), X),
    Example(Build("FunctionBody", 3), X),
    Example(Build("RematLoop", (4, 5)), X),
    Example(Build("RematLoop", (4, 5), use_remat=False), X),
    Example(Build("TrainedBlock", 4, True), X, None),
    Example(Build("FieldOfCall"), X),
    Example(Build("FieldOfCall", 3), X, False),
    Example(Build("JittedWithSettings"), X),
    Example(Build("MultiHead", 2), X),
    Example(Build("MultiHead", 3, shared_input=False), X),
    Example(Build("PerPixel"), SEQ),
    Example(Build("NestedEnsemble", 3, 2), X),
    Example(Build("EnsembleSetup", Build.ref("BatchNormedMember")), X, mutable=("batch_stats",)),
    Example(Build("BatchNormedMember"), X, mutable=("batch_stats",)),
    Example(Build("BatchNormedMember", train=False), X),
    Example(Build("LastAxisStack"), X),
    Example(Build("NamedTarget"), X),
    Example(Build("SharedWeightsOwnStatistics"), THREE, mutable=("batch_stats",)),
    Example(Build("AlikeAtFirst"), PAIRS),
    Example(Build("Grid", 2, 3), PAIRS),
    Example(Build("AnyArguments"), S, A),
    Example(Build("Stack", 3), ROWS, deterministic=True),
    Example(Build("StackWithInputs"), ROWS, jnp.ones((3, 2, 4)), jnp.ones((3, 2, 5))),
    Example(Build("MaybeRemat", False), ROWS),
    Example(Build("MaybeRemat", True, policy=jax.checkpoint_policies.nothing_saveable), ROWS),
    Example(Build("RematByKeyword"), ROWS, mutable=("batch_stats",), train=True),
    Example(Build("RematMethods", 4), ROWS),
    Example(Build("InCompact"), ROWS),
    Example(Build("PlainGated", 4), ROWS, 2.0, train=True),
    Example(Build("RematOfPartitioning"), ROWS, train=True),
    Example(Build("RematOfPartitioning"), ROWS),
    Example(Build("OneStatic"), ROWS, train=True),
    Example(Build("OneStatic"), ROWS),
]
