"""`vmap`, a `scan` without a carry and, on one device, `pmap`: what they map is what flax maps.

That they are the loop over the lanes is the independent way to the numbers.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.as_in_flax import Call, assert_as_in_flax
from tests.transforms.mapping_scenarios import model_of, stacked_model, update, values, vmap_by_loop
from tests.transforms.modes import all_modes

XS = jnp.arange(12.0).reshape(4, 3)

each_map = pytest.mark.parametrize("transform", ["vmap", "scan", "pmap"])


def rows(transform: str) -> Any:
    """Float [lanes, 3]: `pmap` has one lane, since there is one device."""
    return XS[1:2] if transform == "pmap" else XS


def read(model: Any, x: Any) -> Any:
    """Read the Variables of a lane, write none."""
    return model.weight[...] * x + model.total[...].reshape(1)


class Map(tp.NamedTuple):
    """A function of a lane, its arguments, and the options of the transform."""

    step: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any] = {}


def of_plain_model(lib: Any) -> Any:
    return model_of(lib, weight=lib.Param(jnp.arange(3.0)), total=lib.BatchStat(jnp.ones(())))


def along(axis: int) -> Callable[[Any, Any], Map]:
    def make(lib: Any, xs: Any) -> Map:
        def step(model: Any, x: Any) -> Any:
            model.weight[...] += x
            return {"array": model.weight[...], "model": model_of(lib, weight=lib.Param(x))}

        model = model_of(lib, weight=lib.Param(xs.T))
        return Map(step, (model, xs), {"in_axes": (axis, 0), "out_axes": axis})

    return make


def by_prefix(lib: Any, xs: Any) -> Map:
    def step(model: Any, x: Any) -> Any:
        model.weight[...] *= 2
        return read(model, x)

    model = model_of(lib, weight=lib.Param(xs), total=lib.BatchStat(jnp.ones(())))
    return Map(step, (model, xs), {"in_axes": (lib.prefix(model, {lib.Param: 0, ...: None}), 0)})


def made_by_prefix(lib: Any, xs: Any) -> Map:
    class Pair(lib.Module):
        def __init__(self, x: Any) -> None:
            self.weight = lib.Param(x)
            self.total = lib.BatchStat(x)

    return Map(Pair, (xs,), {"out_axes": lib.prefix(Pair(xs[0]), {lib.Param: 1, ...: 0})})


def new_model(lib: Any) -> Callable[[Any], Any]:
    return lambda x: model_of(lib, weight=lib.Param(x * 2), total=lib.BatchStat(x), kind="made")


MAPS: dict[str, Callable[[Any, Any], Map]] = {
    "all Variables": lambda lib, xs: Map(update, (stacked_model(lib, len(xs)), xs)),
    "streams": lambda lib, xs: Map(
        lambda rngs: rngs.params.normal((2,)), (lib.Rngs(params=0).split(len(xs)),)
    ),
    "a new model": lambda lib, xs: Map(new_model(lib), (xs,)),
    "a new model by StateAxes": lambda lib, xs: Map(
        lambda x: (new_model(lib)(x), x),
        (xs,),
        {"out_axes": (lib.StateAxes({lib.Param: 1, ...: 0}), 0)},
    ),
    "a constant": lambda lib, xs: Map(lambda x: 3.0, (xs,)),
    "nothing": lambda lib, xs: Map(lambda x: None, (xs,)),
    "no axis": lambda lib, xs: Map(read, (of_plain_model(lib), xs), {"in_axes": (None, 0)}),
    "axis 1": along(1),
    "axis -1": along(-1),
    "a prefix": by_prefix,
    "a prefix of a result": made_by_prefix,
}


@all_modes
@each_map
@pytest.mark.parametrize("name", MAPS)
def test_lanes_get_and_leave_what_they_do_in_flax(mode, transform, name):
    xs = rows(transform)

    def make(lib: Any) -> Call:
        with lib.set_graph_mode(mode.get("graph", True)):  # of the prefixes
            step, arguments, options = MAPS[name](lib, xs)
        options = {"in_axes": 0, "out_axes": 0, **options}
        return Call(getattr(lib, transform)(step, **options, **mode), arguments)

    assert_as_in_flax(make, calls=2)


def total_and_index(model: Any, x: Any) -> Any:
    return jax.lax.psum(x, "lanes"), jax.lax.axis_index("lanes")


def counted(model: Any, x: Any) -> Any:
    model.total[...] += 1
    return x


def with_new_variables(lib: Any) -> Map:
    def step(model: Any) -> None:
        model.cached = lib.Cache(model.weight[...])
        model.fixed = lib.BatchStat(jnp.ones(2))

    axes = lib.StateAxes({lib.Param: 0, lib.Cache: 1, ...: None})
    return Map(step, (model_of(lib, weight=lib.Param(XS)),), {"in_axes": (axes,)})


def by_tag(lib: Any) -> Map:
    rngs = lib.Rngs(params=0, dropout=1)
    rngs.params = rngs.params.split(4)
    return Map(
        lambda r, x: r.params.key[...].ndim + r.dropout.key[...].ndim,
        (rngs, XS),
        {"in_axes": (lib.StateAxes({"params": 0, "dropout": None}), 0)},
    )


def in_one_model(axes: Callable[[Any], Any], step: Any) -> Callable[[Any], Map]:
    return lambda lib: Map(step, (stacked_model(lib), XS), {"in_axes": (axes(lib), 0)})


VMAPS: dict[str, Callable[[Any], Map]] = {
    "axis_name": lambda lib: Map(
        total_and_index, (stacked_model(lib), XS), {"axis_name": "lanes"}
    ),
    "spmd_axis_name": lambda lib: Map(
        update, (stacked_model(lib), XS), {"spmd_axis_name": ("data", "model")}
    ),
    "axis_size alone": lambda lib: Map(
        lambda: model_of(lib, weight=lib.Param(jnp.ones(2))), (), {"axis_size": 5}
    ),
    "no axis": lambda lib: Map(lambda x: x, (XS,), {"in_axes": None}),
    "no argument": lambda lib: Map(lambda: 1.0, ()),
    "other sizes": lambda lib: Map(update, (stacked_model(lib, 5), XS)),
    "another axis_size": lambda lib: Map(lambda x: x, (XS,), {"axis_size": 3}),
    "an axis that is a text": lambda lib: Map(update, (stacked_model(lib), XS), {"in_axes": "a"}),
    "an axis that is not there": lambda lib: Map(
        update, (stacked_model(lib), XS), {"in_axes": (1, 0)}
    ),
    "one value for all lanes": lambda lib: Map(
        counted, (of_plain_model(lib), XS), {"in_axes": (None, 0)}
    ),
    "one result for all lanes": lambda lib: Map(
        lambda x: model_of(lib, weight=lib.Param(jnp.ones(2))), (XS,), {"out_axes": None}
    ),
    "a result for each lane, and no axis": lambda lib: Map(lambda x: x, (XS,), {"out_axes": None}),
    "StateAxes by path and type": in_one_model(
        lambda lib: lib.StateAxes({lib.PathContains("bias"): None, lib.Param: 0, ...: 0}),
        lambda m, x: m.weight[...] * x + m.inner.bias[0].reshape(1),
    ),
    "StateAxes of a State": in_one_model(
        lambda lib: lib.StateAxes(
            lib.State({"weight": 0, "total": None, "inner": {"bias": None}})
        ),
        lambda m, x: m.weight[...] * x + m.total.sum(),
    ),
    "a tag": by_tag,
    "a tag that nothing has": in_one_model(lambda lib: lib.StateAxes({"weight": 0}), read),
    "StateAxes of new Variables": with_new_variables,
}  # fmt: skip


@all_modes
@pytest.mark.parametrize("name", VMAPS)
def test_options_do_what_they_do_in_flax(mode, name):
    def make(lib: Any) -> Call:
        step, arguments, options = VMAPS[name](lib)
        return Call(lib.vmap(step, **options, **mode), arguments)

    assert_as_in_flax(make)


# -- what these tables do not say ------------------------------------------------------------------


@both
@all_modes
@each_map
def test_the_result_and_the_variables_are_those_of_the_loop(lib, mode, transform):
    xs = rows(transform)
    model, loop = (stacked_model(lib, len(xs)) for _ in range(2))
    variables = (model.weight, model.total, model.inner)
    run = getattr(lib, transform)(update, in_axes=0, out_axes=0, **mode)
    for inputs in (xs, xs + 1):
        expected, loop = vmap_by_loop(update, loop, inputs)
        np.testing.assert_allclose(run(model, inputs), expected)
    assert values(model) == values(loop)
    after = (model.weight, model.total, model.inner)
    assert all(one is other for one, other in zip(variables, after, strict=True))


@both
def test_state_axes_is_a_mapping_from_filters_to_axes(lib: Any) -> None:
    axes: Any = lib.StateAxes({lib.Param: 0, ...: None})
    assert issubclass(type(axes), Mapping)
    assert (axes.filters, axes.axes) == ((lib.Param, ...), (0, None))
    assert dict(axes) == {lib.Param: 0, ...: None}
    assert (len(axes), list(axes), list(axes.values())) == (2, [lib.Param, ...], [0, None])
    assert (axes[lib.Param], ... in axes) == (0, True)
    assert lib.StateAxes(axes) == axes != {lib.Param: 0, ...: None}
    with pytest.raises(AttributeError):
        axes.axes = (1,)


@both
def test_the_decorator_works_bare_with_arguments_and_on_methods(lib: Any):
    class Model(lib.Module):
        def __init__(self) -> None:
            self.total = lib.BatchStat(jnp.zeros(4))

        @lib.vmap
        def add(self, x: Any) -> Any:
            self.total[...] += x.sum()
            return x * 2

        @lib.vmap(in_axes=(None, 1), out_axes=1)
        def read(self, x: Any) -> Any:
            return x + self.total[0]

    model = Model()
    assert model.add(XS).tolist() == (XS * 2).tolist()
    assert model.total[...].tolist() == XS.sum(1).tolist()
    assert model.read(XS).tolist() == (XS + XS[0].sum()).tolist()


@both
def test_one_new_object_under_two_out_axes_is_an_error(lib):
    def step(x: Any) -> Any:
        made = model_of(lib, weight=lib.Param(x))
        return made, made

    with pytest.raises(ValueError, match="Inconsistent aliasing"):
        lib.vmap(step, out_axes=(0, 1))(XS)


@all_modes
def test_every_shared_variable_with_a_value_per_lane_is_named(mode):
    model = model_of(
        nnx,
        inner=model_of(nnx, first_total=nnx.BatchStat(jnp.zeros(()))),
        second_total=nnx.BatchStat(jnp.zeros(())),
    )

    def step(model: Any, x: Any) -> None:
        model.inner.first_total[...] += x.sum()
        model.second_total[...] += x.sum()

    with pytest.raises(nnx.errors.BroadcastChangedError) as caught:
        nnx.vmap(step, in_axes=(None, 0), **mode)(model, XS)
    text = str(caught.value)
    assert "first_total" in text
    assert "second_total" in text
    assert "inner" in text
    assert "Fix: " in text
    assert float(model.inner.first_total[...]) == float(model.second_total[...]) == 0.0
