"""`argnums` of `grad`, `DiffState`, which chooses by a filter, and Variables on several paths."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.gradient_models import (
    X,
    affine,
    affine_values,
    bits,
    close,
    forward,
    like_affine,
    paths,
    stack,
    stack_forward,
    stack_values,
)
from tests.transforms.jit_models import numbers
from tests.transforms.modes import all_modes, fixed_modes, shared_modes


def two(a, b, x):
    return a(x) * b(x) ** 2


def two_functional(a, b, x):
    return forward(a, x) * forward(b, x) ** 2


def check(found, kind, expected):
    """Compare a gradient by an Affine or by an array."""
    if kind == "model":
        like_affine(found, expected)
    else:
        close(found, expected)


@both
@all_modes
@pytest.mark.parametrize("argnums", [(0,), (0, 1), (1, 0), [2, 0], (1, 2, 0)], ids=repr)
def test_several_argnums_give_a_tuple_in_their_order(lib, mode, argnums):
    found = lib.grad(two, argnums=argnums, **mode)(affine(lib), affine(lib, 2.0), X)
    assert type(found) is tuple
    plain = affine_values(), affine_values(2.0), X
    expected = jax.grad(two_functional, argnums=tuple(argnums))(*plain)
    for number, own, correct in zip(argnums, found, expected, strict=True):
        check(own, "array" if number == 2 else "model", correct)


@both
@all_modes
@pytest.mark.parametrize("argnums", [-2, (-2, -1)], ids=repr)
def test_argnums_may_count_from_the_last_argument(lib, mode, argnums):
    found = lib.grad(two, argnums=argnums, **mode)(affine(lib), affine(lib, 2.0), X)
    plain = affine_values(), affine_values(2.0), X
    expected = jax.grad(two_functional, argnums=argnums)(*plain)
    if argnums == -2:
        found, expected = (found,), (expected,)
    for own, correct, kind in zip(found, expected, ["model", "array"], strict=False):
        check(own, kind, correct)


def test_a_position_may_be_an_integer_of_numpy():
    position: tp.Any = np.int64(1)
    close(nnx.grad(lambda x, y: x * y * y, argnums=position)(2.0, 3.0), jnp.array(12.0))


def test_a_module_counted_from_the_last_argument_gives_its_params_too():
    # NNX loses the filter there and differentiates by every Variable.
    found = nnx.grad(two, argnums=-2)(affine(nnx), affine(nnx), X)
    assert paths(nnx, found) == {("kernel",), ("shift",)}
    found = nnx.grad(two, argnums=nnx.DiffState(-2, nnx.BatchStat))(affine(nnx), affine(nnx), X)
    assert paths(nnx, found) == {("calls",)}


WANTED = {
    "a_type": (lambda lib: lib.BatchStat, {("first", "calls"), ("second", "calls")}),
    "a_path": (
        lambda lib: lib.PathContains("first"),
        {("first", n) for n in ("calls", "kernel", "shift")},
    ),
    "several": (
        lambda lib: ("t", lib.BatchStat),
        {(a, n) for a in ("first", "second") for n in ("calls", "shift")},
    ),
    "both": (
        lambda lib: lib.All(lib.Param, lib.PathContains("second")),
        {("second", "kernel"), ("second", "shift")},
    ),
    "a_function": (
        lambda lib: lambda path, value: path[-1] == "shift",
        {("first", "shift"), ("second", "shift")},
    ),
    "an_array": (lambda lib: lib.PathContains("scale"), {("scale",)}),
    "nothing": (lambda lib: lib.Cache, set()),
    "false": (lambda lib: False, set()),
    "everything": (
        lambda lib: ...,
        {("scale",)} | {(a, n) for a in ("first", "second") for n in ("calls", "kernel", "shift")},
    ),
}


@both
@pytest.mark.parametrize(("make", "expected"), WANTED.values(), ids=WANTED)
def test_diff_state_chooses_variables_and_arrays(lib, make, expected):
    model = stack(lib)
    wrt = lib.DiffState(0, make(lib))
    found = lib.grad(lambda m: m(X) + m.first.calls[...] * 5, argnums=wrt)(model)
    assert type(found) is lib.State
    assert paths(lib, found) == expected
    values = {**stack_values(), "scale": jnp.array(2.0)}
    correct = jax.grad(lambda v: stack_forward(v, X) * v["scale"] / 2)(values)
    for path, leaf in lib.to_flat_state(found):
        if path[-1] == "calls":
            close(leaf[...], jnp.array(5.0 if path[0] == "first" else 0.0))
        elif path == ("scale",):
            close(leaf, correct["scale"])
        else:
            close(leaf[...], correct[path[0]][path[1]])
    assert numbers(model.first.calls) == 1.0


@both
def test_diff_states_mix_with_numbers(lib):
    def loss(a, b, x):
        return two(a, b, x) * (a.calls[...] + 1)

    argnums = (lib.DiffState(1, lib.PathContains("shift")), 2, lib.DiffState(0, lib.BatchStat))
    shift, by_x, calls = lib.grad(loss, argnums=argnums)(affine(lib), affine(lib), X)
    values = affine_values()
    assert [paths(lib, shift), paths(lib, calls)] == [{("shift",)}, {("calls",)}]
    # `calls` is 1 when it is read, so the loss is twice the product.
    close(shift["shift"][...], 2 * jax.grad(two_functional, argnums=1)(values, values, X)["shift"])
    close(by_x, 2 * jax.grad(two_functional, argnums=2)(values, values, X))
    close(calls["calls"][...], two_functional(values, values, X))


@both
def test_diff_state_in_a_container_leaves_loose_arrays_in(lib):
    def loss(inputs):
        return inputs["m"](X) * inputs["x"]

    wrt = lib.DiffState(0, lib.PathContains("shift"))
    found = lib.grad(loss, argnums=wrt)({"m": affine(lib), "x": jnp.array(3.0)})
    assert paths(lib, found["m"]) == {("shift",)}
    close(found["m"]["shift"][...], 3 * jax.grad(forward)(affine_values(), X)["shift"])
    close(found["x"], forward(affine_values(), X))


@both
def test_diff_states_are_equal_by_value(lib):
    assert lib.DiffState(0, lib.Param) == lib.DiffState(0, lib.Param)
    assert lib.DiffState(0, lib.Param) != lib.DiffState(1, lib.Param)
    assert lib.DiffState(0, lib.Param) != lib.DiffState(0, lib.BatchStat)
    assert len({lib.DiffState(0, lib.Param), lib.DiffState(0, lib.Param)}) == 1
    assert repr(lib.DiffState(2, "t")) == "DiffState(argnum=2, filter='t')"


@both
@fixed_modes
def test_diff_state_needs_structural_updates(lib, mode):
    with pytest.raises(ValueError, match="DiffState"):
        lib.grad(two, argnums=lib.DiffState(0, lib.Param), **mode)(affine(lib), affine(lib), X)


REFUSED = {
    "beyond": (3, (TypeError, ValueError), "3"),
    "beyond_among_others": ((0, 4), (TypeError, ValueError), "4"),
    "before": (-4, ValueError, "-4"),
    "twice": ((1, 1), ValueError, "1"),
}


@both
@pytest.mark.parametrize(("argnums", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_wrong_argnums_are_errors(lib, argnums, kind, text):
    models = affine(lib), affine(lib)
    before = tuple(map(bits, models))
    with pytest.raises(kind, match=text):
        lib.grad(two, argnums=argnums)(*models, X)
    assert tuple(map(bits, models)) == before


@all_modes
@pytest.mark.parametrize("argnums", [(0, 0), (0, -3), ()], ids=repr)
def test_repeated_or_missing_argnums_are_errors_in_each_mode(mode, argnums):
    with pytest.raises(ValueError, match="argnum"):
        nnx.grad(two, argnums=argnums, **mode)(affine(nnx), affine(nnx), X)


# -- Variables on several paths: they get the sum, or an error says why not -------------------------


def tied(lib):
    model = lib.Module()
    model.z = lib.Param(jnp.array(2.0))
    model.a = model.z
    return model


def loss(model):
    return model.a[...] * model.z[...] ** 2


@both
def test_the_sum_stands_at_the_first_path(lib):
    gradients = lib.grad(loss)(tied(lib))
    assert paths(lib, gradients) == {("a",)}
    close(gradients["a"][...], jnp.array(12.0))


@both
def test_with_fixed_structure_the_gradients_are_shared_too(lib):
    gradients = lib.grad(loss, graph_updates=False)(tied(lib))
    assert gradients.a is gradients.z
    close(gradients.a[...], jnp.array(12.0))


@both
def test_by_two_arguments_the_sum_comes_with_the_first(lib):
    model = affine(lib)
    first, second = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1))(model, model)
    expected = jax.grad(lambda v: forward(v, X) ** 2)(affine_values())
    like_affine(first, expected)
    assert type(second) is lib.State
    assert not second
    assert numbers(model.calls) == 2.0


@both
def test_with_fixed_structure_both_arguments_have_the_sum(lib):
    model = affine(lib)
    first, second = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1), graph_updates=False)(
        model, model
    )
    assert first.kernel is second.kernel
    like_affine(first, jax.grad(lambda v: forward(v, X) ** 2)(affine_values()))


@both
def test_a_part_may_be_a_second_argument(lib):
    model = stack(lib)
    whole, part = lib.grad(lambda a, b: a(X) * b(X), argnums=(0, 1))(model, model.first)

    def functional(values):
        return stack_forward(values, X) * forward(values["first"], X)

    like_affine(whole.first, jax.grad(functional)(stack_values())["first"])
    assert not part


@both
@shared_modes
@pytest.mark.parametrize("argnums", [0, 1])
def test_one_model_cannot_be_chosen_and_not(lib, mode, argnums):
    model = affine(lib)
    before = bits(model)
    with pytest.raises(ValueError, match=r"(?s)(kernel|calls).*\1"):
        lib.grad(lambda a, b: a(X) * b(X), argnums=argnums, **mode)(model, model)
    assert bits(model) == before


@both
@all_modes
def test_one_array_twice_is_two_inputs(lib, mode):
    x = jnp.array(2.0)
    close(lib.grad(lambda a, b: a * b**2, **mode)(x, x), jnp.array(4.0))
