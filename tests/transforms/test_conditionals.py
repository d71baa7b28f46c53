"""`cond` and `switch`: one branch runs, and what it did to the Modules is what happened."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.core.libraries import both
from tests.transforms.as_in_flax import Call, assert_as_in_flax
from tests.transforms.library import nnx
from tests.transforms.modes import (
    Before,
    all_modes,
    counter,
    error_of,
    fixed_modes,
    gradient,
    number,
)

branch = pytest.mark.parametrize("taken", [True, False])


def up(model):
    model.n[...] += 1
    return model.w[...] * 2


def down(model):
    model.n[...] -= 1
    return model.w[...] * 3


def cond(predicate, one, two, *operands, **options):
    """Return a `cond` as a function of its operands, with either library."""
    return lambda lib: (
        lambda *args, **mode: lib.cond(predicate, one, two, *args, **options, **mode),
        tuple(operand(lib) if callable(operand) else operand for operand in operands),
    )


def switch(index, branches, *operands):
    return lambda lib: (
        lambda *args, **mode: lib.switch(index, branches, *args, **mode),
        tuple(operand(lib) for operand in operands),
    )


def adds(amount):
    return lambda model: model.n.set_value(model.n[...] + amount)


def kinds_of_module(lib):
    return lambda **mode: lib.cond(
        True, lambda: counter(lib), lambda: lib.Dict(w=jnp.ones(2)), **mode
    ), ()


RESULTS = {
    "dtype": (jnp.float32(1), jnp.int32(1)),
    "shape": (jnp.ones(2), jnp.ones(3)),
    "type": ((1.0,), [1.0]),
    "keys": ({"a": 1.0}, {"b": 1.0}),
    "nothing": (None, 1.0),
}
PREDICATES = [
    True, np.bool_(False), 0, 0.5, jnp.array(2), jnp.array(False), None, "yes", jnp.array([True]),
]  # fmt: skip
INDICES = [
    0, 1, 2, 5, -3, jnp.array(1), np.int32(2), jnp.array(1, jnp.uint8), True, 1.0, None,
    jnp.array([1]),
]  # fmt: skip
CALLS = {
    "the first branch": cond(True, up, down, counter),
    "the second branch": cond(False, up, down, counter),
    **{
        f"results of another {name}": cond(True, lambda one=one: one, lambda two=two: two)
        for name, (one, two) in RESULTS.items()
    },
    "two kinds of Module": kinds_of_module,
    "different operands": cond(True, lambda a, b: a, lambda a, b: b, counter, counter),
    **{f"predicate {value!r}": cond(value, lambda: 1, lambda: 2) for value in PREDICATES},
    "an operand too many": cond(True, lambda a: a, lambda a: a, 1.0, 2.0),
    "an operand by name": cond(True, lambda a: a, lambda a: a, a=1.0),
    **{f"index {i!r}": switch(i, [adds(1), adds(10), adds(100)], counter) for i in INDICES},
    "one branch": switch(7, [lambda: 3]),
    "no branch": switch(0, []),
}


@all_modes
@pytest.mark.parametrize("name", CALLS)
def test_what_a_branch_does_is_done_as_in_flax(mode, name):
    def make(lib):
        function, operands = CALLS[name](lib)
        return Call(functools.partial(function, **mode), operands)

    assert_as_in_flax(make)


@both
@all_modes
@branch
def test_a_gradient_goes_through_the_taken_branch(lib, mode, taken):
    model = counter(lib, 1.0, 2.0)

    def squares(model):
        model.n[...] += 1
        return jnp.square(model.w[...]).sum()

    def loss(model, taken):
        return lib.cond(taken, squares, lambda model: model.w[...].sum(), model, **mode)

    slopes = lib.grad(loss, **mode)(model, jnp.array(taken))
    assert gradient(slopes, "w") == ([2.0, 4.0] if taken else [1.0, 1.0])
    assert number(model.n) == (1.0 if taken else 0.0)


@both
@all_modes
def test_a_traced_predicate_chooses_without_a_new_trace(lib, mode):
    model, traces = counter(lib), []

    @lib.jit(**mode)
    def step(model, taken):
        traces.append(1)
        lib.cond(taken, up, down, model, **mode)

    for taken in (True, True, True, False):
        step(model, jnp.array(taken))
    assert number(model.n) == 2.0
    assert len(traces) == 1


def held(lib, x):
    """Return two Modules and a pair of branches that return them."""
    first, second = counter(lib, 1.0), counter(lib, 1.0)
    first.w[...], second.w[...] = x * jnp.ones(1), 2 * x * jnp.ones(1)
    return first, second


@both
@branch
def test_branches_may_return_different_modules_that_they_close_over(lib, taken):
    @lib.jit
    def run(pred, x):
        first, second = held(lib, x)
        pair = lib.cond(pred, lambda: (first, first.w), lambda: (second, second.w))
        found = lib.switch(pred.astype(int), [lambda: second.w, lambda: first.w])
        return pair[0].w[...], pair[0].w is pair[1], found[...]

    module, shared, variable = run(jnp.array(taken), jnp.float32(3.0))
    wanted = [3.0] if taken else [6.0]
    assert (number(module), bool(shared), number(variable)) == (wanted, True, wanted)


@branch
def test_the_result_is_a_new_module_that_gradients_go_through(taken):
    def run(x):
        first, second = held(nnx, x)
        found = nnx.cond(taken, lambda: first, lambda: second)
        assert found is not first
        assert found is not second
        found.n[...] += 1
        assert number(first.n) == number(second.n) == 0.0
        return found.w[...].sum()

    assert number(jax.grad(run)(jnp.float32(3.0))) == (1.0 if taken else 2.0)


def test_a_new_module_and_one_from_outside_may_be_the_results():
    outside = counter(nnx, 5.0)
    found = nnx.cond(jnp.array(False), lambda: outside, lambda: counter(nnx, 7.0))
    assert number(found.w) == [7.0]
    found = nnx.cond(jnp.array(True), lambda: outside, lambda: counter(nnx, 7.0))
    assert number(found.w) == [5.0]
    assert found is not outside


def test_what_both_branches_return_stays_the_object_itself():
    outside = counter(nnx, 5.0)
    assert nnx.cond(jnp.array(True), lambda: outside, lambda: outside) is outside


@both
@fixed_modes
def test_where_structures_are_fixed_nothing_from_outside_is_returned(lib, mode):
    first, second = counter(lib), counter(lib)
    with pytest.raises(ValueError, match="returned|return captured"):
        lib.cond(jnp.array(True), lambda: first, lambda: second, **mode)


# -- errors that name places, other structures -----------------------------------------------------


def adds_z(model):
    model.z = type(model.n)(jnp.float32(5))


def leaves(model):
    return None


@pytest.mark.parametrize("function", ["cond", "switch"])
def test_the_error_names_both_branches_and_the_path_where_they_differ(function):
    model = nnx.Dict(inner=counter(nnx))

    def adds(model):
        adds_z(model.inner)

    def run():
        if function == "cond":
            nnx.cond(True, adds, leaves, model)
        else:
            nnx.switch(0, [leaves, adds, leaves], model)

    text = error_of(run)
    assert "inner.z" in text
    assert "inner.z was removed" not in text
    assert "adds" in text
    assert "leaves" in text
    assert "Fix:" in text
    assert "GraphDef" not in text
    assert len(text) < 1500


def test_the_error_tells_which_branch_removes_or_replaces():
    def removes(model):
        del model.n

    def replaces(model):
        model.n = nnx.Variable(model.n[...])

    for changes in (removes, replaces):
        model = counter(nnx)
        before = Before(model)
        text = error_of(functools.partial(nnx.cond, True, changes, leaves, model))
        assert changes.__name__ in text
        assert "leaves" in text
        assert re.search(r"\bn\b", text.split("Fix:")[0])
        assert "n was added" not in text
        assert before.is_still_so()


def test_the_error_counts_the_branches_of_a_switch():
    def removes(model):
        del model.n

    text = error_of(functools.partial(nnx.switch, 0, [leaves, leaves, removes], counter(nnx)))
    assert re.search(r"branch 0 .*leaves.* and branch 2 .*removes", text)
    assert "after branch 0 only" in text


@all_modes
def test_a_predicate_or_index_may_be_a_variable(mode):
    assert int(nnx.cond(nnx.Variable(jnp.array(False)), lambda: 1, lambda: 2, **mode)) == 2
    assert int(nnx.switch(nnx.Variable(jnp.array(1)), [lambda: 1, lambda: 2], **mode)) == 2


# -- with graph updates, branches may change structures, as long as they all do so alike ------------
