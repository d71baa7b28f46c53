"""Lists of arrays: what is known of an item is known of every array that the list got."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import COUNTERPART, NAME, SIZE

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


NAMED = """
from flax import linen as nn
from flax.linen import partitioning


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x


class Scale(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x * partitioning.param_with_axes({arguments})
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('"scale", nn.initializers.ones, (3,), axes=("embed",), module=self', []),
        ('"scale", nn.initializers.ones, (3,), axes=None', []),
        ('"scale", nn.initializers.ones, (3,), axes=("embed",), module=Other()', [COUNTERPART]),
        ('str(x.sum()), nn.initializers.ones, (3,), axes=("embed",)', [NAME]),
    ],
)
def test_a_parameter_that_names_axes_is_declared_by_the_module_itself(
    tmp_path: Path, arguments: str, expected: list[str]
) -> None:
    result = migrated(tmp_path / "named.py", NAMED.format(arguments=arguments))
    marks = {mark.code for plan in result.plans for mark in plan.marks}
    assert sorted(marks) == expected
