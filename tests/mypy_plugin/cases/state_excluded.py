from __future__ import annotations

import abc
from typing import Any

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.weight = nnx.Param(jax.numpy.ones(3))
        self.mean = nnx.BatchStat(jax.numpy.ones(3))
        self.scale = jax.numpy.ones(3)
        self.size = 3
        self.name = nnx.static("model")
        self.count = nnx.Variable(jax.numpy.zeros(())) if self.size else None

    def __call__(self, x: jax.Array, kind: type[nnx.Variable[jax.Array]]) -> jax.Array:
        self.sow(nnx.Intermediate, "seen", x)
        self.sow(nnx.Intermediate, "last", x, lambda before, x: x, lambda: None)
        self.sow(kind, "either", x)
        return x


class Mixed(nnx.Module):
    def __init__(self, layer: nnx.Linear | nnx.BatchNorm) -> None:
        self.layer = layer


class Given(nnx.Module):
    """What it has is a Variable, or of a class below it."""

    def __init__(self, count: nnx.Variable[jax.Array]) -> None:
        self.count = count
        self.several = nnx.Variable(jax.numpy.zeros(()))
        self.made = nnx.Variable.from_metadata(jax.numpy.zeros(()), {})

    def start(self) -> None:
        self.several = nnx.Param(jax.numpy.zeros(()))


class Base(nnx.Module):
    def __init__(self) -> None:
        self.count = nnx.Variable(jax.numpy.zeros(()))


class Below(Base):
    def __init__(self) -> None:
        self.count = nnx.Param(jax.numpy.zeros(()))


class Wide(nnx.Module):
    def __init__(self, weight: nnx.Variable[jax.Array]) -> None:
        self.weight = weight


