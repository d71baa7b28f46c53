"""`pmap` on one device: it is the loop over one lane; the laws hold in NNX too.

`eight_devices_maps.py` has the cases that need several devices.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of, stacked_model, update, values, vmap_by_loop
from tests.transforms.modes import all_modes, fixed_modes

XS = jnp.arange(3.0).reshape(1, 3)


def one_lane(lib: Any) -> Any:
    return stacked_model(lib, lanes=1)


def read(model: Any, x: Any) -> Any:
    """Read the weight of a lane, write nothing."""
    return model.weight[...] * x


# -- values ------------------------------------------------------------------------------------


@both
@all_modes
def test_it_is_compiled_once(lib, mode):
    traces: list[Any] = []

    def step(model: Any, x: Any) -> Any:
        traces.append(None)
        return update(model, x)

    mapped, model = lib.pmap(step, **mode), one_lane(lib)
    other = lib.clone(model)
    mapped(model, XS)
    mapped(model, XS)  # now the values lie on a mesh, which jax counts as another type
    first = len(traces)
    mapped(model, XS)
    mapped(other, XS)
    assert len(traces) == first


# -- options -----------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize("numbers", [2, (2,), [2]], ids=str)
def test_static_arguments_are_python_values(lib, mode, numbers):
    mapped = lib.pmap(
        lambda model, x, what: read(model, x) * len(what),
        static_broadcasted_argnums=numbers,
        **mode,
    )
    model = one_lane(lib)
    for what in ("a", "abc", "b"):
        assert mapped(model, XS, what).tolist() == (XS * XS * len(what)).tolist()


@both
@all_modes
def test_a_static_argument_without_hash_is_an_error(lib, mode):
    mapped = lib.pmap(lambda x, what: x, static_broadcasted_argnums=1, **mode)
    with pytest.raises(ValueError, match=r"(?i)hash"):
        mapped(XS, jnp.ones(2))


@pytest.mark.thorough
@both
def test_a_donated_model_stays_usable(lib):
    model = one_lane(lib)
    mapped = lib.pmap(update, donate_argnums=0)
    mapped(model, XS)  # moves it to the mesh
    before = [model.weight[...], model.total[...]]
    expected, left = vmap_by_loop(update, lib.clone(model), XS)
    np.testing.assert_allclose(mapped(model, XS), expected)
    assert [buffer.is_deleted() for buffer in before] == [True, True]
    assert values(model) == values(left)


@both
@all_modes
def test_devices_backend_and_size_are_passed_on(lib, mode):
    device, cpu = jax.devices()[0], jax.devices("cpu")[0]
    for options, used in (
        ({"devices": [device]}, device),
        ({"backend": "cpu"}, cpu),
        ({"axis_size": 1}, device),
    ):
        result = lib.pmap(lambda x: x * 2, **options, **mode)(XS)
        assert result.tolist() == (XS * 2).tolist()
        assert result.devices() == {used}
    with pytest.raises(ValueError, match="axis_size"):
        lib.pmap(lambda x: x, axis_size=7, **mode)(XS)
    with pytest.raises(ValueError, match="devices"):
        lib.pmap(lambda x: x, devices=[], **mode)(XS)


@both
def test_what_is_only_read_lies_on_the_mesh_afterwards(lib):
    """So that the next call need not move it."""
    model = one_lane(lib)
    lib.pmap(read, axis_name="copy")(model, XS)
    assert model.weight[...].sharding.spec == jax.sharding.PartitionSpec("copy")


@fixed_modes
@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_what_is_only_read_of_a_donated_model_stays_usable(mode):
    """flax leaves it deleted."""
    model = one_lane(nnx)
    mapped = nnx.pmap(read, donate_argnums=0, **mode)
    for _ in range(3):
        assert mapped(model, XS).tolist() == (XS * XS).tolist()
    assert values(model) == values(one_lane(nnx))


# -- ours --------------------------------------------------------------------------------------


def test_arguments_given_by_name_count_in_their_position():
    """flax refuses them."""
    model = model_of(nnx, weight=nnx.Param(jnp.arange(3.0)))
    mapped = nnx.pmap(read, in_axes=(None, 0))
    assert mapped(x=XS, model=model).tolist() == (XS * XS).tolist()


@pytest.mark.thorough
def test_a_compiled_function_does_not_keep_models():
    mapped, model = nnx.pmap(update), one_lane(nnx)
    mapped(model, XS)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None
    assert mapped(one_lane(nnx), XS).shape == (1, 3)


def test_positions_may_count_from_the_end():
    mapped = nnx.pmap(lambda x, what: x * len(what), static_broadcasted_argnums=-1)
    assert mapped(XS, "abc").tolist() == (XS * 3).tolist()


def test_positions_that_do_not_exist_are_an_error():
    with pytest.raises(nnx.errors.ArgumentError, match="static_broadcasted_argnums: .*2"):
        nnx.pmap(lambda x, y: x, static_broadcasted_argnums=2)
    with pytest.raises(nnx.errors.ArgumentError, match="donate_argnums: .*2"):
        nnx.pmap(lambda x, y: x, donate_argnums=2)
    with pytest.raises(nnx.errors.PrefixError, match="pmap of .*: in_axes"):
        nnx.pmap(lambda x, y: x, in_axes=(0,))(XS, XS)
