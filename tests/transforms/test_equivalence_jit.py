"""The equivalence law of `jit`: a program gives what it gives eagerly, and what `jit(jit)` gives.

Equal are the values, the identity structure of all objects that the caller can see, old ones and
new ones, and the classes of the errors; after an error the objects are as before the call.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import typed_nnx
from tests.graph.descriptions import Const, MakeRngs
from tests.transforms.library import OURS, nnx
from tests.transforms.program_changes import Nested
from tests.transforms.program_strategies import (
    Kind,
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
from tests.transforms.programs import Write

NESTED = {"jit": nnx.jit, "remat": nnx.remat}
EAGER = dict.fromkeys(NESTED, eagerly)

values_only = scenarios(programs(value_steps))
restructuring = scenarios(programs(value_steps, structure_steps, output_steps, max_size=5))
failing = scenarios(failing_programs(value_steps, structure_steps))
#: Nothing but Variables in separate arguments, called again and again: the short way through jit.
plain = scenarios(
    programs(value_steps, {Write: value_steps[Write]}),
    Kind(lists=False, arrays=False),
    passings=["arguments", "arguments", "keywords", "closure"],
    others=st.sampled_from([Const(None), MakeRngs(4, "params")]),
    calls=[2, 3],
)
nesting = scenarios(
    programs({Nested: nested_steps(sorted(NESTED))}, value_steps, structure_steps, max_size=3)
)
TRANSFORMS = {"jit": nnx.jit, "jit(jit)": twice(nnx.jit)}
transforms = st.sampled_from(sorted(TRANSFORMS))


def check(scenario: Scenario, transform: str) -> None:
    """Compare eager with jit or with jit(jit)."""
    plain = Play(nnx, scenario, EAGER)
    expected = plain.play(eagerly, restores=False)
    for name in plain.trail:
        event(name)
    event(expected[-1][0])
    agree(Play(nnx, scenario, NESTED).play(TRANSFORMS[transform]), expected)


@pytest.mark.thorough
@given(scenario=values_only, transform=transforms)
@budget(30)
def test_programs_that_change_values_give_the_same_under_jit(scenario, transform):
    check(scenario, transform)


@pytest.mark.thorough
@given(scenario=restructuring, transform=transforms)
@budget(40)
def test_programs_that_change_structure_give_the_same_under_jit(scenario, transform):
    check(scenario, transform)


@pytest.mark.thorough
@given(scenario=plain)
@budget(40)
def test_models_of_variables_alone_give_the_same_under_jit_call_after_call(scenario):
    check(scenario, "jit")


@given(scenario=failing, transform=transforms)
@budget(25)
def test_programs_that_fail_raise_the_same_error_and_leave_the_objects_alone(scenario, transform):
    check(scenario, transform)


@pytest.mark.thorough
@given(scenario=nesting, transform=transforms)
@budget(20)
def test_programs_that_call_transformed_functions_give_the_same_under_jit(scenario, transform):
    check(scenario, transform)


@pytest.mark.skipif(not OURS, reason="the verifying mode is ours")
@given(scenario=restructuring, transform=transforms)
@budget(12)
def test_the_law_of_jit_holds_while_records_are_verified(scenario, transform):
    with typed_nnx.set_verify_records(True):
        check(scenario, transform)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [values_only, restructuring, plain, failing, nesting],
    ids=["values", "structure", "Variables", "errors", "nested"],
)
def test_the_law_of_jit_holds_for_many_programs(strategy):
    explore(400, check, strategy, transforms)