class Layers(nnx.Module):
    """Layers whose axes, strides and groups are sequences, which are static."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.LayerNorm(2, rngs=rngs)
        self.groups = nnx.GroupNorm(2, 1, rngs=rngs)
        self.conv = nnx.Conv(2, 2, kernel_size=(1, 1), rngs=rngs)
        self.general = nnx.LinearGeneral(2, 2, rngs=rngs)


class Noisy(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.rngs = rngs
        self.scale = nnx.Param(jax.numpy.ones(3))


noisy = Noisy(nnx.Rngs(0))
layers = nnx.state(Layers(nnx.Rngs(0)), nnx.BatchStat)
model = Model(nnx.Rngs(0))
_, params, rest = nnx.split(model, nnx.Param, ...)

# -- reports
# E: 'mean' of Model is BatchStat, which the filter Param of this State leaves out  [nnx-state-excluded]
params.mean
params.seen  # E: 'seen' of Model is Intermediate  [nnx-state-excluded]
params["mean"]  # E: which the filter Param of this State leaves out  [nnx-state-excluded]
params.scale  # E: 'scale' of Model is jax.Array  [nnx-state-excluded]
# E: 'weight' of Model is Param, which the filter Not(Param) of this State leaves out  [nnx-state-excluded]
rest.weight
rest.linear  # E: 'linear' of Model is Linear  [nnx-state-excluded]
# E: 'size' of Model is static, so it is in the GraphDef and not in the State  [nnx-state-excluded]
nnx.state(model).size
params["name"]  # E: 'name' of Model is static  [nnx-state-excluded]
# E: the filter BatchStat of this State leaves out  [nnx-state-excluded]
nnx.state(model, nnx.BatchStat)["linear"]
nnx.state(model, nnx.PathContains("linear")).weight  # E: leaves out  [nnx-state-excluded]
nnx.state(model, nnx.Not(nnx.PathContains("linear"))).linear  # E: leaves out  [nnx-state-excluded]
# E: the filter (BatchStat, Cache)  [nnx-state-excluded]
nnx.state(model, (nnx.BatchStat, nnx.Cache)).weight
# E: which the filter Param  [nnx-state-excluded]
# E: `State.filter` is deprecated  [nnx-deprecated]
nnx.state(model).filter(nnx.Param).mean
# E: the filter BatchStat  [nnx-state-excluded]
nnx.state(model, nnx.Param, nnx.BatchStat)[1].weight
nnx.state(model, nnx.Param, ...)[1].weight  # E: leaves out  [nnx-state-excluded]
# E: 'count' of Model is Variable | None, which the filter Param of this State leaves out  [nnx-state-excluded]
params.count
nnx.state(Base(), nnx.BatchStat).count  # E: 'count' of Base is Variable  [nnx-state-excluded]
layers.norm  # E: 'norm' of Layers is LayerNorm  [nnx-state-excluded]
layers.groups  # E: 'groups' of Layers is GroupNorm  [nnx-state-excluded]
layers.conv  # E: 'conv' of Layers is Conv  [nnx-state-excluded]
# E typed_nnx: 'rngs' of Noisy is Rngs, which the filter Param of this State leaves out  [nnx-state-excluded]
nnx.state(noisy, nnx.Param).rngs
layers.general  # E: 'general' of Layers is LinearGeneral  [nnx-state-excluded]



def of_several(mixed: Mixed) -> None:
    # Of a Linear the filter leaves nothing.
    nnx.state(mixed, nnx.BatchStat).layer.scale  # E: which the filter BatchStat  [nnx-state-excluded]
    nnx.state(mixed, nnx.BatchStat).layer.mean
    nnx.state(mixed).layer.mean


# -- correct
params.weight
nnx.state(noisy, nnx.RngState).rngs.params
rest.count
reveal_type(nnx.state(model, nnx.Intermediate).seen)  # R: Intermediate[tuple[Any, ...]]
reveal_type(rest.last)  # R: Intermediate[Any]
params.linear.kernel
rest.mean
rest.scale
nnx.state(model, nnx.PathContains("linear")).linear
nnx.state(model, nnx.PathContains("kernel")).linear.kernel
nnx.state(model, nnx.PathContains("mea", exact=False)).mean
nnx.state(model, nnx.All(nnx.Variable, nnx.Not(nnx.Param))).mean
nnx.state(model, (nnx.Param, nnx.BatchStat)).mean
nnx.state(model, nnx.OfType(nnx.BatchStat)).mean
nnx.state(model, nnx.Variable).weight
nnx.state(Wide(nnx.Param(jax.numpy.ones(3))), nnx.Param).weight
nnx.merge_state(params, rest).weight
nnx.merge_state(params, rest).mean


class Encoder(nnx.Module, abc.ABC):
    @abc.abstractmethod
    def encode(self, x: jax.Array) -> jax.Array: ...


class Dense(Encoder):
    def __init__(self) -> None:
        self.linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
        self.mean = nnx.BatchStat(jax.numpy.zeros(1))

    def encode(self, x: jax.Array) -> jax.Array:
        return self.linear(x)


class Auto(nnx.Module):
    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.cache = nnx.data(None)

    def start(self) -> None:
        self.cache = nnx.Cache(jax.numpy.zeros(1))  # type: ignore[assignment]


auto = Auto(Dense())
auto.start()
nnx.state(auto).encoder.linear.kernel
cells = [nnx.RNN(nnx.LSTMCell(2, 2, rngs=nnx.Rngs(seed))) for seed in range(2)]
nnx.state(nnx.Bidirectional(cells[0], cells[1])).forward_rnn.cell
nnx.state(auto, nnx.BatchStat).encoder.mean
nnx.state(auto, nnx.Cache).cache


# -- unsure
params.either


def of_given(given: Given, base: Base) -> None:
    print(nnx.state(given, nnx.Param).count, nnx.state(given, nnx.Param).made)
    print(nnx.state(given, nnx.Param).several)
    print(nnx.state(base, nnx.Param).count)


def unknown(
    given: nnx.filterlib.Filter, kind: type[nnx.Variable[jax.Array]], wide: Wide
) -> None:
    print(nnx.state(model, given).mean)
    print(nnx.state(model, kind).mean, nnx.state(model, nnx.Not(kind)).mean)
    print(nnx.state(model, lambda path, value: True).mean)
    print(nnx.state(model, "tag").weight)
    base: Any = nnx.Param

    class Odd(base):
        """A class of which mypy does not know what it is."""

    print(nnx.state(wide, Odd).weight)
