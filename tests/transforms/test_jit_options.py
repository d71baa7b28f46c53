"""`jit`: static and donated arguments, shardings and the options that go to jax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import bump, count_of, counter, counting, numbers, raw
from tests.transforms.modes import all_modes, shared_modes

MESH = Mesh(np.array(jax.devices()[:1]), ("data",))
WHOLE, SPLIT = NamedSharding(MESH, P()), NamedSharding(MESH, P("data"))


def times(model, k):
    """Multiply by `k`, which must be a Python number."""
    assert type(k) is int
    model.count[...] += 1
    return model.kernel[...] * k


# -- static arguments ------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize(
    "options",
    [
        {"static_argnums": 1},
        {"static_argnums": (1,)},
        {"static_argnames": "k"},
        {"static_argnames": ["k"]},
    ],
    ids=str,
)
def test_static_arguments_are_python_values_by_position_and_by_name(lib, mode, options):
    traces: list[None] = []
    model = counter(lib)
    step = lib.jit(counting(traces, times), **options, **mode)
    assert numbers(step(model, 2)) == [2, 4, 6]
    assert numbers(step(model, k=3)) == [3, 6, 9]
    step(model, 2)
    step(counter(lib), k=3)
    assert count_of(model) == 3
    assert len(traces) <= 3


@both
@all_modes
def test_a_model_by_name_beside_a_static_argument_by_name_is_updated(lib, mode):
    model = counter(lib)
    step = lib.jit(times, static_argnames="k", **mode)
    assert numbers(step(model=model, k=2)) == [2, 4, 6]
    assert count_of(model) == 1


@both
@all_modes
def test_a_static_argument_with_a_default_may_be_left_out(lib, mode):
    step = lib.jit(lambda m, how="a": m.kernel[...] * len(how), static_argnames="how", **mode)
    assert numbers(step(counter(lib))) == [1, 2, 3]
    assert numbers(step(counter(lib), how="aa")) == [2, 4, 6]


@both
@all_modes
@pytest.mark.parametrize(
    "value", [[3], {"a": 1}, np.ones(2), jnp.ones(2)], ids=lambda v: str(type(v))
)
@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnames": "k"}], ids=str)
def test_a_static_argument_that_has_no_hash_is_an_error(lib, mode, options, value):
    model = counter(lib)
    with pytest.raises(ValueError, match="(?i)static.*hash|hash.*static"):
        lib.jit(lambda m, k: bump(m), **options, **mode)(model, value)
    assert count_of(model) == 0


@both
@all_modes
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"static_argnums": 5}, "(accepts|takes) 2 positional"),
        ({"static_argnames": "nope"}, "nope"),
        ({"donate_argnums": 3}, "(accepts|takes) 2 positional"),
        ({"static_argnums": 0, "donate_argnums": 0}, "cannot intersect"),
    ],
    ids=str,
)
def test_arguments_that_do_not_exist_or_are_two_things_are_errors(lib, mode, options, text):
    with pytest.raises(ValueError, match=text):
        lib.jit(lambda m, k: m.kernel[...], **options, **mode)(counter(lib), 1)


# -- donated arguments -----------------------------------------------------------------------------


def step_with_input(model, x):
    model.count[...] += 1
    model.kernel[...] = model.kernel[...] * 2
    return x * 2


@both
@all_modes
@pytest.mark.parametrize(
    ("options", "model_is_gone", "input_is_gone"),
    [
        ({}, False, False),
        ({"donate_argnums": 0}, True, False),
        ({"donate_argnums": (0, 1)}, True, True),
        ({"donate_argnames": "x"}, False, True),
        ({"donate_argnames": ("model",)}, True, False),
    ],
    ids=str,
)
def test_donated_arrays_are_gone_and_the_model_goes_on(
    lib, mode, options, model_is_gone, input_is_gone
):
    model, x = counter(lib), jnp.ones(3)
    kernel, count = raw(model.kernel), raw(model.count)
    step = lib.jit(step_with_input, **options, **mode)
    assert numbers(step(model, x)) == [2, 2, 2]
    assert (kernel.is_deleted(), count.is_deleted()) == (model_is_gone, model_is_gone)
    assert x.is_deleted() is input_is_gone
    step(model, jnp.ones(3))
    assert (numbers(model.kernel[...]), count_of(model)) == ([4, 8, 12], 2)


@both
@all_modes
def test_a_donated_model_that_is_only_read_stays_usable(lib, mode):
    model = counter(lib)
    step = lib.jit(lambda m: m.kernel[...] * 2, donate_argnums=0, **mode)
    assert numbers(step(model)) == [2, 4, 6]
    assert numbers(step(model)) == [2, 4, 6]
    assert (numbers(model.kernel[...]), count_of(model)) == ([1, 2, 3], 0)


@both
@all_modes
def test_a_keyword_model_can_be_donated(lib, mode):
    model = counter(lib)
    count = raw(model.count)
    lib.jit(lambda *, model: bump(model), donate_argnames="model", **mode)(model=model)
    assert (count.is_deleted(), count_of(model)) == (True, 1)


@both
@shared_modes
def test_a_model_that_is_donated_and_passed_again_is_donated_once(lib, mode):
    model = counter(lib)
    lib.jit(lambda a, b: bump(a), donate_argnums=0, **mode)(model, model)
    assert (numbers(model.kernel[...]), count_of(model)) == ([1, 2, 3], 1)


@all_modes
def test_an_array_donated_twice_is_not_lost(mode):
    model = counter(nnx)
    model.twin = nnx.Param(raw(model.kernel))
    with pytest.raises(ValueError, match="(?i)donate"):
        nnx.jit(bump, donate_argnums=0, **mode)(model)
    assert (numbers(model.twin[...]), count_of(model)) == ([1, 2, 3], 0)


# -- options that go to jax ------------------------------------------------------------------------


@both
@all_modes
def test_inline_leaves_no_call_in_the_outer_program(lib, mode):
    def outer(jit, **options):
        step = jit(lambda x: x * 2, **options)
        return [str(e.primitive) for e in jax.make_jaxpr(lambda x: step(x))(1.0).eqns]

    # From jax 0.11 on the call is there until the program is lowered.
    assert outer(lib.jit, inline=True, **mode) == outer(jax.jit, inline=True)
    assert outer(lib.jit, inline=False, **mode) == ["jit"]


@both
@all_modes
def test_keep_unused_keeps_arguments_in_the_program(lib, mode):
    def parameters(keep):
        step = lib.jit(lambda x, y: x * 2, keep_unused=keep, **mode)
        header = step.lower(1.0, 2.0).as_text().split("@main(")[1].split("->")[0]
        return header.count("tensor<")

    assert (parameters(keep=False), parameters(keep=True)) == (1, 2)


@both
def test_unknown_options_are_errors(lib):
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        lib.jit(bump, foo=1)


# -- shardings -------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    "of",
    [
        lambda lib: WHOLE,
        lambda lib: (WHOLE,),
        lambda lib: (lib.StateSharding({lib.Param: WHOLE, ...: None}),),
        lambda lib: (lib.StateSharding({"count": None, ...: WHOLE}),),
        lambda lib: (lib.StateSharding(lib.State({"kernel": WHOLE, "count": None})),),
    ],
    ids=["one", "tuple", "by_type", "by_tag", "by_state"],
)
def test_in_shardings_place_the_variables_of_a_model(lib, of):
    model = counter(lib)
    step = lib.jit(bump, in_shardings=of(lib))
    assert numbers(step(model)) == [1, 2, 3]
    assert count_of(model) == 1
    text = step.lower(model).as_text()
    assert "sharding" in text


@both
def test_partition_specs_take_the_mesh_of_the_context(lib):
    model = counter(lib)
    step = lib.jit(lambda m: m.kernel[...] * 2, in_shardings=(lib.StateSharding({...: P()}),))
    with pytest.raises(RuntimeError, match="mesh"):
        step(model)
    with jax.set_mesh(MESH):
        assert numbers(step(model)) == [2, 4, 6]


@both
@all_modes
def test_out_shardings_place_the_result(lib, mode):
    model = counter(lib)
    result = lib.jit(bump, out_shardings=SPLIT, **mode)(model)
    assert result.sharding == SPLIT
    assert count_of(model) == 1


@both
@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in_a_tuple"])
def test_out_shardings_place_the_variables_of_a_new_model(lib, wrapped):
    sharding = lib.StateSharding({lib.Param: SPLIT, ...: WHOLE})

    def build():
        return (counter(lib), 1) if wrapped else counter(lib)

    result = lib.jit(build, out_shardings=(sharding, None) if wrapped else sharding)()
    model = result[0] if wrapped else result
    assert (raw(model.kernel).sharding, raw(model.count).sharding) == (SPLIT, WHOLE)


@both
@pytest.mark.parametrize(
    ("shardings", "error"),
    [
        (lambda lib: (lib.StateSharding({lib.Param: WHOLE}),), ValueError),
        (lambda lib: (lib.StateSharding({...: WHOLE, lib.Param: WHOLE}),), ValueError),
        (lambda lib: (WHOLE, WHOLE), ValueError),
        (lambda lib: (0,), TypeError),
        (lambda lib: (lib.State({"kernel": WHOLE, "count": WHOLE}),), ValueError),
    ],
    ids=["nothing_matches", "filter_order", "too_many", "not_a_sharding", "state"],
)
def test_in_shardings_that_do_not_fit_are_errors(lib, shardings, error):
    model = counter(lib)
    with pytest.raises(error):
        lib.jit(bump, in_shardings=shardings(lib))(model)
    assert count_of(model) == 0


@both
def test_donation_and_shardings_go_together(lib):
    model = counter(lib)
    sharding = lib.StateSharding({...: WHOLE})
    step = lib.jit(bump, in_shardings=(sharding,), donate_argnums=0)
    for _ in range(3):
        step(model)
    assert (count_of(model), raw(model.count).sharding) == (3, WHOLE)
