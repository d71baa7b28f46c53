"""`ToLinen`: a Module as a Linen module, compared with flax.nnx inside the same Linen code."""

from __future__ import annotations

import functools
import pickle
import warnings
from typing import Any

import flax.core
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import linen as nn

import typed_nnx as nnx
from tests.bridge.linen_models import X
from tests.bridge.sides import FLAX, OURS, assert_as_in_flax, plain
from typed_nnx import bridge
from typed_nnx.errors import BridgeError

STREAMS = {"params": jax.random.key(0), "dropout": jax.random.key(1)}


@functools.cache
def block(side: Any) -> Any:
    """Return a Module class with layers, statistics, dropout, a counter, metadata and a list."""

    class Block(side.nnx.Module):
        def __init__(self, features: int, *, rngs: Any) -> None:
            self.linear = side.Linear(3, features, rngs=rngs)
            self.norm = side.BatchNorm(features, rngs=rngs)
            self.drop = side.Dropout(0.5, rngs=rngs)
            self.count = side.nnx.Cache(jnp.zeros((), jnp.int32))
            self.marked = side.nnx.Param(jnp.ones(3), mine="yes")
            self.items = side.nnx.List([side.nnx.Param(jnp.ones(1)), side.nnx.Param(jnp.ones(2))])

        def __call__(self, x: jax.Array, add: float = 0.0) -> Any:
            self.count[...] += 1
            self.late = side.nnx.Cache(jnp.ones(2))
            return self.drop(self.norm(self.linear(x))) + add

        def linear_only(self, x: jax.Array) -> Any:
            return self.linear(x)

        @property
        def size(self) -> int:
            return 3

    return Block


def linen(side: Any, *args: Any, **kwargs: Any) -> Any:
    return side.bridge.to_linen(block(side), *(args or (4,)), **kwargs)


def test_init_gives_the_variables_of_flax() -> None:
    assert_as_in_flax(lambda side: linen(side).init(STREAMS, X))


MUTABLE = {
    "nothing": False,
    "statistics": ["batch_stats"],
    "cache": "cache",
    "all": True,
}


@pytest.mark.parametrize("which", sorted(MUTABLE))
@pytest.mark.filterwarnings("ignore:Found unknown module paths")
def test_apply_gives_the_output_and_the_mutated_state_of_flax(which: str) -> None:
    def scenario(side: Any) -> Any:
        module = linen(side)
        variables = module.init(STREAMS, X)
        keys = {"dropout": jax.random.key(5)}
        run = functools.partial(module.apply, mutable=MUTABLE[which])
        first = run(variables, X, 1.0, rngs=keys)
        again = run({**variables, **first[1]}, X, rngs=keys) if MUTABLE[which] else None
        return first, again, run(variables, X)

    assert_as_in_flax(scenario)


def test_shapes_of_init_are_those_of_flax() -> None:
    def scenario(side: Any) -> Any:
        found = jax.eval_shape(linen(side).init, STREAMS, X)
        return jax.tree.map(str, nn.unbox(found))

    assert_as_in_flax(scenario)


def test_a_function_of_the_class_is_a_method_too() -> None:
    module = linen(OURS)
    variables = module.init(STREAMS, X)
    by_function = module.apply(variables, X, nnx_method=block(OURS).linear_only)
    assert (by_function == module.apply(variables, X, nnx_method="linear_only")).all()


@pytest.mark.parametrize("name", ["size", "nope", "_private"])
def test_what_is_no_method_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'ToLinen' object has no attribute '{name}'"):
        getattr(linen(OURS), name)


class Nested(nn.Module):
    """Linen code that uses Modules of a library, named and unnamed."""

    side: Any

    @nn.compact
    def __call__(self, x: jax.Array) -> Any:
        x = self.side.bridge.to_linen(self.side.Linear, 3, 3)(x)
        x = self.side.bridge.to_linen(self.side.Linear, 3, 3, name="named")(x)
        x = self.side.bridge.ToLinen(self.side.Linear, args=(3,), kwargs={"out_features": 3})(x)
        shared = linen(self.side, 3)
        return nn.Dense(2)(shared(x)) + shared.linear_only(x)[:, :2]


