"""Fields that hold modules, one or several."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


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


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
PART = Build("Part", 4)
DENSE = Build("flax.linen.Dense", 2)

EXAMPLES = [
    Example(Build("Headed"), X),
    Example(Build("Headed", PART), X),
    Example(Build("HeadedUser"), X),
    Example(Build("Heads", {"a": PART, "b": DENSE}), X),
    Example(Build("Heads", {"a": DENSE}, [PART, Build("Part", 3)]), X),
    Example(Build("Wrapper", Build("flax.linen.Dense", 6)), X),
    Example(Build("WrapperUser"), X),
]
