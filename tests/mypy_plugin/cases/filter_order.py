from __future__ import annotations

import contextlib
from typing import Any

import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)


class Deep(nnx.Module):
    def __init__(self) -> None:
        self.layers = nnx.List([Model(nnx.Rngs(0))])
        self.named = nnx.Dict({"a": nnx.Linear(2, 3, rngs=nnx.Rngs(0))})


class Rows(nnx.Module):
    def __init__(self) -> None:
        self.rows = nnx.List([Model(nnx.Rngs(0))])


class Opened(nnx.Module):
    def __init__(self, name: str) -> None:
        self.linear = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        setattr(self, name, 1)


class Derived(Deep):
    pass


class Scale(nnx.Param[Any]):
    """A kind of Param."""


model = Model(nnx.Rngs(0))
state = nnx.state(model)

# -- reports
nnx.split(model, ..., nnx.Param)  # E: it must be the last filter  [nnx-filter-order]
# E: split: `True` takes every remaining leaf  [nnx-filter-order]
nnx.split(model, nnx.Param, True, nnx.Cache)
nnx.state(model, ..., nnx.Param)  # E: it must be the last filter  [nnx-filter-order]
# E: State.split: `...`  [nnx-filter-order]
# E: `State.split` is deprecated  [nnx-deprecated]
used = state.split(..., nnx.Param)
# E: it must be the last filter  [nnx-filter-order]
# E: `State.filter` is deprecated  [nnx-deprecated]
used = state.filter(..., nnx.Param)
nnx.StateAxes({...: None, nnx.Param: 0})  # E: StateAxes: `...` takes every remaining leaf, so it must be the last filter  [nnx-filter-order]
nnx.StateSharding({nnx.Variable: None, nnx.Param: None})  # E: StateSharding: nothing is left for Param: Variable comes before it  [nnx-filter-order]
used = nnx.split_state(state, ..., nnx.Param)  # E: it must be the last filter  [nnx-filter-order]
used = nnx.filter_state(state, ..., nnx.Param)  # E: it must be the last filter  [nnx-filter-order]
# E: nothing is left for Param: the same filter comes before it. Fix: remove it  [nnx-filter-order]
nnx.state(model, nnx.Param, nnx.Param)
# E: nothing is left for Param: Variable comes before it and takes the same leaves. Fix: put Param before Variable  [nnx-filter-order]
nnx.split(model, nnx.Variable, nnx.Param, ...)
nnx.split(model, nnx.Param, Scale, ...)  # E: Fix: put Scale before Param  [nnx-filter-order]
# E: (Param, BatchStat) comes before it  [nnx-filter-order]
nnx.state(model, (nnx.Param, nnx.BatchStat), nnx.BatchStat)
nnx.state(model, nnx.Everything(), nnx.Param)  # E: nothing is left for Param  [nnx-filter-order]
# E: the filters before it take every leaf  [nnx-filter-order]
nnx.state(model, nnx.Param, nnx.Not(nnx.Param), nnx.Cache)
nnx.state(model, ..., ...)  # E: nothing is left for ...  [nnx-filter-order]
# E: Param comes before it  [nnx-filter-order]
nnx.state(model, nnx.Param, nnx.All(nnx.Param, nnx.PathContains("kernel")))
nnx.state(model, "tag", nnx.WithTag("tag"))  # E: nothing is left for 'tag'  [nnx-filter-order]
chosen = nnx.Not(nnx.Param)
nnx.state(model, chosen, chosen)  # E: nothing is left for Not(Param)  [nnx-filter-order]

# E: state: no path in Model has 'liner', so PathContains('liner') takes nothing. Fix: did you mean 'linear'?  [nnx-filter-order]
nnx.state(model, nnx.PathContains("liner"))
# E: split: no path in Model has 'x', so PathContains('x') takes nothing. Fix: use what is there: linear, kernel, bias  [nnx-filter-order]
nnx.split(model, nnx.Not(nnx.PathContains("x")), ...)
# E: no path in Model has a key with 'X'  [nnx-filter-order]
nnx.split(model, nnx.All(nnx.Param, nnx.PathContains("X", exact=False)), ...)
# E typed_nnx: no path in Model is ('linear',) or ('linear', 'scale'), so PathIn  [nnx-filter-order]
nnx.split(model, nnx.PathIn(("linear",), ("linear", "scale")), ...)
nnx.state(Rows(), nnx.PathContains("row"))  # E: Fix: did you mean 'rows'?  [nnx-filter-order]

# -- correct
with contextlib.suppress(ValueError):  # and pytest.raises(...)
    nnx.split(model, ..., nnx.Param)

nnx.split(model, nnx.Param, ...)
nnx.split(model, Scale, nnx.Param, ...)
nnx.split(model, nnx.Param, nnx.Variable, ...)
nnx.state(model, ...)
nnx.state(model, None, nnx.Param)
nnx.state(model, None, None)
nnx.state(model, "params", "dropout")
nnx.state(model, nnx.PathContains("linear"), nnx.Param)
nnx.state(model, nnx.PathIn(("linear", "kernel"), ("linear", "bias")))
nnx.state(model, nnx.PathContains("lin", exact=False))
nnx.state(Deep(), nnx.PathContains(0), nnx.PathContains("a"), nnx.PathIn(("named", "b", "kernel")))
nnx.state(model, nnx.BatchStat, nnx.Cache)
nnx.state(model, nnx.Not(nnx.Param), nnx.Param)
nnx.state(model, nnx.Param, nnx.BatchStat, (nnx.Cache, nnx.Param))
nnx.state(model, nnx.PathContains("lin", exact=False), nnx.PathContains("linear"))
nnx.split(model, *[nnx.Param, ...])
nnx.StateAxes({nnx.PathContains("a"): 1, nnx.Param: 0, ...: None})
nnx.StateSharding({Scale: None, nnx.Param: None})


# -- unsure
nnx.state(Opened("a"), nnx.PathContains("a"))
nnx.state(Deep(), nnx.PathContains("nothing"))  # the Dict may have it, and there is a subclass


def any_filter(first: nnx.filterlib.Filter) -> None:
    nnx.split(model, first, nnx.Param)
    nnx.split(model, nnx.Param, first)
    nnx.split(model, first, first)


def a_class(kind: type[nnx.Variable[Any]]) -> None:
    nnx.split(model, kind, nnx.Param, ...)  # it may be a BatchStat


def functions() -> None:
    nnx.state(model, lambda path, value: "a" in path, lambda path, value: "a" in path)


def one_of_two(flag: bool) -> None:
    kind = nnx.Param if flag else nnx.Variable
    nnx.state(model, kind, nnx.Param)
