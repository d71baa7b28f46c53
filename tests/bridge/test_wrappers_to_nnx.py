"""`ToNNX`: a Linen module as a Module, compared with flax.nnx around the same Linen module."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import flax.errors
import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn

import typed_nnx as nnx
from tests.bridge.linen_models import Everything, NamedModule, Streams, TwoCollections, TwoParts, X
from tests.bridge.sides import OURS, Side, assert_as_in_flax, state_of, values_of
from typed_nnx import bridge
from typed_nnx.errors import BridgeError, ReservedNameError


def made(side: Side, module: nn.Module, *args: Any, **streams: int) -> Any:
    rngs = side.nnx.Rngs(0, **streams)
    return side.bridge.ToNNX(module, rngs=rngs).lazy_init(*(args or (X,)))


def own(node: Any) -> list[str]:
    """Return the attributes, without the bookkeeping rows of flax."""
    return [name for name in vars(node) if not name.startswith("_pytree__")]


MODULES = {
    "dense": lambda: nn.Dense(4),
    "dense without bias in bfloat16": lambda: nn.Dense(
        4, use_bias=False, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16
    ),
    "conv": lambda: nn.Conv(4, (2,)),
    "embed": lambda: nn.Embed(7, 3),
    "attention": lambda: nn.MultiHeadDotProductAttention(num_heads=3),
    "sequential": lambda: nn.Sequential([nn.Dense(3), nn.tanh, nn.Dense(2)]),
    "everything": Everything,
    "two parts": TwoParts,
}
each_module = pytest.mark.parametrize("name", sorted(MODULES))


@each_module
def test_the_variables_and_the_output_are_those_of_flax(name: str) -> None:
    x = jnp.arange(6).reshape(2, 3) if name == "embed" else X

    def scenario(side: Side) -> Any:
        model = made(side, MODULES[name](), x)
        return state_of(side, model), model(x), own(model)

    assert_as_in_flax(scenario)


RNGS: dict[str, Callable[[Side], Any]] = {
    "default": lambda s: s.nnx.Rngs(0),
    "params": lambda s: s.nnx.Rngs(params=0),
    "default and dropout": lambda s: s.nnx.Rngs(0, dropout=1),
    "default, params and noise": lambda s: s.nnx.Rngs(0, params=3, noise=4),
    "no stream": lambda s: s.nnx.Rngs(),
    "a key": lambda s: jax.random.key(0),
    "a legacy key": lambda s: jax.random.PRNGKey(0),
    "nothing": lambda s: None,
}
each_rngs = pytest.mark.parametrize("given", sorted(RNGS))


@each_rngs
def test_the_linen_module_gets_the_keys_that_flax_gives_it(given: str) -> None:
    def scenario(side: Side) -> Any:
        rngs = RNGS[given](side)
        model = side.bridge.ToNNX(Streams(), rngs=rngs)
        model.lazy_init(X)
        other = side.nnx.Rngs(7, dropout=8)
        outputs = [
            model(X),
            model(X),
            model(X, rngs=other),
            model(X, rngs=jax.random.key(9)),
            model(X),
        ]
        drawn = values_of(side, rngs) if isinstance(rngs, side.nnx.Rngs) else None
        return outputs, values_of(side, model), values_of(side, other), drawn

    assert_as_in_flax(scenario)


def test_a_call_that_fails_has_drawn_its_keys_as_in_flax() -> None:
    def scenario(side: Side) -> Any:
        model = made(side, Everything(), dropout=1)
        with pytest.raises(RuntimeError, match="refused"):
            model(X, method="refuse")
        return values_of(side, model)

    assert_as_in_flax(scenario)


def test_a_mutable_call_keeps_the_variables_so_that_others_see_the_new_values() -> None:
    model = made(OURS, Everything())
    count, graphdef = model.n, nnx.graphdef(model)
    model(X, mutable=["counts", "batch_stats"])
    assert model.n is count
    assert count[...] == 2
    assert nnx.graphdef(model) is graphdef


def test_metadata_that_was_added_survives_a_mutable_call() -> None:
    def scenario(side: Side) -> Any:
        model = made(side, Everything())
        model.n.set_metadata(mine=1)
        model(X, mutable=["counts"])
        return model.n

    assert_as_in_flax(scenario)


def test_a_method_is_called_by_name_by_function_or_as_an_attribute() -> None:
    def scenario(side: Side) -> Any:
        model = made(side, Everything())
        return (
            model(X, method="double"),
            model(X, method=Everything.double),
            model.double(X),
            model(X, scale=3.0),
        )

    assert_as_in_flax(scenario)


def test_the_held_streams_are_a_fork_and_the_module_is_the_given_one() -> None:
    rngs, linen = nnx.Rngs(0, dropout=1), nn.Dense(4)
    model = bridge.ToNNX(linen, rngs=rngs)
    assert model.module is linen
    assert model.rngs is not rngs
    assert int(rngs.dropout.count[...]) == 1
    assert bridge.ToNNX(linen).rngs is None


def test_a_model_survives_copies_and_pickle() -> None:
    # Linen's default initializer is a local function, which pickle does not take.
    model = made(OURS, nn.Dense(4, kernel_init=nn.initializers.ones))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), nnx.clone(model)):
        assert other is not model
        assert (other(X) == model(X)).all()


def test_collections_have_the_registered_types_and_new_names_get_a_type() -> None:
    model = made(OURS, Everything())
    assert type(model.dense["kernel"]) is nnx.Param
    assert type(model.BatchNorm_0["mean"]) is nnx.BatchStat
    assert type(model.n) is nnx.variable_type_from_name("counts")


# -- wrong use -----------------------------------------------------------------------------------


def test_a_call_before_lazy_init_says_what_to_do() -> None:
    with pytest.raises(flax.errors.FlaxError) as caught:
        bridge.ToNNX(nn.Dense(4), rngs=nnx.Rngs(0))(X)
    assert caught.value.__notes__[-1] == "  Fix: initialise it before: model.lazy_init(x)"


def test_a_write_to_a_collection_that_is_not_mutable_is_linens_error() -> None:
    model = made(OURS, Everything(), dropout=1)
    with pytest.raises(flax.errors.ModifyScopeVariableError):
        model(X, train=True)


@pytest.mark.parametrize("rngs", [0, {"params": 0}], ids=["an int", "a mapping"])
def test_rngs_of_another_form_are_refused(rngs: Any) -> None:
    with pytest.raises(BridgeError, match="expected nnx.Rngs, a PRNG key or None"):
        bridge.ToNNX(nn.Dense(4), rngs=rngs)
    model = made(OURS, nn.Dense(4))
    with pytest.raises(BridgeError, match="ToNNX.__call__"):
        model(X, rngs=rngs)


def test_two_variables_with_one_path_are_refused() -> None:
    with pytest.raises(BridgeError, match="'params' and 'state'"):
        made(OURS, TwoCollections())


def test_a_variable_with_the_name_of_a_part_of_to_nnx_is_refused() -> None:
    model = bridge.ToNNX(NamedModule(), rngs=nnx.Rngs(0))
    with pytest.raises(ReservedNameError, match="'module'"):
        model.lazy_init(X)
    assert list(vars(model)) == ["to_nnx__module", "to_nnx__rngs"]


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'ToNNX' object has no attribute 'nope'"):
        _ = made(OURS, nn.Dense(4)).nope
