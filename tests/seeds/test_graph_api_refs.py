"""The examples of the seed document ``graph_api_reference.txt`` for arrays behind refs.

flax 0.12.8 has no `to_refs`, `to_arrays`, `array_ref` or `ArrayRef`: the document alone says what
they do.
"""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

DUPLICATE = re.escape("Found duplicate at paths:\n  ---\n  0\n  1\n  ---")
"""The document's message; ours says how to fix it below."""


def test_to_refs_turns_arrays_into_refs_and_keeps_refs() -> None:
    node = [jnp.array(1.0), nnx.array_ref(jnp.array(2.0))]
    mutable_node = nnx.to_refs(node)
    assert nnx.is_array_ref(mutable_node[0])
    assert nnx.is_array_ref(mutable_node[1])
    assert mutable_node[0][...] == 1.0
    assert mutable_node[1][...] == 2.0


def test_to_refs_refuses_an_array_that_occurs_twice() -> None:
    shared_array = jnp.array(1.0)
    node = [shared_array, shared_array]
    with pytest.raises(ValueError, match=DUPLICATE):
        nnx.to_refs(node)


def test_to_refs_converts_only_what_the_filter_matches() -> None:
    node = [jnp.array(1.0), jnp.array(2.0)]
    mutable_node = nnx.to_refs(node, only=lambda path, x: path[0] == 0)
    assert isinstance(mutable_node[0], nnx.ArrayRef)
    assert isinstance(mutable_node[1], jax.Array)


def test_to_arrays_refuses_a_ref_that_occurs_twice() -> None:
    shared_array = nnx.array_ref(jnp.array(1.0))
    node = [shared_array, shared_array]
    with pytest.raises(ValueError, match=DUPLICATE):
        nnx.to_arrays(node)


def test_to_arrays_accepts_a_ref_that_occurs_twice_when_told_to() -> None:
    shared_array = nnx.array_ref(jnp.array(1.0))
    frozen_node = nnx.to_arrays([shared_array, shared_array], allow_duplicates=True)
    assert [type(x) is type(jnp.array(1.0)) for x in frozen_node] == [True, True]
