"""The equivalence law of `grad`: gradients are those of `jax.grad` on the functional form.

Everything else is what it is eagerly: auxiliary results, changed values, structure and identities.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.graph.descriptions import Const, MakeRngs
from tests.transforms.library import nnx
from tests.transforms.program_gradients import (
    agree_on_gradients,
    functional_gradients,
    gradients_of,
    loss_of,
)
from tests.transforms.program_strategies import (
    failing_programs,
    output_steps,
    programs,
    scenarios,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import Play, Scenario, agree, budget, eagerly, explore

X = jnp.asarray([1.0, 2.0])

# A Variable in both arguments would be differentiated and not: that is an error of its own.
separate = functools.partial(
    scenarios,
    passings=["arguments"],
    others=st.sampled_from([Const(None), MakeRngs(4, "params")]),
)
values_only = separate(programs(value_steps))
restructuring = separate(programs(value_steps, structure_steps, output_steps))
failing = separate(failing_programs(value_steps, structure_steps))
FILTERS = {"default": nnx.Param, "all Variables": nnx.Variable, "by path": nnx.PathContains("a")}
wrt_names = st.sampled_from(sorted(FILTERS))


def check(scenario: Scenario, wrt: str) -> None:
    """Compare value, gradients and effects."""
    plain = Play(nnx, scenario, {})
    expected = plain.attempt(lambda: eagerly(plain.run)(*plain.roots, X), restores=False)
    for name in plain.trail:
        event(name)
    chosen = nnx.All(FILTERS[wrt], is_float)
    argnums = 0 if wrt == "default" else nnx.DiffState(0, chosen)
    play = Play(nnx, scenario, {})

    def loss(model, other):
        acc, returned = play.run(model, other, X)
        return loss_of(acc), (acc, returned)

    function = nnx.value_and_grad(loss, argnums=argnums, has_aux=True)
    found = play.attempt(lambda: function(*play.roots))
    if expected[0] == "error" or found[0] == "error":
        agree([found], [expected])
        return
    (value, aux), gradients = found[1]
    assert value == loss_of(expected[1][0])
    agree([play.see(aux)], [plain.see(expected[1])])
    functional = functional_gradients(nnx, Play(nnx, scenario, {}), X, chosen)
    event(f"gradients: {len(functional)}")
    agree_on_gradients(gradients_of(nnx, gradients), functional)


def is_float(path, leaf):
    """Choose the leaves that can be differentiated."""
    value = leaf.get_raw_value() if hasattr(leaf, "get_raw_value") else leaf
    return getattr(value, "dtype", None) == jnp.float32


@pytest.mark.thorough
@given(scenario=values_only, wrt=wrt_names)
@budget(60)
def test_gradients_and_effects_are_those_of_the_functional_form(scenario, wrt):
    check(scenario, wrt)


@pytest.mark.thorough
@given(scenario=restructuring, wrt=wrt_names)
@budget(80)
def test_gradients_of_programs_that_change_structure_are_those_of_the_functional_form(
    scenario, wrt
):
    check(scenario, wrt)


@pytest.mark.thorough
@given(scenario=failing, wrt=wrt_names)
@budget(40)
def test_a_failing_program_raises_the_same_error_under_grad(scenario, wrt):
    check(scenario, wrt)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy", [values_only, restructuring, failing], ids=["values", "structure", "errors"]
)
def test_the_law_of_grad_holds_for_many_programs(strategy):
    explore(400, check, strategy, wrt_names)
