"""What `setup` keeps in attributes: lists of layers and functions, partials, mapped classes."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Inner(nn.Module):
    width: int
    depth: int
    use_bias: bool = True

    @nn.compact
    def __call__(self, x, train):
        for _ in range(self.depth):
            x = nn.Dense(self.width, use_bias=self.use_bias)(x)
        return x


class MappedInSetup(nn.Module):
    width: int
    depth: int
    use_bias: bool = True

    def setup(self):
        self.inner = partial(
            Inner,
            width=self.width,
            depth=self.depth,
            use_bias=self.use_bias,
        )
        self.mapped = nn.vmap(
            self.inner,
            variable_axes={"params": None},
            split_rngs={"params": False, "dropout": True},
            in_axes=(0, None),
            out_axes=0,
        )

    @nn.compact
    def __call__(self, x, train=False):
        x = x.transpose(1, 0, 2)
        out = self.mapped(name="Mapped")(x, train)
        return out.transpose(1, 0, 2)


class Projected(nn.Module):
    width: int

    def setup(self):
        self.proj = nn.Dense(self.width, use_bias=False)

    def __call__(self, x):
        return self.proj(x)


class Squared(nn.Module):
    width: int

    def setup(self):
        self.wide = nn.Dense(2 * self.width)
        self.narrow = nn.Dense(self.width)

    def __call__(self, x):
        return self.narrow(self.wide(x) ** 2)


class CountedParts(nn.Module):
    width: int
    is_crossed: bool = False

    def setup(self):
        self.parts = (Projected(self.width, name=str(0)),)
        last = 1
        if self.is_crossed:
            self.parts += (Projected(self.width, name=str(1)),)
            last += 1
        self.parts += (Squared(self.width, name=str(last)),)

    def __call__(self, x):
        x = x + self.parts[0](x)
        if self.is_crossed:
            x = x + self.parts[1](x)
        return x + self.parts[-1](x)


class ChosenFirst(nn.Module):
    width: int
    kind: str = "plain"
    is_crossed: bool = False

    def setup(self):
        if self.is_crossed:
            first = Projected
        elif self.kind == "plain":
            first = Squared
        elif self.kind == "projected":
            first = Projected
        else:
            raise ValueError(f"an unknown kind: {self.kind}")
        self.parts = (first(self.width, name="part_0"),)
        last = 1
        if self.is_crossed:
            self.parts += (Projected(self.width, name="part_1"),)
            last += 1
        self.parts += (Squared(self.width, name=f"part_{last}"),)

    def __call__(self, x):
        x = x + self.parts[0](x)
        if self.is_crossed:
            x = x + self.parts[1](x)
        return x + self.parts[-1](x)


class MiscountedParts(nn.Module):
    width: int
    is_crossed: bool = False

    def setup(self):
        self.parts = (Projected(self.width, name=str(0)),)
        last = 1
        if self.is_crossed:
            self.parts += (Projected(self.width, name=str(1)),)
            last += 2
        self.parts += (Squared(self.width, name=str(last)),)

    def __call__(self, x):
        if self.is_crossed:
            x = x + self.parts[1](x)
        return self.parts[-1](x + self.parts[0](x))


class PlacesAfterAHead(nn.Module):
    """No loop makes the first of the layers, which a loop over places calls."""

    widths: tuple[int, ...]

    def setup(self):
        layers = [nn.Dense(4)]
        for width in self.widths:
            layers.append(nn.Dense(width))
        self.layers = layers

    def __call__(self, x):
        for i in range(len(self.widths) + 1):
            x = self.layers[i](x)
        return x


class TuplesOfLayers(nn.Module):
    """The layers are in `tuple(...)`, and their sizes run."""

    widths: tuple[int, ...]

    def setup(self):
        self.layers = tuple(nn.Dense(width) for width in self.widths)
        self.norms = tuple(nn.LayerNorm() for _ in self.widths)
        self.more = tuple([nn.Dense(width + 1) for width in self.widths]) + (nn.Dense(2),)

    def __call__(self, x):
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(nn.relu(layer(x)))
        for layer in self.more:
            x = layer(x)
        return x


class GrownInPlace(nn.Module):
    """The last layer is added to the attribute."""

    widths: tuple[int, ...]
    out: int

    def setup(self):
        self.layers = [nn.Dense(width) for width in self.widths[:-1]]
        self.layers += (nn.Dense(self.widths[-1] * self.out),)

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x.reshape((-1, self.out, self.widths[-1]))


class SequentialOfSums(nn.Module):
    """Lists of an `nn.Sequential` that are sums, or take several items a time; in `setup`."""

    widths: tuple[int, ...]

    def setup(self):
        self.first = nn.Sequential([nn.Dense(width) for width in self.widths] + [nn.Dense(3)])
        self.second = nn.Sequential(
            [f for width in self.widths[::-1] for f in (nn.Dense(width), nn.relu)] + [nn.Dense(2)]
        )

    def __call__(self, x):
        return self.second(self.first(x))


class SequentialInCall(nn.Module):
    """The same, in a compact method."""

    widths: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        x = nn.Sequential([nn.Dense(width) for width in self.widths] + [nn.Dense(3)])(x)
        x = nn.Sequential([f for width in self.widths for f in [nn.Dense(width), nn.relu]])(x)
        layers = []
        for width in self.widths:
            layers.extend([nn.Dense(width), nn.tanh])
        layers.append(nn.Dense(3))
        return nn.Sequential(layers)(x)


class UnpackedLayers(nn.Module):
    """Several attributes get the layers of a comprehension, one each."""

    width: int

    def setup(self):
        self.query, self.key, self.value = (nn.Dense(self.width) for _ in range(3))
        inner, outer = (int(self.width * 1.5) for _ in range(2))
        self.first, self.second = [nn.Dense(inner) for _ in range(2)]
        self.last = nn.Dense(outer)

    def __call__(self, x):
        x = self.query(x) * self.key(x) + self.value(x)
        return self.last(nn.relu(self.second(nn.relu(self.first(x)))))


class UnpackedWidths(nn.Module):
    """Each has a size of its own."""

    def setup(self):
        self.first, self.last = [nn.Dense(width, use_bias=width > 3) for width in (3, 4)]

    def __call__(self, x):
        return self.last(nn.relu(self.first(x)))


class UnpackedByField(nn.Module):
    """A field says how many there are."""

    count: int = 2

    def setup(self):
        self.first, self.last = [nn.Dense(4) for _ in range(self.count)]

    def __call__(self, x):
        return self.last(nn.relu(self.first(x)))


class UnpackedActivations(nn.Module):
    """A list of functions is unpacked in the call."""

    def setup(self):
        self.first = nn.Dense(4)
        self.last = nn.Dense(3)
        self.activations = [nn.relu for _ in range(2)]

    def __call__(self, x):
        first, last = self.activations
        return last(self.last(first(self.first(x))))


class MixedExperts(nn.Module):
    """The indices that choose experts have one axis less than what they choose."""

    experts: int
    width: int

    @nn.compact
    def __call__(self, x):
        gates = nn.softmax(nn.Dense(self.experts)(x))
        top, index = jax.lax.top_k(gates, 2)
        experts = [nn.Dense(self.width, name=f"expert_{i}")(x) for i in range(self.experts)]
        chosen = jnp.take_along_axis(jnp.stack(experts, axis=-2), index[..., None], axis=-2)
        return nn.Dense(x.shape[-1])((chosen * top[..., None]).sum(-2))


class Unit(nn.Module):
    """A convolution with a projection where the widths differ."""

    width_in: int
    width: int

    def setup(self):
        self.conv = nn.Conv(self.width, (3, 3))
        self.short = None
        if self.width_in != self.width:
            self.short = nn.Conv(self.width, (1, 1))

    def __call__(self, x):
        y = nn.relu(self.conv(x))
        if self.short is not None:
            x = self.short(x)
        return x + y


class Mix(nn.Module):
    """A layer between the units."""

    width: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.width, name="proj")(nn.LayerNorm()(x))


class Stage(nn.Module):
    """Fills two lists in one loop, which a call goes over together."""

    width_in: int
    width: int
    depth: int = 2
    shrinks: bool = True

    def setup(self):
        units = []
        mixes = []
        for i in range(self.depth):
            before = self.width_in if i == 0 else self.width
            unit = Unit(width_in=before, width=self.width)
            units.append(unit)
            mixes.append(Mix(self.width))
        self.units = units
        self.mixes = mixes
        if self.shrinks:
            self.down = nn.Conv(self.width, (3, 3), strides=(2, 2))

    def __call__(self, x):
        seen = ()
        for unit, mix in zip(self.units, self.mixes, strict=True):
            x = mix(unit(x))
            seen += (x,)
        if self.shrinks:
            x = self.down(x)
        return x, seen


class HeldTwice(nn.Module):
    """Lists and dicts of submodules that have attributes of their own."""

    def setup(self):
        self.first = nn.Dense(4)
        second = nn.Dense(4)
        self.both = [self.first, second]
        self.again = [self.first] * 2
        self.by_name = {"first": self.first, "others": (second,)}
        self.widths = [self.first.features, 4]

    def __call__(self, x):
        for layer in (*self.both, *self.again):
            x = layer(x)
        return self.by_name["others"][0](self.by_name["first"](x)) * self.widths[0]


X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
IMAGE = jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Inner", 5, 2), X, False),
    Example(Build("MappedInSetup", 5, 2), X),
    Example(Build("CountedParts", 4), X),
    Example(Build("CountedParts", 4, True), X),
    Example(Build("ChosenFirst", 4), X),
    Example(Build("ChosenFirst", 4, "projected"), X),
    Example(Build("ChosenFirst", 4, is_crossed=True), X),
    Example(Build("MiscountedParts", 4), X),
    Example(Build("MiscountedParts", 4, True), X),
    Example(Build("Projected", 4), X),
    Example(Build("Squared", 4), X),
    Example(Build("PlacesAfterAHead", (3, 5)), X),
    Example(Build("TuplesOfLayers", (3, 5)), X),
    Example(Build("GrownInPlace", (3, 5), 2), X),
    Example(Build("GrownInPlace", (4,), 2), X),
    Example(Build("UnpackedLayers", 4), X),
    Example(Build("UnpackedWidths"), X),
    Example(Build("UnpackedByField"), X),
    Example(Build("UnpackedActivations"), X),
    Example(Build("MixedExperts", 3, 5), X),
    *(Example(Build(name, (4, 4)), X) for name in ("SequentialOfSums", "SequentialInCall")),
    *(Example(Build(name, (3, 5)), X) for name in ("SequentialOfSums", "SequentialInCall")),
    Example(Build("Unit", 3, 4), IMAGE, name="projected"),
    Example(Build("Unit", 3, 3), IMAGE, name="plain"),
    Example(Build("Stage", 3, 4), IMAGE, name="stage"),
    Example(Build("Stage", 3, 5, depth=3, shrinks=False), IMAGE, name="deep stage"),
    Example(Build("HeldTwice"), X),
]
