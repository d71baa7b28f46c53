"""Variables, collections and cells: what cannot stay the same has a marker."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.codegen.migrate.linen.command.running import messages, migrated
from tests.codegen.migrate.linen.corpus_cases import CORPUS
from typed_nnx_codegen.migrate.linen.migration import LinenResult, migrate_linen
from typed_nnx_codegen.migrate.options import Options

_HEAD = """\
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
    @nn.compact
    def __call__(self, x):
"""


@pytest.mark.parametrize(
    ("body", "part"),
    [
        pytest.param(
            "w = self.param('w', lambda key: x.mean(0))\nreturn x - w",
            "its first value depends on what the method is called with",
            id="first value from data",
        ),
        pytest.param(
            "old = self.is_mutable_collection('counters')\nreturn x if old else -x",
            "which collections are mutable",
            id="output that depends on mutability",
        ),
        pytest.param(
            "return x + self.get_variable('given', 'shift')",
            "`self.get_variable` is not migrated",
            id="variable from outside",
        ),
        pytest.param(
            "self.sow('losses', 'l2', (x**2).sum(), init_fn=lambda: 0.0, reduce_fn=jnp.add)\nreturn x",
            "nnx.pop",
            id="sown into another collection",
        ),
        pytest.param(
            "import e3x\nreturn e3x.nn.Dense(features=3)(x)",
            "`e3x.nn.Dense` is of another package",
            id="module of a package that is not migrated",
        ),
        *(
            pytest.param(
                f"from elsewhere.networks import Tower\n{code}",
                "`elsewhere.networks.Tower` is of another package",
                id=f"module of another package, {how}",
            )
            for how, code in (
                ("called at once", "return Tower(3)(x)"),
                ("in a Sequential", "return nn.Sequential([nn.relu, Tower(3)])(x)"),
                ("in a list", "for one in [Tower(3), nn.tanh]:\n    x = one(x)\nreturn x"),
                (
                    "made in a loop",
                    "for one in [Tower(i) for i in (2, 3)]:\n    x = one(x)\nreturn x",
                ),
            )
        ),
        pytest.param(
            "from elsewhere.networks import tower\nreturn tower(3)(x)",
            "what `tower` builds is not known",
            id="what a function of another package returns",
        ),
        pytest.param(
            "carry = nn.LSTMCell(3, carry_init=nn.initializers.normal(), parent=None)"
            ".initialize_carry(self.make_rng('carry'), x.shape)\nreturn carry",
            "first carry of this cell is not zeros",
            id="random first carry",
        ),
    ],
)
def test_what_cannot_stay_the_same_is_left_to_a_person(
    tmp_path: Path, body: str, part: str
) -> None:
    found = messages(migrated(tmp_path / "m.py", _HEAD + indent(body, " " * 8) + "\n"))

    assert any(part in message for message in found), found


def test_a_default_that_another_package_makes_is_left_to_a_person(tmp_path: Path) -> None:
    text = _HEAD + " " * 8 + "return self.inner(x)\n"
    text = text.replace("    @nn", "    inner: nn.Module = Tower(3)\n\n    @nn")
    file = tmp_path / "m.py"

    assert any(
        "`elsewhere.networks.Tower` is of another package" in message
        for message in messages(migrated(file, f"from elsewhere.networks import Tower\n{text}"))
    )


@pytest.mark.parametrize("size", [7, 3])
def test_what_linen_makes_for_other_shapes_alone_is_made_for_these(
    tmp_path: Path, size: int
) -> None:
    file = tmp_path / "skip.py"
    file.write_text(
        "import jax.numpy as jnp\n"
        "from flax import linen as nn\n"
        "class Skip(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x):\n"
        "        y = nn.Dense(7)(x)\n"
        "        if y.shape != x.shape:\n"
        "            x = nn.Dense(7, name='projection')(x)\n"
        "        return x + y\n"
    )
    (result,) = migrate_linen([file], [file], Options())
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    exec(result.before, before)
    exec(result.after, after)

    x = jnp.ones((2, size))
    made = before["Skip"]().init(jax.random.key(0), x)["params"]
    model = after["Skip"](in_features=size, rngs=nnx.Rngs(0))

    assert hasattr(model, "projection") == ("projection" in made) == (size != 7)
    assert model(x).shape == (2, 7)


@pytest.fixture(scope="module")
def agents() -> LinenResult:
    """What becomes of the agents of the corpus."""
    file = CORPUS / "agents.py"
    (result,) = migrate_linen([file], [file], Options())
    return result


def test_a_first_carry_is_asked_of_no_cell(agents: LinenResult) -> None:
    first = agents.after.partition("def initialize_carry(batch_size, hidden_size):")[2].partition(
        "class "
    )[0]

    assert "self" not in first
    assert "jnp.zeros" in first


def test_only_the_last_size_is_asked_for_where_a_batch_axis_is_added(agents: LinenResult) -> None:
    (plan,) = [plan for plan in agents.plans if plan.cls.name == "Batched"]

    assert [one.name for one in plan.lifted] == ["in_features"]


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


def test_a_shape_of_which_nothing_is_known_is_left_to_a_person(tmp_path: Path) -> None:
    result = migrated(tmp_path / "agent.py", _UNKNOWN_SHAPE)

    assert "action_shape=()" not in result.after
    assert [plan.cls.name for plan in result.plans if plan.marks] == ["Agent"]
