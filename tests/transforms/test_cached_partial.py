"""`jit_partial` and `cached_partial`: jitted steps to which models are bound once."""

from __future__ import annotations

import functools
import gc
import inspect
import weakref

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import bump, count_of, counter, numbers, raw
from tests.transforms.modes import fixed_modes


def cached(lib, function, *args, **options):
    return lib.cached_partial(lib.jit(function, **options), *args)


def partial(lib, function, *args, **options):
    return lib.jit_partial(function, *args, graph_updates=False, **options)


def tree_partial(lib, function, *args, **options):
    return lib.jit_partial(function, *args, graph=False, **options)


each_binding = pytest.mark.parametrize("bind", [cached, partial, tree_partial])
each_graph_binding = pytest.mark.parametrize("bind", [cached, partial])


# -- both ------------------------------------------------------------------------------------------


@both
@each_binding
def test_a_value_of_another_shape_set_outside_is_seen(lib, bind):
    model = counter(lib)
    step = bind(lib, bump, model)
    step()
    model.kernel.set_value(jnp.arange(5.0))
    assert numbers(step()) == [0, 1, 2, 3, 4]


@both
@each_binding
@pytest.mark.parametrize(
    ("bound", "call", "expected"),
    [
        (lambda lib: ({"m": counter(lib)},), lambda d: bump(d["m"]), [1, 2, 3]),
        (lambda lib: (jnp.array([1.0, 2.0]),), lambda x: x * 2, [2, 4]),
        (lambda lib: (3, 4.0), lambda a, b: a * b, 12),
        (lambda lib: (None, 4.0), lambda a, b: b, 4),
        (lambda lib: (), lambda: jnp.ones(2), [1, 1]),
        (lambda lib: (lib.Param(jnp.ones(2)),), lambda v: v[...] * 2, [2, 2]),
    ],
    ids=["dict", "array", "numbers", "none", "nothing", "variable"],
)
def test_anything_that_jit_takes_can_be_bound(lib, bind, bound, call, expected):
    step = bind(lib, call, *bound(lib))
    assert numbers(step()) == expected
    assert numbers(step()) == expected


@both
@each_graph_binding
def test_bound_models_may_share_variables(lib, bind):
    first, second = counter(lib), counter(lib)
    second.kernel = first.kernel

    def step(a, b):
        assert a.kernel is b.kernel
        a.kernel[...] += 1
        bump(b)

    call = bind(lib, step, first, second)
    call()
    call()
    assert numbers(second.kernel[...]) == [3, 4, 5]
    assert first.kernel is second.kernel
    assert (count_of(first), count_of(second)) == (0, 2)


@both
@each_binding
def test_a_bound_model_can_be_donated(lib, bind):
    model = counter(lib)
    kernel = raw(model.kernel)
    step = bind(lib, bump, model, donate_argnums=0)
    for _ in range(3):
        assert numbers(step(2)) == [2, 4, 6]
    assert kernel.is_deleted()
    assert (numbers(model.kernel[...]), count_of(model)) == ([1, 2, 3], 6)


@both
@each_binding
def test_numbers_of_arguments_count_the_bound_ones(lib, bind):
    def step(model, k, x):
        assert type(k) is int
        return model.kernel[...] * k + x

    x = jnp.ones(3)
    call = bind(lib, step, counter(lib), static_argnums=1, donate_argnums=2)
    assert numbers(call(2, x)) == [3, 5, 7]
    assert x.is_deleted()


@each_binding
@pytest.mark.parametrize(
    ("change", "back"),
    [
        (lambda m: setattr(m, "mode", "eval"), lambda m: setattr(m, "mode", "train")),
        (lambda m: m.kernel.set_metadata(tag="eval"), lambda m: m.kernel.set_metadata(tag="train")),
        (lambda m: setattr(m, "new", nnx.Param(1.0)), lambda m: delattr(m, "new")),
    ],
    ids=["static_value", "metadata", "attribute"],
)
def test_structure_changed_outside_is_seen_by_every_call(bind, change, back):
    def step(model, x):
        model.count[...] += 1
        evaluates = model.mode == "eval" or model.kernel.tag == "eval" or hasattr(model, "new")
        return x * (10 if evaluates else 1)

    model = counter(nnx)
    model.kernel.set_metadata(tag="train")
    call = bind(nnx, step, model)
    seen = [call(1), call(2.0)]  # of two types, since what is known about a call depends on them
    for _ in range(2):
        change(model)
        seen += [call(3), call(4.0), call(5)]
        back(model)
        seen += [call(6), call(7.0), call(8)]
    assert [int(one) for one in seen] == [1, 2, *[30, 40, 50, 6, 7, 8] * 2]
    assert count_of(model) == 14
    assert model.kernel.tag == "train"


@each_binding
def test_a_replaced_variable_and_a_plain_array_are_seen_by_every_call(bind):
    class Plain(nnx.Module):
        def __init__(self):
            self.scale = jnp.array(1.0)
            self.kernel = nnx.Param(jnp.ones(2))

    def step(model):
        model.kernel[...] += 1
        return model.kernel[...] * model.scale

    model = Plain()
    old = model.kernel
    call = bind(nnx, step, model)
    assert [numbers(call()) for _ in range(2)] == [[2, 2], [3, 3]]
    model.scale = jnp.array(10.0)
    assert [numbers(call()) for _ in range(2)] == [[40, 40], [50, 50]]
    model.kernel = nnx.Param(jnp.zeros(2))
    assert [numbers(call()) for _ in range(2)] == [[10, 10], [20, 20]]
    assert numbers(old[...]) == [5, 5]


