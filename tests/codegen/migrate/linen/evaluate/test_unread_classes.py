"""Modules whose base class is none of the files: they stay in Linen, and what builds them says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import COUNTERPART

MODULE = """
from flax import linen as nn
from other.models import Attention, Base


class {name}({base}):
    def {method}(self):
        self.dense = nn.Dense(3)


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + {name}()(x)
"""


@pytest.mark.parametrize(
    ("name", "base", "method", "codes"),
    [
        pytest.param("Own", "Attention", "setup", [COUNTERPART], id="another name"),
        pytest.param("Attention", "Attention", "setup", [COUNTERPART], id="the same name"),
        pytest.param("Own", "Base", "build", [], id="nothing says that it is a module"),
    ],
)
def test_a_module_with_a_base_of_another_package_is_marked_where_it_is_built(
    tmp_path: Path, name: str, base: str, method: str, codes: list[str]
) -> None:
    result = migrated(tmp_path / "layer.py", MODULE.format(name=name, base=base, method=method))
    found = {plan.cls.name: [mark.code for mark in plan.marks] for plan in result.plans}
    assert found == {"Layer": codes}
