"""Parameters that name their axes, beside what `corpus/named_axes.py` compares: markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALL, COUNTERPART, NAME

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


def test_a_variable_of_the_call_that_names_axes_has_a_marker(tmp_path: Path) -> None:
    declared = 'partitioning.variable_with_axes("stats", "seen", jnp.zeros, x.sum(), axes=("a",))'
    text = NAMED.replace("partitioning.param_with_axes({arguments})", f"{declared}.value")
    result = migrated(tmp_path / "named.py", f"import jax.numpy as jnp\n{text}")
    assert [mark.code for plan in result.plans for mark in plan.marks] == [CALL]
