"""`shard_map` on one device, where a block is the whole; the laws hold in NNX too.

`eight_devices_maps.py` has the cases that need several devices.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both, said
from tests.transforms.mapping_scenarios import model_of, values
from tests.transforms.modes import all_modes, fixed_modes

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


# -- specs -------------------------------------------------------------------------------------


@pytest.mark.thorough
@both
@all_modes
@pytest.mark.parametrize("in_specs", [CUT, (CUT, CUT)], ids=["one", "each"])
def test_blocks_go_in_and_what_was_written_comes_back(lib, mode, in_specs):
    one = model(lib)
    call = mapped(lib, step, in_specs, **mode)
    for count in (1, 2):
        assert call(one, XS).tolist() == (XS * XS).tolist()
        assert one.total[...].tolist() == [count * 3.0, count * 12.0]
    assert one.total[...].sharding == NamedSharding(MESH, CUT)


@pytest.mark.thorough
@both
def test_state_sharding_cuts_the_variables_of_one_model_differently(lib):
    one = model(lib)
    specs = lib.StateSharding({lib.BatchStat: CUT, ...: WHOLE})
    assert mapped(lib, step, (specs, CUT))(one, XS).tolist() == (XS * XS).tolist()
    assert one.total[...].sharding.spec == CUT
    assert one.weight[...].sharding.spec == WHOLE


@pytest.mark.thorough
@both
@fixed_modes
def test_a_prefix_cuts_the_variables_of_one_model_differently(lib, mode):
    one = model(lib)
    specs = lib.prefix(one, {lib.BatchStat: CUT, ...: WHOLE}, graph=mode.get("graph", True))
    assert mapped(lib, step, (specs, CUT), **mode)(one, XS).tolist() == (XS * XS).tolist()
    assert one.total[...].sharding.spec == CUT


@pytest.mark.thorough
@both
@all_modes
def test_specs_follow_the_nest_of_the_arguments(lib, mode):
    nest = {"model": model(lib), "x": XS, "scale": jnp.array(2.0)}
    specs = ({"model": CUT, "x": CUT, "scale": WHOLE}, {"a": CUT, "b": [WHOLE]})

    def each(nest: Any, other: Any) -> Any:
        return {
            "y": step(nest["model"], nest["x"]) * nest["scale"] + other["b"][0],
            "a": other["a"],
        }

    found = mapped(lib, each, specs, {"y": CUT, "a": CUT}, **mode)(
        nest, {"a": XS, "b": [jnp.array(1.0)]}
    )
    assert found["y"].tolist() == (XS * XS * 2 + 1).tolist()
    assert found["a"].tolist() == XS.tolist()


@both
def test_what_is_only_read_lies_on_the_mesh_afterwards(lib):
    one = model(lib)
    mapped(lib, lambda model, x: model.weight[...] * x, (WHOLE, CUT))(one, XS)
    assert one.weight[...].sharding == NamedSharding(MESH, WHOLE)
    assert one.total[...].sharding == NamedSharding(MESH, WHOLE)


@both
@all_modes
def test_specs_that_do_not_fit_the_arguments_are_an_error(lib, mode):
    for in_specs in ((CUT,), (CUT, CUT, CUT)):
        with pytest.raises(ValueError, match=said(lib, "in_specs|structure")):
            mapped(lib, step, in_specs, **mode)(model(lib), XS)
    with pytest.raises(ValueError, match=said(lib, "out_specs|structure")):
        mapped(lib, step, CUT, None, **mode)(model(lib), XS)


@both
@all_modes
def test_a_sharding_is_no_spec(lib, mode):
    with pytest.raises(TypeError, match="PartitionSpec"):
        mapped(lib, step, (NamedSharding(MESH, CUT), CUT), **mode)(model(lib), XS)


# -- replication -------------------------------------------------------------------------------


@both
@all_modes
def test_devices_cannot_share_a_variable_with_a_value_for_each(lib, mode):
    one = model(lib)
    before = values(one)
    with pytest.raises(ValueError, match=r"replicat"):
        mapped(lib, step, (WHOLE, CUT), **mode)(one, XS)
    assert values(one) == before


@both
@all_modes
def test_without_the_check_one_device_gives_the_value(lib, mode):
    one = model(lib)
    mapped(lib, step, (WHOLE, CUT), check_vma=False, **mode)(one, XS)
    assert one.total[...].tolist() == [3.0, 12.0]
    assert one.total[...].sharding.spec == WHOLE


@pytest.mark.thorough
@both
@all_modes
def test_devices_share_a_value_that_was_reduced(lib, mode):
    def reduce(model: Any, x: Any) -> Any:
        model.total[...] += jax.lax.psum(x.sum(), "d")
        return jax.lax.pmax(x.max(), "d")

    one = model(lib)
    assert float(mapped(lib, reduce, (WHOLE, CUT), WHOLE, **mode)(one, XS)) == 5.0
    assert one.total[...].tolist() == [15.0, 15.0]


# -- objects -----------------------------------------------------------------------------------


@both
@all_modes
def test_models_made_inside_are_put_together(lib, mode):
    def made(x: Any) -> Any:
        return model_of(lib, weight=lib.Param(x), total=lib.BatchStat(x * 2))

    found = mapped(lib, made, CUT, **mode)(XS)
    assert (found.weight[...].tolist(), found.total[...].tolist()) == (
        XS.tolist(),
        (XS * 2).tolist(),
    )


@both
def test_a_model_made_inside_may_have_a_spec_for_each_variable(lib):
    def made(x: Any) -> Any:
        return model_of(lib, weight=lib.Param(x), total=lib.BatchStat(jnp.ones(2)))

    specs = lib.StateSharding({lib.Param: CUT, ...: WHOLE})
    found = mapped(lib, made, CUT, specs)(XS)
    assert found.weight[...].sharding.spec == CUT
    assert found.total[...].sharding.spec == WHOLE


# -- forms -------------------------------------------------------------------------------------


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
