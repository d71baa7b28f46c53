"""Variables, collections and cells are migrated: outputs, collections and gradients stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.codegen.migrate.linen.corpus_cases import as_users_run
from tests.codegen.migrate.linen.migrated_files import migrated, problems, verified
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

_PROGRAMS: Final = Path(__file__).with_name("programs")
_FILES: Final = ("cells", "kept_collections", "own_parameters")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using 'Module.sow:DeprecationWarning")
@pytest.mark.parametrize("runtime", ["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize("name", _FILES)
def test_a_migrated_program_computes_what_linen_computes(
    tmp_path: Path, name: str, runtime: Literal["typed_nnx", "flax.nnx"]
) -> None:
    file = _PROGRAMS / f"{name}.py"

    with as_users_run():
        one = migrated([file], tmp_path, runtime)[file]
        results = verified(one, _PROGRAMS / f"{name}_example.py")

    assert problems(results) == []


@pytest.mark.parametrize("name", _FILES)
def test_nothing_of_a_program_is_left_to_a_person(name: str) -> None:
    file = _PROGRAMS / f"{name}.py"

    (result,) = migrate_linen([file], [file], Options())

    assert [mark.message for plan in result.plans for mark in plan.marks] == []


def _marks(tmp_path: Path, body: str, before: str = "") -> list[str]:
    lines = [f"        {line}" for line in body.split("\n")]
    text = "\n".join(
        [
            "import jax.numpy as jnp",
            "from flax import linen as nn",
            "class M(nn.Module):",
            f"    {before or 'rate: float = 0.1'}",
            "    @nn.compact",
            "    def __call__(self, x, first: bool = False):",
            *lines,
            "",
        ]
    )
    file = tmp_path / "m.py"
    file.write_text(text)
    (result,) = migrate_linen([file], [file], Options())
    return [mark.message for plan in result.plans for mark in plan.marks]


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
    marks = _marks(tmp_path, body)

    assert any(part in mark for mark in marks), marks


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