@pytest.mark.filterwarnings("ignore:Found unknown module paths")
def test_linen_code_around_modules_is_as_with_flax() -> None:
    def scenario(side: Any) -> Any:
        variables = Nested(side).init(STREAMS, X)
        keys = {"dropout": jax.random.key(3)}
        return variables, Nested(side).apply(variables, X, rngs=keys, mutable=["batch_stats"])

    assert_as_in_flax(scenario)


@pytest.mark.filterwarnings("ignore:Found unknown module paths")
def test_training_a_linen_model_with_optax_follows_flax() -> None:
    def train(side: Any) -> list[Any]:
        model = Nested(side)
        variables = model.init(STREAMS, X)
        params, rest = variables["params"], {"batch_stats": variables["batch_stats"]}
        optimizer = optax.sgd(0.001, momentum=0.9)
        moments = optimizer.init(params)

        @jax.jit
        def step(params: Any, rest: Any, moments: Any, key: jax.Array) -> Any:
            def loss_of(params: Any) -> Any:
                output, changed = model.apply(
                    {"params": params, **rest},
                    X,
                    rngs={"dropout": key},
                    mutable=["batch_stats"],
                )
                return (output**2).mean(), changed

            (loss, changed), grads = jax.value_and_grad(loss_of, has_aux=True)(params)
            updates, moments = optimizer.update(grads, moments, params)
            return loss, optax.apply_updates(params, updates), changed, moments

        losses = []
        for index in range(5):
            key = jax.random.key(index)
            loss, params, rest, moments = step(params, rest, moments, key)
            losses.append(loss)
        return [losses, nn.unbox(params), nn.unbox(rest)]

    ours, theirs = train(OURS), train(FLAX)
    assert ours[0][-1] < ours[0][0]
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert jnp.allclose(one, other, rtol=1e-5, atol=1e-6)


# -- options ---------------------------------------------------------------------------------------


def no_rngs(side: Any) -> Any:
    class Plain(side.nnx.Module):
        def __init__(self, size: int) -> None:
            self.w = side.nnx.Param(jnp.ones((1, size)))

        def __call__(self, x: jax.Array) -> Any:
            return x * self.w

    return Plain


OPTIONS: dict[str, Any] = {
    "skip_rng": lambda s: s.bridge.to_linen(no_rngs(s), 3, skip_rng=True).init({}, X),
    "no metadata": lambda s: linen(s, metadata_fn=None).init(STREAMS, X),
    "own metadata": lambda s: linen(
        s, metadata_fn=lambda v: nn.Partitioned(v.get_value(), (None,))
    ).init(STREAMS, X),
    "abstract_init": lambda s: linen(s, abstract_init=False).init(STREAMS, X),
    "a function": lambda s: s.bridge.to_linen(lambda rngs: block(s)(4, rngs=rngs)).init(STREAMS, X),
    "frozen variables": lambda s: linen(s).apply(flax.core.freeze(linen(s).init(STREAMS, X)), X),
    "variables that are missing": lambda s: linen(s).apply({}, X),
    "one key": lambda s: s.bridge.to_linen(s.Linear, 3, 4).init(jax.random.key(3), X),
    "a default key": lambda s: s.bridge.to_linen(s.Linear, 3, 4).init(
        {"default": jax.random.key(3)}, X
    ),
}


@pytest.mark.parametrize("which", sorted(OPTIONS))
@pytest.mark.filterwarnings("ignore:Found unknown module paths")
def test_an_option_does_what_it_does_in_flax(which: str) -> None:
    assert_as_in_flax(OPTIONS[which])


@pytest.mark.filterwarnings("ignore:Found unknown module paths")
def test_unboxed_variables_come_back_with_the_metadata_of_the_module() -> None:
    def scenario(side: Any) -> Any:
        variables = nn.unbox(linen(side).init(STREAMS, X))
        return linen(side).apply(variables, X, mutable=["params"])[1]["params"]["marked"]

    assert_as_in_flax(scenario)


def test_a_class_of_linen_modules_takes_the_keywords_of_the_modules() -> None:
    Dense = bridge.wrappers.to_linen_class(OURS.Linear, in_features=3)
    variables = Dense(out_features=4).init(STREAMS, X)  # type: ignore[call-arg]  # of the class inside
    expected = bridge.to_linen(OURS.Linear, 3, 4).init(STREAMS, X)
    assert plain(variables) == plain(expected)


