"""The equivalence law of `scan`: it gives what a Python loop gives that hands the carry on."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.graph.descriptions import Const
from tests.graph.oracle import walk
from tests.transforms.library import nnx
from tests.transforms.program_slices import SLICES, Mapped, slice_of
from tests.transforms.program_strategies import (
    failing_programs,
    programs,
    scenarios,
    structure_steps,
    value_steps,
)
from tests.transforms.program_worlds import Play, Scenario, Seen, agree, budget, explore

X = jnp.arange(1.0, 1 + 2 * SLICES).reshape(SLICES, 2)
START = jnp.asarray([5.0, 7.0])

alone = functools.partial(scenarios, passings=["arguments"], others=st.just(Const(None)))
values_only = alone(programs(value_steps))
restructuring = alone(programs(value_steps, structure_steps, max_size=4))
failing = alone(failing_programs(value_steps))
#: What is scanned over, and the axes that say so; all else is carried.
AXES: dict[str, tuple[tp.Any, tp.Any]] = {
    "all carried": (lambda *_: False, nnx.StateAxes({...: nnx.Carry})),
    "Params scanned": (nnx.Param, nnx.StateAxes({nnx.Param: 0, ...: nnx.Carry})),
    "all but Params scanned": (
        nnx.Not(nnx.Param),
        nnx.StateAxes({nnx.Param: nnx.Carry, ...: 0}),
    ),
}
axes_names = st.sampled_from(sorted(AXES))


def form(play: Play) -> tp.Any:
    """Describe the structure and the identities of the objects of a world without their numbers."""
    graphdef, state = play.nnx.split([play.roots, play.held])
    zeros = jax.tree.map(lambda leaf: leaf if is_key(leaf) else jnp.zeros_like(leaf), state)
    return walk(play.nnx.merge(graphdef, zeros))


def is_key(leaf: jax.Array) -> bool:
    """Tell random keys from numbers."""
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


class Loop:
    """The Python loop: hands the register and the carried leaves from one copy to the next.

    Attributes:
        seen: what the caller sees, for each slice, or one error.
        keeps_form: whether each iteration left structure and identities as they were.
        keeps_carry: whether the carried leaves were the same ones after each iteration.
    """

    def __init__(self, mapped: Mapped) -> None:
        self.keeps_form = True
        self.keeps_carry = True
        acc, ys = START, []
        done: list[Play] = []
        for number, play in enumerate(mapped.slices):
            if done and not mapped.carry_over(done[-1], play):
                self.keeps_carry = False
                break
            before = form(play)
            outcome = play.attempt(functools.partial(body, play, acc, X[number]), restores=False)
            if outcome[0] == "error":
                self.seen = [outcome]
                return
            acc, y = outcome[1]
            ys.append(y)
            done.append(play)
            self.keeps_form = self.keeps_form and form(play) == before
        self.seen = self.see(mapped, done, acc, ys)

    def see(self, mapped: Mapped, done: list[Play], acc: jax.Array, ys: list) -> list[Seen]:
        """Describe each slice; carried leaves hold what the last iteration left."""
        for play in done[:-1]:
            self.keeps_carry = mapped.carry_over(done[-1], play) and self.keeps_carry
        return [play.see([acc, y]) for play, y in zip(done, ys, strict=True)]


def body(play: Play, acc: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Run the program on the register plus the input."""
    machine = play.machine(play.roots, acc + x)
    result, _ = machine.run(play.scenario.body)
    return result, result * 2


def check(scenario: Scenario, axes: str) -> None:
    """Compare scan with the loop."""
    chosen, prefix = AXES[axes]
    mapped = Mapped(nnx, scenario, chosen)
    expected = Loop(mapped)
    whole = mapped.whole

    def step(model, acc, x):
        machine = whole.machine([model, None], acc + x)
        result, _ = machine.run(scenario.body)
        return result, result * 2

    function = nnx.scan(step, in_axes=(prefix, nnx.Carry, 0), out_axes=(nnx.Carry, 0))
    outcome = whole.attempt(lambda: function(whole.roots[0], START, X))
    for name in mapped.slices[0].trail:
        event(name)
    event(f"{axes}: {outcome[0]}, {expected.keeps_form=}, {expected.keeps_carry=}")
    if expected.seen[0][0] == "error":
        agree([outcome], expected.seen)
    elif outcome[0] == "error":
        assert not (expected.keeps_form and expected.keeps_carry), outcome
    else:
        assert expected.keeps_carry, "a carry whose structure changes must be an error"
        agree(see_slices(mapped, outcome[1]), expected.seen)


def see_slices(mapped: Mapped, result: tuple[jax.Array, jax.Array]) -> list[Seen]:
    """Describe each slice of what scan left."""
    whole, (acc, ys) = mapped.whole, result
    chosen = nnx.All(lambda path, _: path[0] != 1, mapped.mapped)
    seen = [[whole.roots, [acc, ys[i]], whole.held] for i in range(SLICES)]
    return [("ok", walk(slice_of(nnx, x, chosen, i))) for i, x in enumerate(seen)]


@pytest.mark.thorough
@given(scenario=values_only, axes=axes_names)
@budget(40)
def test_a_program_that_changes_values_gives_the_same_under_scan_as_in_a_loop(scenario, axes):
    check(scenario, axes)


@pytest.mark.thorough
@given(scenario=restructuring, axes=axes_names)
@budget(40)
def test_a_program_that_changes_structure_equals_the_loop_or_is_refused(scenario, axes):
    check(scenario, axes)


@given(scenario=failing, axes=axes_names)
@budget(25)
def test_a_failing_program_raises_the_same_error_under_scan(scenario, axes):
    check(scenario, axes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy", [values_only, restructuring, failing], ids=["values", "structure", "errors"]
)
def test_the_law_of_scan_holds_for_many_programs(strategy):
    explore(300, check, strategy, axes_names)
