"""What code asks of its arguments: whether they are arrays, or tables of arrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

ASKING = """import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def flat(x):
    if QUESTION:
        return jnp.concatenate([flat(x[key]) for key in sorted(x)], -1)
    return x


class Net(nn.Module):
    @nn.compact
    def __call__(self, x: TYPE):
        return nn.Dense(4)(flat(nn.Dense(3)(flat(x))))
"""


@pytest.mark.parametrize("question", ['hasattr(x, "items")', "isinstance(x, dict)"])
@pytest.mark.parametrize(
    ("said", "count"),
    [
        *(("jnp.ndarray", 0), ("jax.Array", 0), ('Float[Array, "batch d"]', 0)),
        *(("dict[str, jax.Array]", 1), ("jax.Array | dict", 1), ("object", 1)),
    ],
)
def test_an_argument_is_the_array_that_its_type_says(
    tmp_path: Path, question: str, said: str, count: int
) -> None:
    file = tmp_path / "net.py"
    file.write_text(ASKING.replace("QUESTION", question).replace("TYPE", said))
    (result,) = migrate_linen([file], [tmp_path], Options())
    marks = [mark.message for plan in result.plans for mark in plan.marks]
    assert len(marks) == count, marks
    # The function stays as it was: what it is given later may be a table.
    assert question in result.after
