"""Lists of submodules that are not in step: no size of one is that of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.command.running import migrated
from typed_nnx_codegen.migrate.linen.domain.class_plan import SIZE

MODULE = """
from flax import linen as nn


class Stack(nn.Module):
    widths: tuple[int, ...]

    def setup(self):
        self.denses = [nn.Dense(width) for width in self.widths]
        self.norms = {norms}

    def __call__(self, x):
        for i, dense in enumerate({order}):
            x = dense(x)
            {call}
        return x
"""
NORMS = "[nn.LayerNorm() for width in self.widths]"


def marks(tmp_path: Path, norms: str, call: str, order: str = "self.denses") -> list[str]:
    """Return the markers of a module with two lists."""
    result = migrated(tmp_path / "stack.py", MODULE.format(norms=norms, call=call, order=order))
    return [mark.code for plan in result.plans for mark in plan.marks]


@pytest.mark.parametrize("call", ["x = self.norms[i](x)", "x = x + self.norms[i](x)"])
def test_lists_that_loops_make_alike_are_in_step(tmp_path: Path, call: str) -> None:
    assert marks(tmp_path, NORMS, call) == []


@pytest.mark.parametrize(
    ("norms", "call"),
    [
        (NORMS, "x = self.norms[i - 1](x)"),
        (NORMS, "x = self.norms[-i](x)"),
        (NORMS, "x = list(reversed(self.norms))[i](x)"),
        (NORMS, "x = self.norms[::-1][i](x)"),
        ("[nn.LayerNorm() for width in reversed(self.widths)]", "x = self.norms[i](x)"),
        ("[nn.LayerNorm() for width in self.widths[1:]]", "x = self.norms[i](x)"),
        ("[nn.LayerNorm() for width in self.widths if width > 4]", "x = self.norms[i](x)"),
        ("[nn.LayerNorm() for other in self.widths]", "x = self.norms[i](x)"),
        (
            "[[nn.LayerNorm() for width in range(2)] for width in self.widths]",
            "x = self.norms[i][0](x)",
        ),
    ],
)
def test_other_lists_and_places_get_a_marker(tmp_path: Path, norms: str, call: str) -> None:
    assert SIZE in marks(tmp_path, norms, call)


def test_layers_from_behind_get_a_marker(tmp_path: Path) -> None:
    assert SIZE in marks(tmp_path, "[]", "pass", "self.denses[::-1]")


APART = """
from flax import linen as nn


class Apart(nn.Module):
    widths: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        first, *others = [nn.Dense(width) for width in self.widths]
        x = first(x)
        for dense in others:
            x = dense(x)
        return x
"""


def test_a_list_of_submodules_that_is_taken_apart_gets_a_marker(tmp_path: Path) -> None:
    result = migrated(tmp_path / "apart.py", APART)

    assert [mark.code for plan in result.plans for mark in plan.marks] == [SIZE]
