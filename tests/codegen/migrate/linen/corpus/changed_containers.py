"""Lists and dicts of settings that change on the way."""

import flax.linen as nn
import jax

from typed_nnx_codegen.verify.examples import Build, Example


class ChangedSettings(nn.Module):
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        options = {"use_bias": True}
        if not self.bias:
            options["use_bias"] = False
        x = nn.Dense(4, **options)(x)
        more = dict(use_bias=True, features=4)  # noqa: C408
        more.update(use_bias=False)
        x = nn.Dense(**more)(x)
        third = {"use_bias": True, "features": 3}
        alias = third
        alias["use_bias"] = False
        width = third.pop("features")
        x = nn.Dense(width, **third)(x)
        fourth = dict(more)
        del fourth["use_bias"]
        fourth.setdefault("features", 9)
        return nn.Dense(**fourth)(x)


class ChangedWidths(nn.Module):
    @nn.compact
    def __call__(self, x):
        widths = [3, 4]
        widths[0] = 7
        widths.extend([2, 5])
        widths.insert(1, 6)
        last = widths.pop(0)
        for width in widths:
            x = nn.Dense(width)(x)
        return nn.Dense(last)(x)


class Forwarded(nn.Module):
    """Arguments that methods pass on."""

    width: int = 4

    def dense(self, *args, **kwargs):
        return nn.Dense(*args, **kwargs)

    def named(self, *sizes, **kwargs):
        kwargs["use_bias"] = False
        return [self.dense(size, **kwargs) for size in sizes]

    @nn.compact
    def __call__(self, x):
        x = self.dense(self.width, use_bias=False)(x)
        first, second = self.named(3, 2, kernel_init=nn.initializers.normal())
        return second(first(x))


X = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("ChangedSettings"), X),
    Example(Build("ChangedSettings", bias=False), X),
    Example(Build("ChangedWidths"), X),
    Example(Build("Forwarded"), X),
]
