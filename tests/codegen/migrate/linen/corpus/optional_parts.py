"""Parts that only some objects have, and sizes that follow from which there are."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Adapter(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class DroppedAdapter(nn.Module):
    width: int
    is_adapted: bool = True

    def setup(self):
        self.dense = nn.Dense(self.width)
        self.adapter = Adapter(2 * self.width)
        if not self.is_adapted:
            self.adapter = None

    def __call__(self, x):
        x = self.dense(x)
        if self.adapter is not None:
            x = self.adapter(x)
        return x


class HeadOfDropped(nn.Module):
    width: int
    is_adapted: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(DroppedAdapter(self.width, self.is_adapted)(x))


class PairedStages(nn.Module):
    widths: tuple[int, ...]
    depths: tuple[int, ...]

    def setup(self):
        pairs = zip(self.widths, self.widths[1:])
        stages = [Adapter(self.widths[0], name="0")]
        for i, ((before, width), depth) in enumerate(zip(pairs, self.depths[1:])):
            stages.append(Adapter(width + before * depth, name=str(i + 1)))
        self.stages = stages

    def __call__(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class HeadOfPaired(nn.Module):
    widths: tuple[int, ...]
    depths: tuple[int, ...]

    def setup(self):
        self.stages = PairedStages(self.widths, self.depths)
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.stages(x))


class WeightNormed(nn.Module):
    width: int
    count: int

    def setup(self):
        self.direction = self.param("direction", nn.initializers.normal(), (self.count, self.width))
        self.length = self.param(
            "length", lambda _: jnp.linalg.norm(self.direction, axis=0)[None, :]
        )

    def __call__(self, x):
        norm = jnp.linalg.norm(self.direction, axis=0)[None, :]
        return x @ (self.direction / norm * self.length)


class InlineOrFunction(nn.Module):
    width: int
    is_projected: bool = False

    def setup(self):
        self.summary = nn.Dense(self.width) if self.is_projected else lambda x: x
        self.head = nn.Dense(3)

    def __call__(self, x):
        return self.head(self.summary(x))


class BranchOrFunction(nn.Module):
    width: int
    is_projected: bool = False

    def setup(self):
        if self.is_projected:
            self.summary = nn.Dense(self.width)
        else:
            self.summary = lambda x: x
        self.head = nn.Dense(3)

    def __call__(self, x):
        return self.head(self.summary(x))


class FunctionAfter(nn.Module):
    width: int
    is_projected: bool = False

    def setup(self):
        self.summary = nn.Dense(self.width)
        if not self.is_projected:
            self.summary = nn.relu
        self.head = nn.Dense(3)

    def __call__(self, x):
        return self.head(self.summary(x))


class OneOfThree(nn.Module):
    width: int
    kind: str = "none"

    def setup(self):
        self.norm = lambda x: x
        if self.kind == "layer":
            self.norm = nn.LayerNorm()
        elif self.kind == "wide":
            self.norm = nn.Dense(2 * self.width)
        self.head = nn.Dense(self.width)

    def __call__(self, x):
        return self.head(self.norm(x))


class Doubled(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2 * self.dim)(x)


class Stage(nn.Module):
    """Its field is a class, or None where it is the last one."""

    dim: int
    end: Any = None

    def setup(self):
        self.block = nn.Dense(self.dim)
        if self.end is not None:
            self.down = self.end(dim=self.dim)
        else:
            self.down = None

    def __call__(self, x):
        x = self.block(x)
        return x if self.down is None else self.down(x)


class Stages(nn.Module):
    """Sizes depend on which of its parts have that class."""

    count: int = 2

    def setup(self):
        last = self.count - 1
        self.stages = [
            Stage(4 * 2**i, end=Doubled if i < last else None) for i in range(self.count)
        ]

    def __call__(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)

EXAMPLES = [
    Example(Build("HeadOfDropped", 6), X),
    Example(Build("HeadOfDropped", 6, False), X),
    Example(Build("HeadOfPaired", (3, 4, 5), (1, 2, 3)), X),
    Example(Build("HeadOfPaired", (3,), (1,)), X),
    Example(Build("HeadOfPaired", (3, 4, 5), (1, 2)), X),
    Example(Build("WeightNormed", 3, 4), X),
    Example(Build("InlineOrFunction", 5), X),
    Example(Build("InlineOrFunction", 5, True), X),
    Example(Build("BranchOrFunction", 5), X),
    Example(Build("BranchOrFunction", 5, True), X),
    Example(Build("FunctionAfter", 5), X),
    Example(Build("FunctionAfter", 5, True), X),
    Example(Build("OneOfThree", 5), X),
    Example(Build("OneOfThree", 5, "layer"), X),
    Example(Build("OneOfThree", 5, "wide"), X),
    Example(Build("DroppedAdapter", 4), X),
    Example(Build("DroppedAdapter", 4, False), X),
    Example(Build("PairedStages", (4, 3, 5), (1, 2, 1)), X),
    Example(Build("Adapter", 3), X),
    Example(Build("Stage", 3), X),
    Example(Build("Stage", 3, end=Build.ref("Doubled")), X),
    Example(Build("Stages"), X),
]