def test_subclasses_of_such_a_class_are_those_of_flax() -> None:
    def scenario(side: Any) -> Any:
        class Dense(side.bridge.wrappers.to_linen_class(side.Linear, in_features=3)):  # type: ignore[misc]  # made at run time
            pass

        class Two(nn.Module):
            @nn.compact
            def __call__(self, x: jax.Array) -> Any:
                return Dense(out_features=3)(Dense(out_features=3, name="first")(x))

        return (
            dict(Dense(out_features=4).kwargs),
            dict(Dense(kwargs={"out_features": 7}, in_features=1).kwargs),
            Dense((3, 4)).args,
            Dense(out_features=4, skip_rng=True).skip_rng,
            Dense(out_features=4).clone(name="other").name,
            Two().init(STREAMS, X),
        )

    assert_as_in_flax(scenario)


def test_a_field_of_such_a_subclass_keeps_its_value() -> None:
    class Dense(bridge.wrappers.to_linen_class(OURS.Linear, in_features=3)):  # type: ignore[misc]  # made at run time
        extra: int = 3

    assert Dense(out_features=4, extra=5).extra == 5


def test_modules_are_equal_by_what_they_wrap_and_survive_pickle() -> None:
    one, other = bridge.to_linen(OURS.Linear, 3, 4), bridge.to_linen(OURS.Linear, 3, 4)
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert isinstance(one, bridge.ToLinen)
    assert isinstance(one, nn.Module)


# -- both ways ---------------------------------------------------------------------------------------


def test_a_linen_module_inside_a_module_inside_linen() -> None:
    def scenario(side: Any) -> Any:
        class Middle(side.nnx.Module):
            def __init__(self, rngs: Any) -> None:
                inner = nn.Sequential([nn.Dense(3), nn.BatchNorm(use_running_average=False)])
                self.inner = side.bridge.ToNNX(inner, rngs=rngs).lazy_init(X)

            def __call__(self, x: jax.Array) -> Any:
                return self.inner(x)  # what is mutable is said by Linen outside

        module = side.bridge.to_linen(Middle)
        variables = module.init(STREAMS, X)
        return variables, module.apply(variables, X, mutable=["batch_stats"])

    assert_as_in_flax(scenario)


# -- wrong use ---------------------------------------------------------------------------------------


def test_unknown_variables_are_named_in_a_warning_and_kept() -> None:
    module = bridge.to_linen(OURS.Linear, 3, 4)
    params = module.init(STREAMS, X)["params"]
    with pytest.warns(
        UserWarning, match="unknown module paths in incoming state of Linear:\n  - zz/y\n"
    ):
        _, changed = module.apply({"params": {**params, "zz": {"y": X}}}, X, mutable=True)
    assert (changed["params"]["zz"]["y"] == X).all()


def test_a_variable_with_a_dict_for_a_value_takes_it_without_a_warning() -> None:
    class Tree(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.tree = nnx.Param({"q": jnp.ones(2), "r": (jnp.ones(1), jnp.ones(3))})

        def __call__(self, x: jax.Array) -> Any:
            return self.tree[...]

    module = bridge.to_linen(Tree)
    doubled = jax.tree.map(lambda a: 2 * a, module.init(STREAMS, X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = module.apply(doubled, X)
    assert plain(found) == plain(doubled["params"]["tree"])


def test_an_nnx_method_that_is_no_method_is_refused() -> None:
    module = linen(OURS)
    variables = module.init(STREAMS, X)
    with pytest.raises(BridgeError, match="`nnx_method` is 3"):
        module.apply(variables, X, nnx_method=3)
    with pytest.raises(AttributeError, match="'Block' has no attribute 'nope'"):
        module.apply(variables, X, nnx_method="nope")


def test_something_else_than_a_module_is_refused() -> None:
    with pytest.raises(TypeError, match="nnx_class made a int; expected a Module"):
        bridge.to_linen(lambda rngs: 5).init(STREAMS, X)  # type: ignore[arg-type, return-value]  # on purpose
