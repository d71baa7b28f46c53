"""Methods with generated overloads have the same types when mypy reads them from its cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.type_checkers import Finding, TypeCheckers

FIRST = "import typed_nnx\n"
SECOND = """\
from types import EllipsisType
from typing import Any, assert_type

import jax
import typed_nnx as nnx


@nnx.jit
def step(model: nnx.Linear, x: jax.Array) -> jax.Array:
    return model(x)


def use(model: nnx.Linear, x: jax.Array) -> None:
    assert_type(step.trace(model, x).lower().compile()(model, x), jax.Array)
    assert_type(step.lower(model, x).compile()(model, x), jax.Array)
    assert_type(step.eval_shape(model, x), jax.Array)
    params, rest = nnx.state(model).split(nnx.Param, ...)
    assert_type(params, nnx.State[Any, Any, nnx.Linear, type[nnx.Param[Any]]])
    assert_type(rest, nnx.State[Any, Any, nnx.Linear, EllipsisType])
"""


@pytest.mark.thorough
def test_types_are_the_same_from_the_cache(tmp_path: Path) -> None:
    said: list[Finding] = []
    for name, code in (("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.py").write_text(code)
        said += TypeCheckers(tmp_path).mypy("--strict", "--cache-dir", "cache", f"{name}.py")
    assert said == []
