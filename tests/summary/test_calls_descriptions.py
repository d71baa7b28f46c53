"""The text of nested descriptions is YAML, as PyYAML writes it."""

from __future__ import annotations

import string
from collections import namedtuple
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from typed_nnx.summary._calls import (
    ArrayRepr,
    describe_input,
    describe_output,
    describe_variable,
    text_of,
)

# Words that YAML does not quote, as it would `no`.
WORDS = st.text(string.ascii_lowercase, min_size=4, max_size=6).filter(
    lambda word: word not in ("true", "false", "null", "none")
)
DESCRIPTIONS: Any = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
Pair = namedtuple("Pair", ["left", "right"])


@settings(max_examples=60, deadline=None)
@given(st.lists(DESCRIPTIONS, min_size=1, max_size=3) | st.dictionaries(WORDS, DESCRIPTIONS))
def test_nested_descriptions_are_written_as_yaml(description: Any) -> None:
    expected = yaml.safe_dump(description, sort_keys=False, width=1_000).strip()
    assert text_of(description) == expected


@pytest.mark.parametrize(
    ("value", "as_input", "as_output"),
    [
        (None, "None", "None"),
        ("text", "text", "text"),
        (3, "3", "int32[]"),
        (True, "True", "bool[]"),
        (2.5, "2.5", "float32[]"),
        (jnp.float32, "type[float32]", "type[float32]"),
        (nnx.Param, "type[Param]", "type[Param]"),
        (np.float64(2), "float64[]", "float64[]"),
        (np.dtype("int8"), "dtype('int8')", "dtype('int8')"),
        (jnp.ones((2, 0)), "float32[2,0]", "float32[2,0]"),
        (jax.nn.relu, "relu", "relu"),
        (object(), "object", "object"),
        ((), "[]", "[]"),
        (Pair(1, (2,)), "left: 1\nright:\n- 2", "left: int32[]\nright:\n- int32[]"),
        (nnx.Param(1.0), "float32[]", "value: float32[]"),
        (nnx.List([jnp.ones(2)]), "List", "0: float32[2]"),
        (nnx.State({"b": nnx.Param(jnp.ones(1)), "a": {}}), None, "a: {}\nb:\n  value: float32[1]"),
        (optax.ScaleByScheduleState(count=jnp.ones(())), "count: float32[]", "count: float32[]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_described(value: Any, as_input: str | None, as_output: str) -> None:
    if as_input is not None:
        assert text_of(describe_input(value)) == as_input
    assert text_of(describe_output(value)) == as_output


def test_a_variable_is_described_by_its_value_and_its_metadata() -> None:
    plain = nnx.Param(jnp.ones((2, 3)))
    assert describe_variable(plain) == ArrayRepr((2, 3), jnp.dtype("float32"))
    named = nnx.Param(jnp.ones(2), zone="x", out_sharding=("a",), mesh=None, eager_sharding=False)
    assert text_of(describe_variable(named)) == "out_sharding:\n- a\nvalue: float32[2]\nzone: x"


def test_a_registered_class_is_described_by_its_children() -> None:
    class Box:
        def __init__(self, content: Any) -> None:
            self.content = content

    jax.tree_util.register_pytree_with_keys(
        Box,
        lambda box: (((jax.tree_util.GetAttrKey("content"), box.content),), None),
        lambda _, children: Box(*children),
    )
    found = describe_output({"box": Box([jnp.ones(2), Box(3)])})
    assert text_of(found) == "box:\n  content:\n  - float32[2]\n  - content: int32[]"
