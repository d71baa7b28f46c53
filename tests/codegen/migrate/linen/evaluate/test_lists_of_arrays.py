"""Lists of arrays: what is known of an item is known of every array that the list got."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import SIZE

MODULE = """
from flax import linen as nn


class Stack(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x):
        parts = [x]
        for _ in range(self.depth):
            parts.append(nn.Dense(4)(x))
        {change}
        return nn.DenseGeneral(3, axis=(-2, -1))(parts.pop())
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("parts.append(x + 1)", []),
        ("parts += [x * 2, x]", []),
        ("parts.append(x[:, :1, :])", [SIZE]),
        ("parts += [x[:, :1, :]]", [SIZE]),
        ("parts = parts + [x[:, :1, :]]", [SIZE]),
        ("parts.insert(0, x[:, :1, :])", [SIZE]),
    ],
)
def test_an_array_of_another_shape_makes_that_of_the_items_unknown(
    tmp_path: Path, change: str, expected: list[str]
) -> None:
    result = migrated(tmp_path / "stack.py", MODULE.format(change=change))
    assert [mark.code for plan in result.plans for mark in plan.marks] == expected


CHAINED = """
from flax import linen as nn


class Chain(nn.Module):
    widths: tuple[int, ...]

    def setup(self):
        self.cells = [nn.GRUCell(width) for width in self.widths]

    def __call__(self, carry, x):
        states = [x]
        for i, cell in enumerate(self.cells):
            state, _ = cell(carry[i], states[i])
            states.append(state)
        return states[-1]
"""


def test_a_list_that_a_loop_of_submodules_makes_says_their_sizes(tmp_path: Path) -> None:
    result = migrated(tmp_path / "chain.py", CHAINED)
    assert [mark.message for plan in result.plans for mark in plan.marks] == []
