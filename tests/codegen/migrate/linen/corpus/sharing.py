"""One module in two places."""

from typing import Any

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


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
TOKENS = jnp.arange(8).reshape(2, 4)

EXAMPLES = [
    Example(Build("TiedLanguageModel", 9, 4), TOKENS),
    Example(Build("TiedLanguageModel", 9, 4, tie=False), TOKENS),
    Example(Build("DenseLoRA", Build("flax.linen.Dense", 5), 2), X),
    Example(Build("LoRAUser"), X),
    Example(Build("MeanTeacher", 4), X),
]
