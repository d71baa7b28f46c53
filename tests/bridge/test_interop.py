"""Layers of NNX and of Linen inside a `bridge.Module`."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from flax import linen as nn

from tests.bridge.linen_models import X
from tests.bridge.sides import OURS, assert_as_in_flax
from typed_nnx import bridge
from typed_nnx.errors import BridgeError


def in_compact(side: Any) -> Any:
    class Net(side.bridge.Module):
        @side.bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            nnx_in, linen_in = side.bridge.nnx_in_bridge_mdl, side.bridge.linen_in_bridge_mdl
            x = nnx_in(lambda rngs: side.Linear(3, 2, rngs=rngs))(x)
            x = nnx_in(lambda rngs: side.Linear(2, 2, rngs=rngs), name="named")(x)
            x = linen_in(nn.Dense(5))(x)
            return linen_in(nn.BatchNorm(use_running_average=False), name="norm")(x)

    return Net()


def in_setup(side: Any) -> Any:
    class Net(side.bridge.Module):
        def setup(self) -> None:
            self.layer = side.bridge.nnx_in_bridge_mdl(lambda rngs: side.Linear(3, 2, rngs=rngs))
            self.linen = side.bridge.linen_in_bridge_mdl(nn.Dense(5))

        def __call__(self, x: jax.Array) -> Any:
            return self.linen(self.layer(x))

    return Net()


def with_dropout(side: Any) -> Any:
    class Net(side.bridge.Module):
        @side.bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            drop = side.bridge.nnx_in_bridge_mdl(lambda rngs: side.Dropout(0.5, rngs=rngs))
            return drop(x), self.make_rng("dropout"), self.make_rng("params")

    return Net()


@pytest.mark.parametrize("make", [in_compact, in_setup], ids=["compact", "setup"])
def test_layers_of_both_kinds_have_the_variables_and_outputs_of_flax(make: Any) -> None:
    def scenario(side: Any) -> Any:
        module = make(side)
        output, variables = module.init_with_output(0, X)
        # The statistics are written, so apply has to be told so.
        return output, variables, module.apply(variables, X, mutable=["batch_stats"])

    assert_as_in_flax(scenario)


def test_random_layers_draw_the_keys_that_they_draw_in_flax() -> None:
    def scenario(side: Any) -> Any:
        module = with_dropout(side)
        rngs = {"dropout": jax.random.key(1), "params": jax.random.key(2)}
        return (
            module.init_with_output(0, X)[0],
            module.apply({}, X, rngs=0),
            module.apply({}, X, rngs=rngs),
        )

    assert_as_in_flax(scenario)


@pytest.mark.parametrize(
    "use",
    [
        lambda: bridge.nnx_in_bridge_mdl(lambda rngs: OURS.Linear(3, 2, rngs=rngs)),
        lambda: bridge.linen_in_bridge_mdl(nn.Dense(3)),
    ],
    ids=["nnx", "linen"],
)
def test_outside_of_a_bridge_module_it_is_an_error(use: Any) -> None:
    with pytest.raises(BridgeError, match="_in_bridge_mdl: there is no scope here"):
        use()
