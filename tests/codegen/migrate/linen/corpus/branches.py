"""Modules under `if`."""

from typing import Optional

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class FieldBranch(nn.Module):
    """A branch on fields: one of its sides exists."""

    features: int
    use_norm: bool = True
    conv: bool = False
    residual: bool = False

    @nn.compact
    def __call__(self, x):
        if self.conv:
            y = nn.Conv(self.features, (3,))(x)
        else:
            y = nn.Dense(self.features)(x)
        if self.use_norm:
            y = nn.LayerNorm()(y)
        y = nn.relu(y)
        if self.residual and x.shape[-1] != self.features:
            x = nn.Dense(self.features, use_bias=False)(x)
        return x + y if self.residual else y


class TrainBranch(nn.Module):
    """A head that is called in training only, with names of its own."""

    features: int

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.relu(nn.Dense(self.features, name="body")(x))
        aux = None
        if train:
            aux = nn.Dense(3, name="aux")(x)
        return nn.Dense(2, name="head")(x), aux


class UnnamedTrainBranch(nn.Module):
    """The number of what follows depends on the argument."""

    @nn.compact
    def __call__(self, x, pre: bool):
        if pre:
            x = nn.Dense(5)(x)
        return nn.Dense(2)(x)


class OptionalInput(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, context: Optional[jax.Array] = None, mask=None):
        h = nn.Dense(self.width)(x)
        if context is not None:
            h = h + nn.Dense(self.width, name="context")(context)
        if mask is None:
            mask = jnp.ones(x.shape[:-1])
        return nn.Dense(2)(nn.relu(h) * mask[..., None])


class CrossOrSelf(nn.Module):
    """The default of an argument is another argument."""

    heads: int

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        d = x.shape[-1]
        q = nn.Dense(d, use_bias=False, name="to_q")(x)
        k = nn.Dense(d, use_bias=False, name="to_k")(context)
        v = nn.Dense(d, use_bias=False, name="to_v")(context)
        q, k, v = (a.reshape(a.shape[:-1] + (self.heads, -1)) for a in (q, k, v))
        out = nn.dot_product_attention(q, k, v)
        return nn.Dense(d, name="to_out")(out.reshape(x.shape))


class Ternaries(nn.Module):
    """Conditional expressions around constructors."""

    features: int
    bottleneck: Optional[int] = None
    norm: Optional[str] = "layer"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.bottleneck)(x) if self.bottleneck else x
        norm = nn.LayerNorm() if self.norm == "layer" else nn.RMSNorm()
        x = norm(x) if self.norm is not None else x
        out = (nn.Dense if self.features > 1 else nn.DenseGeneral)(self.features)
        return out(x)


class EarlyReturn(nn.Module):
    depth: int
    out: Optional[int] = None

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = nn.relu(nn.Dense(4)(x))
        if self.out is None:
            return x
        if self.out == 0:
            return x.mean(-1)
        return nn.Dense(self.out)(x)


class SetupBranch(nn.Module):
    """Attributes that only some of the objects have."""

    kind: str
    dim: int
    dropout: float = 0.0

    def setup(self):
        if self.kind == "linear":
            self.layer = nn.Dense(self.dim)
        elif self.kind == "mlp":
            self.layer = nn.Sequential([nn.Dense(2 * self.dim), nn.gelu, nn.Dense(self.dim)])
        else:
            raise ValueError(self.kind)
        self.norm = nn.LayerNorm() if self.dim > 3 else None
        if self.dropout > 0.0:
            self.drop = nn.Dropout(self.dropout)

    def __call__(self, x, deterministic: bool = True):
        x = self.layer(x)
        if self.norm is not None:
            x = self.norm(x)
        if self.dropout > 0.0:
            x = self.drop(x, deterministic=deterministic)
        return x


class BranchByShape(nn.Module):
    """A projection where the shapes differ, a new axis where one lacks."""

    features: int

    @nn.compact
    def __call__(self, x):
        squeeze = x.ndim == 1
        if squeeze:
            x = x[None]
        y = nn.Dense(self.features)(nn.relu(nn.Dense(self.features)(x)))
        if x.shape[-1] != y.shape[-1]:
            x = nn.Dense(self.features, name="shortcut")(x)
        y = x + y
        return y[0] if squeeze else y


