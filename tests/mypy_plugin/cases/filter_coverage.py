from __future__ import annotations

import jax

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.weight = nnx.Param(jax.numpy.ones(3))
        self.mean = nnx.BatchStat(jax.numpy.ones(3))
        self.size = 3


class Outer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.inner = Model(rngs)
        self.scale = jax.numpy.ones(3)


class Tied(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(2, 2, rngs=rngs)
        self.last = self.first


class Holder(nnx.Module):
    def __init__(self, model: Model) -> None:
        self.model = model
        self.weight = nnx.Param(jax.numpy.ones(3))


class Maybe(nnx.Module):
    def __init__(self, flag: bool) -> None:
        self.weight = nnx.Param(jax.numpy.ones(3))
        if flag:
            self.mean = nnx.BatchStat(jax.numpy.ones(3))


class Optional(nnx.Module):
    def __init__(self, flag: bool) -> None:
        self.weight = nnx.Param(jax.numpy.ones(3))
        self.mean = nnx.BatchStat(jax.numpy.ones(3)) if flag else None
        self.items = nnx.List([nnx.BatchStat(jax.numpy.ones(3))] if flag else [])


class Wide(nnx.Module):
    def __init__(self, weight: nnx.Variable[jax.Array]) -> None:
        self.weight = weight


model = Model(nnx.Rngs(0))
outer = Outer(nnx.Rngs(0))

# -- reports
# E: split: no filter takes mean (BatchStat) of Model. Fix: end with `...`  [nnx-filter-coverage]
nnx.split(model, nnx.Param)
# E: no filter takes scale (jax.Array) of Outer  [nnx-filter-coverage]
nnx.split(outer, nnx.Param, nnx.BatchStat)
# E: no filter takes inner.mean (BatchStat), scale (jax.Array) of Outer  [nnx-filter-coverage]
nnx.split(outer, nnx.Param, nnx.Cache)
# E: no filter takes inner.mean (BatchStat)  [nnx-filter-coverage]
nnx.split(outer, nnx.Not(nnx.BatchStat))
# E: State.split: no filter takes mean  [nnx-filter-coverage]
# E: `State.split` is deprecated  [nnx-deprecated]
used = nnx.state(model).split(nnx.Param)
# E: no filter takes inner.mean (BatchStat) of Outer  [nnx-filter-coverage]
used_outer = nnx.split_state(nnx.state(outer, nnx.Variable), nnx.Param)
nnx.split(model, None)  # E: no filter takes weight (Param), mean (BatchStat)  [nnx-filter-coverage]

nnx.split(outer, nnx.PathContains("inner"))  # E: split: no filter takes scale (jax.Array) of Outer  [nnx-filter-coverage]
# E: split: no filter takes inner.weight (Param) of Outer  [nnx-filter-coverage]
nnx.split(outer, nnx.PathContains("mean"), nnx.OfType(jax.Array))

# -- correct
nnx.split(model)
nnx.split(model, nnx.Param, ...)
nnx.split(model, nnx.Param, nnx.BatchStat)
nnx.split(model, nnx.Variable)
nnx.split(model, nnx.Param, True)
nnx.split(model, nnx.Param, nnx.Not(nnx.Param))
nnx.split(outer, (nnx.Param, nnx.BatchStat), ...)
nnx.split(outer, nnx.Variable, nnx.OfType(jax.Array))
nnx.split(Maybe(False), nnx.Param)
nnx.split(Optional(False), nnx.Param)
nnx.split(Wide(nnx.Param(jax.numpy.ones(3))), nnx.Param)
nnx.state(model, nnx.Param)
used = nnx.state(model).filter(nnx.Param)  # E: `State.filter` is deprecated  [nnx-deprecated]
# E: `State.split` is deprecated  [nnx-deprecated]
of_outer = nnx.state(outer, nnx.Param).split(nnx.Param)
nnx.split(nnx.Param(jax.numpy.ones(3)), nnx.Param)




class Replaced(Model):
    """Its own `__init__` does not call that of the base."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.only = nnx.Param(jax.numpy.zeros(2))


class Side(Model):
    pass


class Both(Replaced, Side):
    def __init__(self, rngs: nnx.Rngs) -> None:
        super().__init__(rngs)


class Left(nnx.Module):
    def __init__(self, has_stats: bool) -> None:
        self.kernel = nnx.Param(jax.numpy.zeros(2))
        if not has_stats:
            return
        self.stats = nnx.BatchStat(jax.numpy.zeros(2))


class Shed(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jax.numpy.zeros(2))
        self.stats = nnx.BatchStat(jax.numpy.zeros(2))
        del self.stats


nnx.split(Replaced(nnx.Rngs(0)), nnx.Param)
nnx.split(Both(nnx.Rngs(0)), nnx.Param)
nnx.split(Left(False), nnx.Param)
nnx.split(Shed(), nnx.Param)


# -- unsure
def unknown(given: nnx.filterlib.Filter, node: nnx.Module, *filters: nnx.filterlib.Filter) -> None:
    nnx.split(model, given)
    nnx.split(node, nnx.Param)
    nnx.split(model, *filters)
    nnx.split(model, "tag")  # a Variable may have a tag
    nnx.split(Tied(nnx.Rngs(0)), nnx.PathContains("first"))
    nnx.split(Holder(model), nnx.PathContains("model"))
