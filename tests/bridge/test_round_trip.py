"""Laws of the conversion of trees of Linen variables, over generated trees."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridge.sides import FLAX, OURS, plain

NAMES = st.sampled_from(["a", "b", "Dense_0", "kernel", "é"])
VALUES = st.one_of(
    st.integers(0, 3).map(lambda n: jnp.arange(n)),
    st.floats(-1, 1).map(jnp.float32),
    st.tuples(st.just(jnp.ones(2)), st.integers(0, 9)),
)
LEVELS: Any = st.recursive(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=3),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3),
    max_leaves=6,
)


def trees() -> Any:
    """Return trees of one collection per top-level name, so that no two share a path."""
    cols = st.sampled_from(["params", "batch_stats", "made_up"])
    return st.dictionaries(cols, LEVELS, max_size=3).map(
        lambda tree: {col: {f"{col}_part": level} for col, level in tree.items()}
    )


def check(tree: Any) -> None:
    ours, theirs = OURS.bridge.variables, FLAX.bridge.variables
    attrs = ours.linen_vars_to_nnx_attrs(tree)
    assert plain(attrs) == plain(theirs.linen_vars_to_nnx_attrs(tree))
    assert plain(ours.nnx_attrs_to_linen_vars(attrs)) == plain(tree)


@given(tree=trees())
@settings(max_examples=20, deadline=None)
def test_attributes_are_those_of_flax_and_come_back(tree: Any) -> None:
    check(tree)


@pytest.mark.slow
@given(tree=trees())
@settings(max_examples=300, deadline=None)
def test_attributes_are_those_of_flax_and_come_back_over_many_trees(tree: Any) -> None:
    check(tree)
