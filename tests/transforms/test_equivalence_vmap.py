"""The equivalence law of `vmap`: it gives what a Python loop over the slices gives."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.graph.descriptions import Const
from tests.transforms.library import nnx
from tests.transforms.program_slices import SLICES, Mapped, loop, raw_ids
from tests.transforms.program_strategies import (
    failing_programs,
    output_steps,
    programs,
    scenarios,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import Play, Scenario, agree, budget, explore

X = jnp.arange(1.0, 1 + 2 * SLICES).reshape(SLICES, 2)
PASSINGS = ("arguments", "dict", "tuple")

mapping = scenarios(programs(value_steps, structure_steps, output_steps), passings=PASSINGS)
failing = scenarios(failing_programs(value_steps, structure_steps), passings=PASSINGS)
broadcasting = scenarios(
    programs(value_steps, value_steps, structure_steps, max_size=4),
    passings=["arguments"],
    others=st.just(Const(None)),
)
#: What is mapped, and the axes that say so.
AXES = {
    "model": (lambda *_: False, None),
    "all but Params": (nnx.Not(nnx.Param), nnx.StateAxes({nnx.Param: None, ...: 0})),
    "Params": (nnx.Param, nnx.StateAxes({nnx.Param: 0, ...: None})),
}


def run(play: Play, number: int):
    model, other = play.roots
    return play.run(model, other, X[number])


def check(scenario: Scenario) -> None:
    """Map everything."""
    mapped = Mapped(nnx, scenario, ...)
    expected = loop(mapped, run)
    for name in mapped.slices[0].trail:
        event(name)
    event(expected[0][0])
    function = mapped.whole.call(nnx.vmap)
    outcome = mapped.whole.attempt(lambda: function(X))
    agree(mapped.see_slices(outcome[1]) if outcome[0] == "ok" else [outcome], expected)


def check_broadcast(scenario: Scenario, axes: str) -> None:
    """Map some of the leaves; the others must stay the same for all slices."""
    chosen, prefix = AXES[axes]
    mapped = Mapped(nnx, scenario, chosen)
    before = [raw_ids(play, mapped) for play in mapped.slices]
    expected = loop(mapped, run)
    whole = mapped.whole
    function = nnx.vmap(lambda model, x: whole.run(model, None, x)[0], in_axes=(prefix, 0))
    outcome = whole.attempt(lambda: (function(whole.roots[0], X), []))
    event(f"{axes}: {outcome[0]}")
    if outcome[0] == "ok" or expected[0][0] == "error":
        agree(mapped.see_slices(outcome[1]) if outcome[0] == "ok" else [outcome], expected)
    else:
        # A value that differs between the slices cannot be kept in a leaf that has one for all.
        assert before != [raw_ids(play, mapped) for play in mapped.slices]


@pytest.mark.thorough
@given(scenario=mapping)
@budget(70)
def test_a_program_gives_the_same_under_vmap_as_in_a_loop_over_slices(scenario):
    check(scenario)


@given(scenario=failing)
@budget(30)
def test_a_failing_program_raises_the_same_error_under_vmap(scenario):
    check(scenario)


@pytest.mark.thorough
@given(scenario=broadcasting, axes=st.sampled_from(sorted(AXES)))
@budget(60)
def test_leaves_that_are_not_mapped_are_one_for_all_slices(scenario, axes):
    check_broadcast(scenario, axes)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [mapping, failing], ids=["mapping", "errors"])
def test_the_law_of_vmap_holds_for_many_programs(strategy):
    explore(400, check, strategy)


@pytest.mark.slow
def test_the_law_of_broadcasting_holds_for_many_programs():
    explore(400, check_broadcast, broadcasting, st.sampled_from(sorted(AXES)))