class InitOnlyPath(nn.Module):
    """Builds everything at init, uses a part of it later."""

    @nn.compact
    def __call__(self, x, task: str = "a"):
        head_a = nn.Dense(2, name="head_a")
        head_b = nn.Dense(3, name="head_b")
        h = nn.relu(nn.Dense(4)(x))
        if self.is_initializing():
            head_a(h)
            head_b(h)
        return head_a(h) if task == "a" else head_b(h)


class MatchActivation(nn.Module):
    """A match statement over a field."""

    kind: str
    features: int

    @nn.compact
    def __call__(self, x):
        match self.kind:
            case "glu":
                x = nn.glu(nn.Dense(2 * self.features)(x))
            case "swiglu":
                x = nn.silu(nn.Dense(self.features)(x)) * nn.Dense(self.features)(x)
            case _:
                x = nn.relu(nn.Dense(self.features)(x))
        return nn.Dense(2)(x)


class DropoutFieldAndCall(nn.Module):
    """Dropout in each way in which it learns whether to be active."""

    rate: float = 0.5
    deterministic: Optional[bool] = None

    @nn.compact
    def __call__(self, x, training: bool = False, deterministic: Optional[bool] = None):
        deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
        x = nn.Dropout(self.rate, deterministic=not training)(x)
        x = nn.Dense(4)(x)
        x = nn.Dropout(rate=self.rate, broadcast_dims=(-2,))(x, deterministic=deterministic)
        if training and self.rate > 0.0:
            x = nn.Dropout(self.rate)(x, deterministic=False)
        return x


GAINS = {"deep": lambda width: 0.5 * width, "flat": lambda width: 2.0}


def scaled(gain):
    init = nn.initializers.normal(0.1)
    return lambda *args: gain * init(*args)


class GainOrNone(nn.Module):
    """A setting that one side of a branch alone gives, and is asked for under the same condition."""

    width: int = 4
    deep: bool = False
    flat: bool = False
    last: bool = False

    @nn.compact
    def __call__(self, x):
        if self.deep:
            gain = GAINS["deep" if self.width > 3 else "flat"](self.width)
        elif self.flat:
            gain = GAINS["flat"](self.width)
        elif self.last:
            gain = GAINS["deep"](self.width)
        return nn.Dense(
            self.width,
            kernel_init=scaled(gain)
            if self.deep or self.flat or self.last
            else nn.initializers.normal(0.1),
        )(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CONTEXT = jnp.cos(jnp.arange(2 * 3 * 5.0)).reshape(2, 3, 5)

EXAMPLES = [
    Example(Build("FieldBranch", 4), SEQ),
    Example(Build("FieldBranch", 4, use_norm=False, conv=True, residual=True), SEQ),
    Example(Build("FieldBranch", 6, residual=True), SEQ),
    Example(Build("TrainBranch", 4), X, train=True),
    Example(Build("UnnamedTrainBranch"), X, pre=True),
    Example(Build("UnnamedTrainBranch"), X, pre=False),
    Example(Build("OptionalInput", 4), X),
    Example(Build("OptionalInput", 4), X, X[:, :3], mask=jnp.ones(3)),
    Example(Build("CrossOrSelf", 2), SEQ),
    Example(Build("CrossOrSelf", 3), SEQ, CONTEXT),
    Example(Build("Ternaries", 4), X),
    Example(Build("Ternaries", 1, bottleneck=3, norm=None), X),
    Example(Build("Ternaries", 4, 5, norm="rms"), X),
    Example(Build("EarlyReturn", 2), X),
    Example(Build("EarlyReturn", 2, 0), X),
    Example(Build("EarlyReturn", 0, out=3), X),
    Example(Build("SetupBranch", "linear", 4), X),
    Example(Build("SetupBranch", "mlp", 3, dropout=0.2), X),
    Example(Build("BranchByShape", 4), X),
    Example(Build("BranchByShape", 6), X[0]),
    Example(Build("InitOnlyPath"), X),
    Example(Build("InitOnlyPath"), X, task="b"),
    Example(Build("MatchActivation", "glu", 4), X),
    Example(Build("MatchActivation", "swiglu", 4), X),
    Example(Build("MatchActivation", "other", 4), X),
    Example(Build("DropoutFieldAndCall"), SEQ, deterministic=True),
    Example(Build("DropoutFieldAndCall", 0.0, False), SEQ, training=True, rngs=("dropout",)),
    Example(Build("GainOrNone"), X),
    Example(Build("GainOrNone", deep=True), X),
    Example(Build("GainOrNone", flat=True), X),
    Example(Build("GainOrNone", last=True), X),
]
