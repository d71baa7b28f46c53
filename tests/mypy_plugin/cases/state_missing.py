from __future__ import annotations

import jax
import jax.numpy as jnp
import typed_nnx as nnx


class Count(nnx.Variable[jax.Array]):
    pass


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.calls = Count(jnp.zeros(()))


class Counted(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.count = nnx.Variable(jnp.zeros(()))


class Sparse(nnx.Module):
    """Not every object has the same leaves."""

    def __init__(self, rngs: nnx.Rngs, has_norm: bool) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs) if has_norm else None
        if has_norm:
            self.count = nnx.BatchStat(jnp.zeros(()))
        self.seen = nnx.Intermediate(jnp.zeros(()))


class Tied(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(2, 2, rngs=rngs)
        self.last = self.first


model = Model(nnx.Rngs(0))

# -- reports
nnx.merge(nnx.graphdef(model))  # E: which no given State holds: there is none. Fix: pass all States  [nnx-state-missing]


def before_the_class(late: Late) -> Late:
    graphdef, params, _ = nnx.split(late, nnx.Param, ...)
    return nnx.merge(graphdef, params)  # E: Late has `norm.mean`  [nnx-state-missing]


class Late(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.BatchNorm(3, rngs=rngs)


graphdef, params, rest = nnx.split(model, nnx.Param, ...)
nnx.merge(graphdef, params)  # E: merge: Model has `norm.mean`, `norm.var`, `calls`, which no given State holds: the filters are `Param`.  [nnx-state-missing]
nnx.merge(graphdef, rest)  # E: `linear.kernel`  [nnx-state-missing]
graphdef.apply(params)  # E: GraphDef.apply: Model has  [nnx-state-missing]


def halved(model: Model) -> Model:
    graphdef, params, stats, rest = nnx.split(model, nnx.Param, nnx.BatchStat, ...)
    halves = jax.tree.map(lambda x: x / 2, params)
    return nnx.merge(graphdef, halves, stats)  # E: Model has `calls`, which no given State holds: the filters are `Param`, `BatchStat`. Fix: pass all States that `split` returned  [nnx-state-missing]


def of_functions(model: Model) -> Model:
    return nnx.merge(nnx.graphdef(model), nnx.state(model, nnx.Param))  # E: `norm.mean`, `norm.var`, `calls`  [nnx-state-missing]


def of_a_plain_variable(counted: Counted) -> Counted:
    return nnx.merge(nnx.graphdef(counted), nnx.state(counted, nnx.Param))  # E: Counted has `count`  [nnx-state-missing]


class Trainer:
    def __init__(self, model: Model) -> None:
        self.graphdef, self.params, self.rest = nnx.split(model, nnx.Param, ...)

    def model(self) -> Model:
        return nnx.merge(self.graphdef, self.params)  # E: which no given State holds  [nnx-state-missing]


# -- correct
nnx.merge(graphdef, params, rest)
nnx.merge(graphdef, rest, params)
graphdef.apply(params, rest)
nnx.update(model, params)
nnx.merge(*nnx.split(model))


def with_sparse(sparse: Sparse) -> Sparse:
    nnx.pop(sparse, nnx.Intermediate)
    graphdef, params, _ = nnx.split(sparse, nnx.Param, ...)
    return nnx.merge(graphdef, params)


def with_tied(tied: Tied) -> Tied:
    graphdef, first, _ = nnx.split(tied, nnx.PathContains("first"), ...)
    return nnx.merge(graphdef, first)


def filled(model: Model) -> Model:
    graphdef, params, stats = nnx.split(model, nnx.Param, ...)
    params["calls"] = stats["calls"]
    params["norm"]["mean"] = stats["norm"]["mean"]
    params["norm"]["var"] = stats["norm"]["var"]
    return nnx.merge(graphdef, params)


def must_fail() -> None:
    try:
        nnx.merge(graphdef, params)
    except ValueError:
        print("as expected")


def with_all(model: Model) -> Model:
    graphdef, state = nnx.split(model)
    return nnx.merge(graphdef, state)


def with_pure_dicts(model: Model) -> Model:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    return nnx.merge(graphdef, nnx.to_pure_dict(params), rest)


# -- unsure
def with_others(model: Model, others: list[nnx.State], filter: nnx.filterlib.Filter) -> None:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    nnx.merge(graphdef, params, *others)
    nnx.merge(graphdef, params, others[0])
    some, more = nnx.state(model, nnx.Param, filter)
    nnx.merge(graphdef, some, more)
    for each in (params, rest):
        nnx.merge(graphdef, params, each)
    both = {"params": params, "rest": rest}
    nnx.merge(graphdef, both["params"], both["rest"])


def of_subclass(model: Model, base: nnx.Module) -> None:
    nnx.merge(nnx.graphdef(model), nnx.state(base, nnx.Param))
    nnx.merge(nnx.graphdef(base), nnx.state(base, nnx.Param))
