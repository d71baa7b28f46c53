"""`shard_map` on one device, where a block is the whole: values and places are those of flax.

`eight_devices_maps.py` has the cases that need several devices.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.as_in_flax import Call, assert_as_in_flax
from tests.transforms.mapping_scenarios import model_of
from tests.transforms.modes import all_modes

XS = jnp.arange(6.0).reshape(2, 3)
MESH = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
CUT: Any = P("d")
WHOLE: Any = P()


def model(lib: Any) -> Any:
    return model_of(lib, weight=lib.Param(XS), total=lib.BatchStat(jnp.zeros(2)), kind="a")


def step(model: Any, x: Any) -> Any:
    """Write a value that differs from block to block; float x [n, 3] -> float [n, 3]."""
    model.total[...] += x.sum(1)
    return model.weight[...] * x


def mapped(lib: Any, function: Any, in_specs: Any, out_specs: Any = CUT, **options: Any) -> Any:
    return lib.shard_map(function, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)


class Mapped(tp.NamedTuple):
    """A function of blocks, its arguments, and the options of `shard_map`."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]


def cut(in_specs: Any, out_specs: Any = CUT, **options: Any) -> Callable[[Any, Any], Mapped]:
    """Cut a model and an array by specs."""

    def make(lib: Any, mode: Any) -> Mapped:
        specs = in_specs(lib) if callable(in_specs) else in_specs
        given = {"in_specs": specs, "out_specs": out_specs, **options}
        return Mapped(step, (model(lib), XS), given)

    return make


def by_prefix(lib: Any, mode: Any) -> Mapped:
    one = model(lib)
    specs = lib.prefix(one, {lib.BatchStat: CUT, ...: WHOLE}, graph=mode.get("graph", True))
    return Mapped(step, (one, XS), {"in_specs": (specs, CUT), "out_specs": CUT})


def of_a_nest(lib: Any, mode: Any) -> Mapped:
    def each(nest: Any, other: Any) -> Any:
        y = step(nest["model"], nest["x"]) * nest["scale"] + other["b"][0]
        return {"y": y, "a": other["a"]}

    specs = ({"model": CUT, "x": CUT, "scale": WHOLE}, {"a": CUT, "b": [WHOLE]})
    arguments = (
        {"model": model(lib), "x": XS, "scale": jnp.array(2.0)},
        {"a": XS, "b": [jnp.array(1.0)]},
    )
    return Mapped(each, arguments, {"in_specs": specs, "out_specs": {"y": CUT, "a": CUT}})


def only_read(lib: Any, mode: Any) -> Mapped:
    options = {"in_specs": (WHOLE, CUT), "out_specs": CUT}
    return Mapped(lambda model, x: model.weight[...] * x, (model(lib), XS), options)


def reduced(lib: Any, mode: Any) -> Mapped:
    def reduce(model: Any, x: Any) -> Any:
        model.total[...] += jax.lax.psum(x.sum(), "d")
        return jax.lax.pmax(x.max(), "d")

    options = {"in_specs": (WHOLE, CUT), "out_specs": WHOLE}
    return Mapped(reduce, (model(lib), XS), options)


def made(out_specs: Callable[[Any], Any]) -> Callable[[Any, Any], Mapped]:
    def make(lib: Any, mode: Any) -> Mapped:
        def function(x: Any) -> Any:
            return model_of(lib, weight=lib.Param(x), total=lib.BatchStat(jnp.ones(2)))

        return Mapped(function, (XS,), {"in_specs": CUT, "out_specs": out_specs(lib)})

    return make


CALLS: dict[str, Callable[[Any, Any], Mapped]] = {
    "one spec": cut(CUT),
    "a spec for each argument": cut((CUT, CUT)),
    "StateSharding": cut(lambda lib: (lib.StateSharding({lib.BatchStat: CUT, ...: WHOLE}), CUT)),
    "a prefix": by_prefix,
    "a nest": of_a_nest,
    "what is only read": only_read,
    "too few specs": cut((CUT,)),
    "too many specs": cut((CUT, CUT, CUT)),
    "no spec for the result": cut(CUT, None),
    "a sharding for a spec": cut((NamedSharding(MESH, CUT), CUT)),
    "a value for each device": cut((WHOLE, CUT)),
    "a value for each device, unchecked": cut((WHOLE, CUT), check_vma=False),
    "a value that was reduced": reduced,
    "a new model": made(lambda lib: CUT),
    "a new model by StateSharding": made(
        lambda lib: lib.StateSharding({lib.Param: CUT, ...: WHOLE})
    ),
}


