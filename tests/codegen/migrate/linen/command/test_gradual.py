"""``--gradual``: what needs a person stays in Linen, in a bridge, and computes the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.command.running import migrated, run
from typed_nnx_codegen.verify.command import verify

MODEL = """import flax.linen as nn


class Odd(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        width = self.width
        while width > 1:
            x = nn.Dense(4)(x)
            width //= 2
        x = nn.BatchNorm(use_running_average=not train)(x)
        return Leaf(3)(x)


class Leaf(nn.Module):
    n: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(x)


class Heir(Leaf):
    pass


class Net(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.relu(nn.Dense(self.width)(x))
        x = Odd(name="odd")(x, train)
        return nn.Dense(2)(Leaf(3)(x))


class Local(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.ConvLocal(3, (2,))(nn.Dense(4)(x))
"""
EXAMPLES = """import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Net"), jnp.ones((2, 5))),
    Example(Build("Net", width=3), jnp.ones((2, 5)), train=True, mutable=("batch_stats",)),
    Example(Build("Local"), jnp.ones((2, 5, 3))),
]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to migrate."""
    return tmp_path / "model.py"


def test_a_module_with_a_marker_stays_and_takes_what_goes_with_it_along(path: Path) -> None:
    result = migrated(path, MODEL, gradual=True)
    for name in ("Odd", "Leaf"):
        assert f"class {name}(nn.Module):" in result.after
    assert "class Heir(Leaf):\n    pass\n" in result.after
    assert "class Net(nnx.Module):" in result.after
    assert (
        "# TODO[typed-nnx] TN208: it stays in Linen: it is built in a loop, and only"
        in result.after
    )
    assert "nnx.bridge.ToNNX(Odd(), rngs=rngs).lazy_init(" in result.after
    assert "nnx.bridge.ToNNX(nn.ConvLocal(3,(2,)),rngs=rngs)" in "".join(result.after.split())
    assert result.map["classes"].keys() == {"Net", "Local"}  # type: ignore[attr-defined]  # a dict


def test_calls_keep_what_they_change_but_only_where_they_may_change_something(path: Path) -> None:
    after = migrated(path, MODEL, gradual=True).after
    assert "self.odd(x, train, mutable=flax.core.DenyList(" in after
    assert "self.leaf_0(x))" in after


@pytest.mark.thorough
def test_what_is_in_a_bridge_computes_what_linen_computes(path: Path) -> None:
    path.write_text(MODEL)
    calls, new = path.with_name("calls.py"), path.with_name("new.py")
    calls.write_text(EXAMPLES)
    assert run(path, "-o", new, "--gradual").exit_code == 0
    done = CliRunner().invoke(verify, [str(path), str(new), "--example", str(calls)])
    assert done.exit_code == 0, done.output
    assert "3 of 3 examples are equal" in done.output


@pytest.mark.parametrize("gradual", [False, True])
def test_what_is_in_a_bridge_stays_there_in_a_second_run(path: Path, gradual: bool) -> None:
    after = migrated(path, MODEL, gradual=True).after
    assert migrated(path, after, gradual=gradual).after == after


def test_without_the_option_nothing_is_put_in_a_bridge(path: Path) -> None:
    after = migrated(path, MODEL).after
    assert "ToNNX" not in after.replace("`nnx.bridge.ToNNX`", "")
    assert "TODO[typed-nnx]" in after
