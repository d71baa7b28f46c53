"""The generated programs do something, and the equivalence laws catch transforms that are wrong."""

from __future__ import annotations

import collections
import functools

import jax.numpy as jnp
import pytest
from hypothesis import Phase, given, settings

import typed_nnx as nnx
from tests.graph.descriptions import Const, Graph, NodeSpec
from tests.transforms.program_changes import Alias, Attach, Make, Nested, Return
from tests.transforms.program_strategies import (
    failing_steps,
    nested_steps,
    output_steps,
    programs,
    scenarios,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import Play, Scenario, agree, eagerly
from tests.transforms.program_worlds import full_budget as budget
from tests.transforms.programs import Machine, Read, Write

NESTED = {"jit": eagerly, "remat": eagerly}
ALL_STEPS = {**value_steps, **structure_steps, **output_steps, **failing_steps}
anything = scenarios(
    programs(value_steps, structure_steps, output_steps, {Nested: nested_steps(["jit"])})
)
plain = scenarios(
    programs(value_steps, structure_steps, output_steps, failing_steps), passings=["arguments"]
)


@pytest.mark.thorough
def test_every_kind_of_step_is_taken_by_many_programs_and_most_programs_end_well():
    taken: collections.Counter[str] = collections.Counter()
    ends: collections.Counter[str] = collections.Counter()

    @given(anything)
    @budget(400)
    def run(scenario):
        play = Play(nnx, scenario, NESTED)
        ends[play.play(eagerly, restores=False)[-1][0]] += 1
        taken.update(set(play.trail))

    run()
    kinds = {kind.__name__ for kind in ALL_STEPS} - {"Fail"}
    assert {kind: taken[kind] for kind in kinds if taken[kind] < 10} == {}
    assert taken["Nested"] >= 10
    assert ends["error"] >= 10
    assert ends["ok"] >= 5 * ends["error"]


def test_a_program_computes_what_its_steps_say():
    classes = Play(nnx, Scenario(Graph((), (), (NodeSpec("Mod"),)), Const(None), "", ()), {})
    model = classes.roots[0]
    model.a = nnx.Param(jnp.asarray([2.0, 3.0]))
    machine = Machine(nnx, classes.world.classes, [model], jnp.asarray([10.0, 20.0]))
    steps = (
        Read(0, weight=2),  # 14 26
        Write(0, "ellipsis", 1),  # a = 15 27
        Attach(0, "b", "param"),  # b = 15 27
        Alias(0, "c", 1),  # c is a
        Write(0, "times", 0),  # a = 15*14 % 64, 27*26 % 64
        Return(1),
        Make("param"),
    )
    acc, (returned, made) = machine.run(steps)
    assert acc.tolist() == [14.0, 26.0]
    assert model.a[...].tolist() == [210 % 64, 702 % 64]
    assert model.b[...].tolist() == [15.0, 27.0]
    assert model.c is model.a
    assert returned is model.a
    assert made[...].tolist() == [15.0, 27.0]


def on_copies(function, keep):
    """Run a function on copies of its arguments, then let `keep` bring some of it back."""

    @functools.wraps(function)
    def call(model, other, x):
        copies = nnx.clone([model, other])
        result = function(*copies, x)
        keep([model, other], copies)
        return result

    return call


def values_only(originals, copies):
    """Bring back values, as far as the structure is as it was."""
    before, after = (dict(nnx.to_flat_state(nnx.state(x))) for x in (originals, copies))
    kept = [(path, leaf) for path, leaf in after.items() if path in before]
    nnx.update(originals, nnx.from_flat_state(kept))


def forgets_structure(function):
    return on_copies(function, values_only)


def forgets_everything(function):
    return on_copies(function, lambda originals, copies: None)


def forgets_that_arguments_share(function):
    return lambda model, other, x: function(model, nnx.clone(other), x)


def returns_copies(function):
    return lambda model, other, x: nnx.clone(function(model, other, x))


def replaces_objects_by_copies(function):
    def call(model, other, x):
        result = function(model, other, x)
        for name, child in list(vars(model).items()):
            if isinstance(child, nnx.Param):
                setattr(model, name, nnx.clone(child))
        return result

    return call


def swallows_errors(function):
    def call(model, other, x):
        try:
            return function(model, other, x)
        except LookupError:
            return x, []

    return call


def changes_the_class_of_errors(function):
    def call(model, other, x):
        try:
            return function(model, other, x)
        except Exception as error:
            raise RuntimeError from error

    return call


def runs_twice(function):
    def call(model, other, x):
        function(model, other, x)
        return function(model, other, x)

    return call


def uses_the_statics_of_the_first_call(function):
    """Stand in a cache whose key forgets static attributes."""
    seen = []

    def call(model, other, x):
        seen.append(model.training)
        now, model.training = model.training, seen[0]
        try:
            return function(model, other, x)
        finally:
            model.training = now if model.training == seen[0] else model.training

    return call


WRONG = [
    forgets_structure,
    forgets_everything,
    forgets_that_arguments_share,
    returns_copies,
    replaces_objects_by_copies,
    swallows_errors,
    changes_the_class_of_errors,
    runs_twice,
    uses_the_statics_of_the_first_call,
    eagerly,  # it leaves the objects half changed after an error
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_law_of_jit_catches_a_transform_that(wrong):
    @given(plain)
    @settings(budget(300), phases=[Phase.generate])
    def law(scenario):
        expected = Play(nnx, scenario, {}).play(eagerly, restores=False)
        agree(Play(nnx, scenario, {}).play(wrong), expected)

    with pytest.raises(AssertionError):
        law()