def places(tree: Any) -> list[str]:
    return [str(leaf.sharding) for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array)]


@all_modes
@pytest.mark.parametrize("name", CALLS)
def test_blocks_come_and_go_as_in_flax(mode, name):
    def make(lib: Any) -> Call:
        function, arguments, options = CALLS[name](lib, mode)
        call = mapped(lib, function, **options, **mode)

        def run(*arguments: Any) -> Any:
            result = call(*arguments)
            return result, places([result, arguments])

        return Call(run, arguments)

    assert_as_in_flax(make, calls=2)


@pytest.mark.thorough
@both
@all_modes
def test_it_runs_inside_jit_and_grad(lib, mode):
    one = model(lib)
    call = mapped(lib, step, CUT, **mode)
    assert lib.jit(call, **mode)(one, XS).tolist() == (XS * XS).tolist()
    assert one.total[...].tolist() == [3.0, 12.0]
    slope = lib.grad(lambda model, x: call(model, x).sum(), **mode)(one, XS)
    found = slope["weight"] if hasattr(slope, "flat_state") else slope.weight
    assert found[...].tolist() == XS.tolist()


@both
def test_only_the_named_axes_are_mapped(lib: Any) -> None:
    mesh: Mesh = jax.make_mesh((1, 1), ("d", "e"), axis_types=(AxisType.Auto,) * 2)
    one, names = model(lib), []

    def seen(model: Any, x: Any) -> Any:
        names.append(jax.lax.axis_size("d"))
        with pytest.raises(Exception, match="e"):
            jax.lax.psum(x, "e")
        return step(model, x)

    call = lib.shard_map(seen, mesh=mesh, in_specs=CUT, out_specs=CUT, axis_names={"d"})
    assert lib.jit(call)(one, XS).tolist() == (XS * XS).tolist()
    assert set(names) == {1}


# -- ours --------------------------------------------------------------------------------------


@pytest.mark.thorough
@all_modes
def test_arguments_given_by_name_have_specs_in_their_position(mode):
    """flax refuses them."""

    def scaled(model: Any, x: Any, *, scale: Any) -> Any:
        assert scale.shape == (2,)
        return step(model, x) * scale.sum()

    one = model(nnx)
    found = mapped(nnx, scaled, (CUT, CUT), **mode)(one, x=XS, scale=jnp.ones(2))
    assert found.tolist() == (XS * XS * 2).tolist()
    assert one.total[...].tolist() == [3.0, 12.0]


@pytest.mark.thorough
def test_the_error_names_what_devices_cannot_share():
    one = model(nnx)
    with pytest.raises(nnx.errors.BroadcastChangedError) as info:
        mapped(nnx, step, (WHOLE, CUT))(one, XS)
    assert ".total: spec P(), the value differs along 'd'" in str(info.value)
    assert "weight" not in str(info.value)

    def count(x: Any) -> Any:
        one.total[...] += x.sum(1)

    with pytest.raises(nnx.errors.BroadcastChangedError, match=r"captured .*total"):
        mapped(nnx, count, CUT, None)(XS)


@pytest.mark.thorough
def test_no_spec_is_a_whole_model():
    one = model(nnx)
    call = mapped(nnx, lambda model, x: model.weight[...] * x, (None, CUT))
    assert call(one, XS).tolist() == (XS * XS).tolist()
    specs = nnx.StateSharding({nnx.BatchStat: CUT, ...: None})
    assert mapped(nnx, step, (specs, CUT))(one, XS).tolist() == (XS * XS).tolist()
    assert one.weight[...].sharding.spec == WHOLE
