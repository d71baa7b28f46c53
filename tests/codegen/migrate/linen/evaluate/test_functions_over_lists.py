"""Functions that `map` and `reduce` call for each item: those that build submodules build one each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import OTHER

MODULE = """
import functools

from flax import linen as nn


class Stack(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        dense = nn.Dense(4)
        parts = [dense(x)]
        for _ in range(self.depth):
            parts.append(nn.Dense(4)(x))
        return {result}
"""


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("functools.reduce(lambda a, b: nn.Dense(4)(a) + b, parts)", [OTHER]),
        ("list(map(lambda a: nn.Dense(4)(a), parts))", [OTHER]),
        ("functools.reduce(lambda a, b: dense(a) + b, parts)", []),
        ("list(map(lambda a: dense(a), parts))", []),
        ("functools.reduce(lambda a, b: nn.Dense(4)(a) + b, [x, x, x])", []),
        ("functools.reduce(lambda a, b: a + b, [])", []),
    ],
)
def test_a_list_of_any_length_says_not_how_many_there_are(
    tmp_path: Path, result: str, expected: list[str]
) -> None:
    after = migrated(tmp_path / "stack.py", MODULE.format(result=result))
    assert [mark.code for plan in after.plans for mark in plan.marks] == expected