@each_binding
def test_the_model_stays_the_users_and_both_may_be_used(bind):
    model = counter(nnx)
    step, other = bind(nnx, bump, model), nnx.jit(bump)
    step(1)
    other(model, 2)
    bump(model, 3)
    step(4)
    assert count_of(model) == 10


@pytest.mark.thorough
@each_binding
def test_a_bound_step_keeps_nothing_alive_once_it_is_gone(bind):
    model = counter(nnx)
    step = bind(nnx, bump, model)
    step()
    seen = [weakref.ref(model), weakref.ref(model.kernel)]
    del model, step
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


# -- cached_partial --------------------------------------------------------------------------------


@both
def test_a_cached_step_can_be_bound_again_and_nested(lib):
    first, second = counter(lib), counter(lib)

    def step(a, b, x):
        bump(a, x)
        return bump(b, x)

    call = lib.cached_partial(lib.cached_partial(lib.jit(step), first), second)
    assert numbers(call(2)) == [2, 4, 6]
    assert (count_of(first), count_of(second)) == (2, 2)
    outer = lib.jit(lambda m: lib.cached_partial(lib.jit(bump), m)(5))
    outer(first)
    assert count_of(first) == 7


@both
def test_a_cached_model_shares_its_variables_with_arguments(lib):
    model = counter(lib)

    def step(a, b):
        assert a.count is b.count
        bump(a)

    lib.cached_partial(lib.jit(step), model)(model)
    assert count_of(model) == 1


@both
def test_a_static_argument_can_be_cached(lib):
    def step(k, model):
        assert type(k) is int
        return bump(model, k)

    call = lib.cached_partial(lib.jit(step, static_argnums=0), 3)
    model = counter(lib)
    assert numbers(call(model)) == [3, 6, 9]
    assert count_of(model) == 3


@both
@pytest.mark.parametrize(
    "change",
    [
        lambda lib, m: setattr(m, "new", lib.Param(jnp.ones(1))),
        lambda lib, m: setattr(m, "mode", "eval"),
        lambda lib, m: setattr(m, "kernel", lib.Param(jnp.ones(3))),
        lambda lib, m: delattr(m, "kernel"),
    ],
    ids=["added", "static_value", "replaced", "removed"],
)
def test_a_cached_model_must_keep_its_structure(lib, change):
    model = counter(lib)
    step = lib.cached_partial(lib.jit(lambda m: change(lib, m)), model)
    with pytest.raises(ValueError, match="structure"):
        step()
    assert (model.mode, hasattr(model, "new"), hasattr(model, "kernel")) == ("train", False, True)


# -- jit_partial -----------------------------------------------------------------------------------


@both
@fixed_modes
def test_a_bound_step_has_stages_and_the_names_of_the_function(lib, mode):
    model = counter(lib)
    step = lib.jit_partial(bump, model, **mode)
    assert (step.__name__, inspect.unwrap(step)) == ("bump", bump)
    assert step.eval_shape(2).shape == (3,)
    assert "module @jit_bump" in step.lower(2).as_text()
    assert count_of(model) == 0
    compiled = step.trace(2).lower().compile()
    assert numbers(compiled(3)) == [3, 6, 9]
    assert count_of(model) == 3


@each_binding
def test_models_may_be_bound_or_given(bind):
    # flax takes Variables among the bound arguments only.
    model, others = counter(nnx), [counter(nnx), counter(nnx)]
    step = bind(nnx, lambda a, b: (bump(a), bump(b[0] if type(b) is list else b))[1], model)
    for other in others:
        assert numbers(step(other)) == [1, 2, 3]
    step([others[0]])
    assert [count_of(one) for one in (model, *others)] == [3, 2, 1]


@both
@fixed_modes
def test_a_bound_model_must_not_come_out(lib, mode):
    with pytest.raises(ValueError, match="count"):
        lib.jit_partial(lambda m: m, counter(lib), **mode)()


@both
def test_one_model_can_be_bound_twice_in_a_graph_only(lib):
    model = counter(lib)

    def step(a, b):
        assert a is b
        return bump(a)

    assert numbers(lib.jit_partial(step, model, model, graph_updates=False)()) == [1, 2, 3]
    assert count_of(model) == 1
    with pytest.raises(ValueError, match=r"(?ms)(\[0\]|^ +a$).*(\[1\]|^ +b$)"):
        lib.jit_partial(step, model, model, graph=False)


@both
def test_jit_partial_needs_a_function(lib):
    with pytest.raises(TypeError):
        lib.jit_partial(graph_updates=False)


@both
@fixed_modes
def test_a_bound_step_in_shardings_and_static_names(lib, mode):
    def step(model, k, scale):
        assert type(k) is int
        return model.kernel[...] * k * scale

    model = counter(lib)
    call = lib.jit_partial(step, model, static_argnames="k", **mode)
    assert numbers(call(k=2, scale=1.0)) == [2, 4, 6]
    device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    placed = lib.jit_partial(bump, model, in_shardings=(device, None), **mode)
    assert numbers(placed(2)) == [2, 4, 6]
    assert numbers(functools.partial(placed, 3)()) == [3, 6, 9]
