"""One module in two places."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class TiedLanguageModel(nn.Module):
    vocab: int
    dim: int
    tie: bool = True

    def setup(self):
        self.embedding = nn.Embed(self.vocab, self.dim, embedding_init=nn.initializers.normal(0.5))
        self.body = nn.Dense(self.dim)
        if not self.tie:
            self.readout = nn.Dense(self.vocab)

    def __call__(self, tokens):
        h = nn.tanh(self.body(self.embedding(tokens)))
        if self.tie:
            logits = self.embedding.attend(h)
            return logits / jnp.sqrt(self.dim)
        return self.readout(h)


class DenseLoRA(nn.Module):
    """Takes the scope of the layer it wraps, so that old weights fit."""

    base: nn.Module
    rank: int

    def setup(self):
        nn.share_scope(self, self.base)

    @nn.compact
    def __call__(self, x):
        a = self.param("A", nn.initializers.normal(), (x.shape[-1], self.rank))
        b = self.param("B", nn.initializers.normal(), (self.rank, self.base.features))
        return self.base(x) + x @ a @ b


class LoRAUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = DenseLoRA(nn.Dense(5), rank=2)(x)
        return DenseLoRA(nn.Dense(3), 1, name="last")(nn.relu(x))


class MeanTeacher(nn.Module):
    """Aliases of one module in setup."""

    features: int

    def setup(self):
        shared = nn.Dense(self.features)
        self.student = shared
        self.teacher = shared
        self.heads = [shared, nn.Dense(self.features)]

    def __call__(self, x) -> Any:
        return self.student(x) + self.teacher(x), [head(x) for head in self.heads]


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


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
TOKENS = jnp.arange(8).reshape(2, 4)
ROWS = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("TiedLanguageModel", 9, 4), TOKENS),
    Example(Build("TiedLanguageModel", 9, 4, tie=False), TOKENS),
    Example(Build("DenseLoRA", Build("flax.linen.Dense", 5), 2), X),
    Example(Build("LoRAUser"), X),
    Example(Build("MeanTeacher", 4), X),
    Example(Build("LoRA", base=Build("flax.linen.Dense", 5)), ROWS),
    Example(Build("InCompact"), ROWS),
    Example(Build("InSetup"), ROWS),
    Example(Build("Held", inner=Build("flax.linen.Dense", 5)), ROWS),
    Example(Build("Wrapper", model=Build("flax.linen.Dense", 5)), ROWS),
    Example(Build("Wrapper", model=Build("InCompact")), ROWS),
    Example(Build("FeedForward", 4), ROWS),
    Example(Build("FeedForward", 4, flip=True), ROWS),
    Example(Build("Gate", 4), ROWS),
]
