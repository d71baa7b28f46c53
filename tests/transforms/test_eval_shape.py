"""`eval_shape`: abstract results without computing, and arguments untouched."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

from tests.core.libraries import both
from tests.transforms.jit_models import bump, contents, counter, counter_type, pair, raw
from tests.transforms.modes import all_modes, shared_modes


def shape(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


@both
@all_modes
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda lib: (bump, counter(lib), 2), shape(3)),
        (lambda lib: (lambda: None,), None),
        (lambda lib: (lambda x: {"a": [x, x > 0]}, jnp.ones(2)), {"a": [shape(2), shape(2, dtype=bool)]}),
        (lambda lib: (lambda x: x @ x, shape(4, 4)), shape(4, 4)),
        (lambda lib: (lambda: jnp.zeros((10**6, 10**6)),), shape(10**6, 10**6)),
    ],
    ids=["model", "none", "tree", "abstract", "too_large_to_compute"],
)  # fmt: skip
def test_the_result_is_abstract(lib, mode, call, expected):
    function, *args = call(lib)
    assert lib.eval_shape(function, *args, **mode) == expected


@both
@all_modes
@pytest.mark.parametrize("form", ["class", "function", "partial"])
def test_a_new_model_holds_shapes_for_values(lib, mode, form):
    kind = counter_type(lib)
    make = {
        "class": kind,
        "function": lambda: counter(lib),
        "partial": functools.partial(kind, size=3),
    }[form]
    model = lib.eval_shape(make, **mode)
    assert type(model) is kind
    assert (type(model.kernel), type(model.count)) == (lib.Param, lib.BatchStat)
    assert raw(model.kernel) == shape(3)
    assert raw(model.count).dtype == jnp.int32
    assert model.mode == "train"


@both
@all_modes
def test_metadata_states_and_random_streams_stay(lib, mode):
    variable = lib.eval_shape(lambda: lib.Param(jnp.ones(2), tag="t"), **mode)
    assert (variable.tag, raw(variable)) == ("t", shape(2))
    rngs = lib.eval_shape(lambda: lib.Rngs(0), **mode)
    assert raw(rngs.default.key).dtype == jax.random.key(0).dtype
    graphdef, state = lib.eval_shape(lambda: lib.split(counter(lib)), **mode)
    assert graphdef == lib.graphdef(counter(lib))
    assert raw(state["kernel"]) == shape(3)


@both
@all_modes
def test_an_abstract_model_is_an_argument_and_stays_abstract(lib, mode):
    model = lib.eval_shape(counter_type(lib), **mode)
    assert lib.eval_shape(bump, model, 2, **mode) == shape(3)
    assert type(raw(model.count)) is jax.ShapeDtypeStruct


@both
@all_modes
@pytest.mark.parametrize(
    "mutate",
    [lambda lib, m: bump(m.layers[0]), lambda lib, m: m.layers[0].kernel.set_value(jnp.ones(9))],
    ids=["value", "shape"],
)
def test_the_arguments_keep_their_values(lib, mode, mutate):
    model = pair(lib)
    before = contents(lib, lib.clone(model))
    arrays = [raw(layer.kernel) for layer in model.layers]
    lib.eval_shape(lambda m: mutate(lib, m), model, **mode)
    assert contents(lib, model) == before
    now = [raw(layer.kernel) for layer in model.layers]
    assert all(a is b for a, b in zip(now, arrays, strict=True))


@both
@shared_modes
def test_sharing_is_kept(lib, mode):
    def build():
        model = counter(lib)
        return model, [model], model.kernel

    first, (second,), kernel = lib.eval_shape(build, **mode)
    assert (first is second, first.kernel is kernel) == (True, True)
