"""The equivalence law of transforms in transforms, up to three deep, in any order."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.graph.descriptions import Const
from tests.transforms.library import nnx
from tests.transforms.program_layers import Layers, PlainLayers
from tests.transforms.program_strategies import (
    Kind,
    Steps,
    any_of,
    failing_steps,
    graphs,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import Play, Scenario, agree, budget, explore
from tests.transforms.programs import Draw

LAYERS = ("jit", "vmap", "grad", "remat", "cond", "switch", "scan", "fori", "loop")
#: Transforms under which structure may change; in the others it must stay.
FREE = ("jit", "vmap", "grad", "remat")
WIDTH = 2


@dataclasses.dataclass(frozen=True)
class Nest:
    """Layers, outermost first, and what they are applied to."""

    layers: tuple[str, ...]
    scenario: Scenario


def nests(depth, layers=LAYERS, kinds=(value_steps,), fails=False):
    """Return nests of the given depths; loops that cannot be differentiated are in no grad."""
    names = st.lists(st.sampled_from(layers), min_size=min(depth), max_size=max(depth)).map(tuple)
    return names.filter(can_be_differentiated).flatmap(lambda layers: nest(layers, kinds, fails))


def can_be_differentiated(layers) -> bool:
    """Tell whether no while loop is inside of a grad."""
    return "grad" not in layers or "loop" not in layers[layers.index("grad") :]


def nest(layers, kinds, fails):
    """Return nests of these layers; arrays have one more axis for each vmap."""
    batch = (WIDTH,) * layers.count("vmap")
    kind = Kind(scalars=False, rngs=not batch)
    steps = any_of(*kinds).filter(lambda step: not batch or not is_random(step))
    bodies = st.lists(steps, min_size=1, max_size=4).map(tuple)
    if fails:
        bodies = st.builds(lambda body, end: (*body, end), bodies, any_of(failing_steps))

    def build(graph, body: Steps) -> Nest:
        arrays = tuple(dataclasses.replace(a, shape=(*batch, 2)) for a in graph.arrays)
        graph = dataclasses.replace(graph, arrays=arrays)
        return Nest(layers, Scenario(graph, Const(None), "arguments", body))

    return st.builds(build, graphs(kind), bodies)


def is_random(step) -> bool:
    """Tell steps that make or use random streams: they do not act on stacked values."""
    return isinstance(step, Draw) or getattr(step, "kind", "") == "rngs"


def check(case: Nest) -> None:
    """Compare the layers with their plain meaning."""
    event(" ".join(case.layers))
    shape = (WIDTH,) * case.layers.count("vmap")
    x = jnp.arange(1.0, 1 + 2 * WIDTH ** len(shape)).reshape(*shape, 2)
    plain, meaning = Play(nnx, case.scenario, {}), PlainLayers(nnx)
    expected = play(plain, meaning.apply(case.layers, function(plain)), x, restores=False)
    real = Play(nnx, case.scenario, {})
    found = play(real, Layers(nnx).apply(case.layers, function(real)), x, restores=True)
    event(f"{found[0]}, {meaning.keeps_form=}, {meaning.restarts=}")
    if meaning.keeps_form or (found[0] == "ok" and not meaning.restarts):
        agree([found], [expected])


def function(play: Play):
    """Return the program as a function of the objects and the register."""
    return lambda model, acc: play.machine([model], acc).run(play.scenario.body)[0]


def play(world: Play, transformed, x, restores):
    """Call it once; describe what the caller sees."""
    kind, result = world.attempt(lambda: transformed(world.roots[0], x), restores=restores)
    return world.see(result) if kind == "ok" else (kind, result)


two_deep = nests((1, 2))
three_deep = nests((3, 3))
restructuring = nests((1, 3), FREE, (value_steps, structure_steps))
anywhere = nests((2, 3), LAYERS, (value_steps, structure_steps))
failing = nests((1, 3), LAYERS, (value_steps,), fails=True)


@pytest.mark.thorough
@given(case=two_deep)
@budget(40)
def test_two_transforms_in_each_other_mean_what_they_mean_alone(case):
    check(case)


@pytest.mark.thorough
@given(case=three_deep)
@budget(40)
def test_three_transforms_in_each_other_mean_what_they_mean_alone(case):
    check(case)


@pytest.mark.thorough
@given(case=restructuring)
@budget(60)
def test_structure_may_change_below_up_to_three_transforms(case):
    check(case)


@pytest.mark.thorough
@given(case=anywhere)
@budget(40)
def test_structure_that_changes_in_a_loop_or_branch_is_right_or_refused(case):
    check(case)


@pytest.mark.thorough
@given(case=failing)
@budget(40)
def test_an_error_below_up_to_three_transforms_leaves_the_objects_alone(case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [two_deep, three_deep, restructuring, anywhere, failing],
    ids=["two", "three", "structure", "anywhere", "errors"],
)
def test_the_law_of_nesting_holds_for_many_programs(strategy):
    explore(300, check, strategy)
