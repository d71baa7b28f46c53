"""Class methods and static methods that construct modules."""

import flax.linen as nn


class Scaled(nn.Module):
    size: int
    factor: float = 1.0

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x) * self.factor

    @classmethod
    def doubled(cls, size):
        return cls(size, factor=2.0)

    @classmethod
    def with_options(cls, size, **options):
        options["factor"] = options.get("factor", 1.0) * 3.0
        return cls(size, **options)

    @staticmethod
    def narrow(factor=0.5):
        return Scaled(2, factor)


class Tripled(Scaled):
    """It inherits the class method, which makes objects of this class."""

    @nn.compact
    def __call__(self, x):
        return 3.0 * nn.Dense(self.size, name="other")(x)


class OfClassMethods(nn.Module):
    size: int = 3

    @nn.compact
    def __call__(self, x):
        x = Scaled.doubled(self.size)(x)
        x = Tripled.doubled(self.size + 1)(x)
        return Scaled.narrow()(x)


class InSetup(nn.Module):
    sizes: tuple = (3, 4)

    def setup(self):
        self.first = Tripled.doubled(self.sizes[0])
        self.rest = [Scaled.doubled(size) for size in self.sizes]

    def __call__(self, x):
        x = self.first(x)
        for one in self.rest:
            x = one(x)
        return x


class WithOptions(nn.Module):
    """What the class method does with its keywords is more than an expression: a person must look."""

    @nn.compact
    def __call__(self, x):
        return Scaled.with_options(3, factor=2.0)(x)


class WithOptionsInSetup(nn.Module):
    def setup(self):
        self.part = Scaled.with_options(3)

    def __call__(self, x):
        return self.part(x)


class Mlp(nn.Module):
    hidden: int = 8

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(self.hidden)(x))
        return nn.Dense(x.shape[-1])(h)


class Block(nn.Module):
    mixer: nn.Module
    mlp: nn.Module

    @nn.compact
    def __call__(self, x):
        x = x + self.mixer(nn.LayerNorm()(x))
        return x + self.mlp(x)

    @classmethod
    def of_size(cls, size, *, wide=2):
        return cls(mixer=Mlp(size), mlp=Mlp(hidden=size * wide))

    @staticmethod
    def small():
        return Block(mixer=Mlp(2), mlp=Mlp(3))


class Chain(nn.Module):
    sizes: tuple

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
        return x

    @classmethod
    def equal(cls, size, count=2):
        return cls((size,) * count)


def make_blocks(size):
    return Block(mixer=Mlp(size), mlp=Mlp(hidden=size * 2))


def make_chain(size):
    return Chain((size, size))


class OfFields(nn.Module):
    size: int = 4

    @nn.compact
    def __call__(self, x):
        x = Chain.equal(self.size)(x)
        return Block.of_size(self.size)(x)


class OfFunctions(nn.Module):
    size: int = 4

    @nn.compact
    def __call__(self, x):
        x = make_chain(self.size)(x)
        return make_blocks(self.size)(x)
