"""`functional` and `lazy_init`."""

from __future__ import annotations

from typing import Any

import pytest

import typed_nnx as nnx
from tests.bridge.linen_models import X
from tests.bridge.sides import OURS, assert_as_in_flax
from typed_nnx import bridge
from typed_nnx.errors import BridgeError, LazyInitError


def test_a_functional_inits_and_applies_as_in_flax() -> None:
    def scenario(side: Any) -> Any:
        functional = side.bridge.functional(side.Linear)(3, 4, use_bias=True)
        state = functional.init(rngs=side.nnx.Rngs(0))
        output, (graphdef, after) = functional.apply(state)(X)
        return dict(side.nnx.to_flat_state(after)), output, graphdef == functional.graphdef

    assert_as_in_flax(scenario)


def test_a_functional_may_have_its_streams_from_the_start() -> None:
    def scenario(side: Any) -> Any:
        functional = side.bridge.functional(side.Linear)(3, 4, rngs=side.nnx.Rngs(0))
        return dict(side.nnx.to_flat_state(functional.init()))

    assert_as_in_flax(scenario)


def test_apply_before_init_is_an_error() -> None:
    with pytest.raises(BridgeError, match="Functional of Linear"):
        bridge.functional(OURS.Linear)(3, 4).apply(nnx.State({}))


@pytest.mark.parametrize("given", [3, len, lambda x: x], ids=["int", "builtin", "function"])
def test_what_belongs_to_no_module_is_refused(given: Any) -> None:
    with pytest.raises(LazyInitError, match="needs to be an NNX Module or a bound method"):
        bridge.lazy_init(given, X)
