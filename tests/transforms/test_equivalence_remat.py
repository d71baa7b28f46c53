"""The equivalence law of `remat`: it changes neither results nor effects nor gradients."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.graph.descriptions import Const
from tests.transforms.library import nnx
from tests.transforms.program_changes import Nested
from tests.transforms.program_gradients import agree_on_gradients, gradients_of, loss_of
from tests.transforms.program_strategies import (
    failing_programs,
    nested_steps,
    output_steps,
    programs,
    scenarios,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import (
    Play,
    Scenario,
    agree,
    budget,
    eagerly,
    explore,
    twice,
)

X = jnp.asarray([1.0, 2.0])
NESTED = {"jit": nnx.jit, "remat": nnx.remat}
EAGER = dict.fromkeys(NESTED, eagerly)

anything = scenarios(
    programs(value_steps, structure_steps, output_steps, {Nested: nested_steps(sorted(NESTED))})
)
failing = scenarios(failing_programs(value_steps, structure_steps))
differentiated = scenarios(
    programs(value_steps, structure_steps), passings=["arguments"], others=st.just(Const(None))
)
TRANSFORMS = {
    "remat": nnx.remat,
    "remat(remat)": twice(nnx.remat),
    "jit(remat)": lambda function: nnx.jit(nnx.remat(function)),
}
transforms = st.sampled_from(sorted(TRANSFORMS))


def check(scenario: Scenario, transform: str) -> None:
    """Compare the plain program with remat, remat(remat) or jit(remat)."""
    plain = Play(nnx, scenario, EAGER)
    expected = plain.play(eagerly, restores=False)
    for name in plain.trail:
        event(name)
    agree(Play(nnx, scenario, NESTED).play(TRANSFORMS[transform]), expected)


def check_gradients(scenario: Scenario) -> None:
    """Compare gradients through the plain program and through remat."""
    plain, remat = gradients(scenario, eagerly), gradients(scenario, nnx.remat)
    event(plain[0])
    agree([remat[:2]], [plain[:2]])
    agree_on_gradients(remat[2], plain[2])


def gradients(scenario, transform):
    """Return what is seen after differentiating, and the gradients."""
    play = Play(nnx, scenario, EAGER)
    run = transform(lambda model, x: play.run(model, None, x)[0])
    kind, result = play.attempt(
        lambda: nnx.grad(lambda model: loss_of(run(model, X)))(play.roots[0])
    )
    if kind == "error":
        return kind, result, {}
    return *play.see(None), gradients_of(nnx, result)


@pytest.mark.thorough
@given(scenario=anything, transform=transforms)
@budget(40)
def test_remat_changes_neither_results_nor_effects(scenario, transform):
    check(scenario, transform)


@given(scenario=failing, transform=transforms)
@budget(25)
def test_a_failing_program_raises_the_same_error_under_remat(scenario, transform):
    check(scenario, transform)


@pytest.mark.thorough
@given(scenario=differentiated)
@budget(30)
def test_gradients_through_remat_are_those_of_the_plain_program(scenario):
    check_gradients(scenario)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [anything, failing], ids=["any", "errors"])
def test_the_law_of_remat_holds_for_many_programs(strategy):
    explore(400, check, strategy, transforms)


@pytest.mark.slow
def test_the_law_of_gradients_through_remat_holds_for_many_programs():
    explore(400, check_gradients, differentiated)
