"""Modules as agents have them are migrated whole, and compute what they computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.corpus_cases import as_users_run
from tests.codegen.migrate.linen.migrated_files import migrated, problems, verified

_CASES = Path(__file__).with_name("cases_rl.py")
_EXAMPLES = Path(__file__).with_name("cases_rl_example.py")

_UNKNOWN_SHAPE = """
import math

import distribution
from flax import linen as nn


class Critic(nn.Module):
    @nn.compact
    def __call__(self, state, action):
        return nn.Dense(1)(action.reshape(-1))


class Agent(nn.Module):
    @nn.compact
    def __call__(self, state):
        return Critic()(state, distribution.sample(state))
"""


@pytest.mark.slow
def test_agents_compute_what_they_computed_in_linen(tmp_path: Path) -> None:
    one = migrated([_CASES], tmp_path)[_CASES]

    with as_users_run():
        found = problems(verified(one, _EXAMPLES))

    assert found == []


def test_nothing_of_the_agents_is_left_to_a_person(tmp_path: Path) -> None:
    one = migrated([_CASES], tmp_path)[_CASES]

    assert one.marked == {}


def test_a_first_carry_is_asked_of_no_cell(tmp_path: Path) -> None:
    text = migrated([_CASES], tmp_path)[_CASES].new.read_text()

    first = text.partition("def first(batch, width):")[2].partition("class ")[0]
    assert "self" not in first
    assert "jnp.zeros" in first


def test_only_the_last_size_is_asked_for_where_a_batch_axis_is_added(tmp_path: Path) -> None:
    result = migrated([_CASES], tmp_path)[_CASES].result

    (plan,) = [plan for plan in result.plans if plan.cls.name == "Batched"]
    assert [one.name for one in plan.lifted] == ["in_features"]


def test_a_shape_of_which_nothing_is_known_is_left_to_a_person(tmp_path: Path) -> None:
    file = tmp_path / "agent.py"
    file.write_text(_UNKNOWN_SHAPE)

    one = migrated([file], tmp_path / "new")[file]

    assert "action_shape=()" not in one.new.read_text()
    assert list(one.marked) == ["Agent"]
