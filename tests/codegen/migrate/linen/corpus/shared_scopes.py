"""Modules that share their variables with one in a field, or that they build."""

from typing import Any

import flax.linen as nn
import jax

from typed_nnx_codegen.verify.examples import Build, Example


class LoRA(nn.Module):
    base: nn.Module
    rank: int = 2
    out: int = 5

    def __post_init__(self):
        super().__post_init__()
        if self.scope is not None:
            nn.share_scope(self, self.base)

    @nn.compact
    def __call__(self, x):
        a = self.param("A", nn.initializers.normal(), (x.shape[-1], self.rank))
        b = self.param("B", nn.initializers.normal(), (self.rank, self.out))
        return self.base(x) + x @ a @ b


class InCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = LoRA(nn.Dense(5))(x)
        return LoRA(nn.Dense(3), out=3, name="last")(nn.relu(x))


class InSetup(nn.Module):
    def setup(self):
        self.dense = nn.Dense(5)
        self.first = LoRA(self.dense)
        self.last = LoRA(nn.Dense(3), out=3)

    def __call__(self, x):
        return self.last(nn.relu(self.first(x)))


class Held(nn.Module):
    inner: nn.Module

    def setup(self):
        self.lora = LoRA(self.inner)

    def __call__(self, x):
        return self.lora(x)


class Wrapper(nn.Module):
    model: nn.Module

    def __post_init__(self):
        super().__post_init__()
        if self.scope is not None:
            nn.share_scope(self, self.model)

    @nn.compact
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.model(*args, **kwargs)


class Gate(nn.Module):
    width: int
    wname: str = "w"

    @nn.compact
    def __call__(self, x):
        w = self.param(self.wname, nn.initializers.normal(), (x.shape[-1], self.width))
        return x @ w


class FeedForward(nn.Module):
    width: int
    flip: bool = False

    @nn.compact
    def __call__(self, x):
        if self.flip:
            gate = Gate(self.width, wname="gate")
        else:
            gate = Gate(self.width, "gate")
        nn.share_scope(self, gate)
        y = nn.gelu(gate(x))
        out = Gate(x.shape[-1], wname="linear")
        nn.share_scope(self, out)
        return out(y)


X = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("LoRA", base=Build("flax.linen.Dense", 5)), X),
    Example(Build("InCompact"), X),
    Example(Build("InSetup"), X),
    Example(Build("Held", inner=Build("flax.linen.Dense", 5)), X),
    Example(Build("Wrapper", model=Build("flax.linen.Dense", 5)), X),
    Example(Build("Wrapper", model=Build("InCompact")), X),
    Example(Build("FeedForward", 4), X),
    Example(Build("FeedForward", 4, flip=True), X),
    Example(Build("Gate", 4), X),
]
