"""`bridge.Module`: the Module with the life of a Linen module, compared with that of flax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn

import typed_nnx as nnx
from tests.bridge.bridge_models import NORMAL, kit
from tests.bridge.linen_models import X
from tests.bridge.sides import OURS, assert_as_in_flax, plain
from typed_nnx import bridge
from typed_nnx.errors import BridgeError, StreamNotFoundError

MODULES: dict[str, Any] = {
    "parameters": lambda s: kit(s).Dense(4),
    "setup": lambda s: kit(s).WithSetup(),
    "compact": lambda s: kit(s).WithCompact(),
    "fields": lambda s: kit(s).WithFields(kit(s).Dense(3)),
    "layers": lambda s: kit(s).WithLayers(rngs=s.nnx.Rngs(0)),
    "priority": lambda s: kit(s).WithPriority(),
    "two names": lambda s: kit(s).WithTwoNames(),
    "two compact methods": lambda s: kit(s).TwoCompact(),
}


@pytest.mark.parametrize("which", sorted(MODULES))
def test_init_and_apply_give_what_flax_gives(which: str) -> None:
    def scenario(side: Any) -> Any:
        module = MODULES[which](side)
        output, variables = module.init_with_output(0, X)
        rngs = {"noise": jax.random.key(3)}
        return (
            output,
            variables,
            module.apply(variables, X, rngs=rngs),
            module.apply(variables, X, rngs=rngs, mutable=True),
            module.apply(variables, X, rngs=rngs, mutable=["counts"]),
        )

    assert_as_in_flax(scenario)


RNGS: dict[str, Any] = {
    "a seed": lambda s: 3,
    "a key": lambda s: jax.random.key(3),
    "a legacy key": lambda s: jax.random.PRNGKey(3),
    "keys by name": lambda s: {"params": jax.random.key(3), "noise": jax.random.key(4)},
    "streams": lambda s: s.nnx.Rngs(3, noise=5),
}


@pytest.mark.parametrize("given", sorted(RNGS))
def test_random_numbers_come_from_what_is_given_as_in_flax(given: str) -> None:
    def scenario(side: Any) -> Any:
        rngs = RNGS[given](side)
        output = kit(side).WithCompact().init_with_output(rngs, X)
        counts = [int(s.count[...]) for _, s in rngs.items()] if given == "streams" else None
        return output, counts

    assert_as_in_flax(scenario)


METHODS: dict[str, Any] = {
    "name": lambda m: "others",
    "function": lambda m: type(m).others,
    "bound method": lambda m: m.others,
}


@pytest.mark.parametrize("how", sorted(METHODS))
def test_a_method_is_given_by_name_function_or_bound(how: str) -> None:
    def scenario(side: Any) -> Any:
        module = kit(side).WithSetup()
        return module.init(0, X, method=METHODS[how](module))

    assert_as_in_flax(scenario)


def test_the_module_itself_stays_as_it_was() -> None:
    module = kit(OURS).WithCompact()
    before = dict(vars(module))
    variables = module.init(0, X)
    module.apply(variables, X, rngs=0, mutable=True)
    assert vars(module) == before
    assert list(before) == ["scope", "rate", "attr_priorities"]
    assert bridge.current_module() is None
    assert bridge.current_context() is None


def test_inside_a_call_the_context_says_what_runs() -> None:
    def scenario(side: Any) -> Any:
        seen: list[Any] = []

        class Probe(side.bridge.Module):
            def setup(self) -> None:
                self.note()

            @side.bridge.compact
            def __call__(self, x: jax.Array) -> Any:
                self.note()
                return x

            def plain(self, x: jax.Array) -> Any:
                self.note()
                return x

            def note(self) -> None:
                entry = side.bridge.current_context()
                seen.append((entry.module is self, entry.in_compact, self.is_initializing()))
                seen.append((side.bridge.current_module() is self, self.scope.mutable))

        Probe().init(0, X)
        Probe().apply({}, X, method="plain")
        return seen

    assert_as_in_flax(scenario)


def test_variables_are_those_of_the_layers() -> None:
    def scenario(side: Any) -> Any:
        module = kit(side).WithLayers(rngs=side.nnx.Rngs(0))
        return module.variables, module(X)

    assert_as_in_flax(scenario)


def test_it_works_under_jit_and_grad_of_jax() -> None:
    module = kit(OURS).WithSetup()
    variables = module.init(0, X)
    compiled = jax.jit(module.apply)(variables, X)
    assert jnp.allclose(compiled, module.apply(variables, X), atol=1e-7)
    grads = jax.grad(lambda v: module.apply(v, X).sum())(variables)
    assert jax.tree.map(jnp.shape, grads) == jax.tree.map(jnp.shape, variables)


def test_a_submodule_that_is_called_twice_keeps_its_parameters() -> None:
    class Inner(bridge.Module):
        @bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            return kit(OURS).Dense(3)(x)

    class Outer(bridge.Module):
        @bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            inner = Inner()
            return inner(inner(x))

    output, variables = Outer().init_with_output(0, X)
    assert list(variables["params"]["Inner_0"]) == ["Dense_0"]
    w = variables["params"]["Inner_0"]["Dense_0"]["w"]
    assert jnp.allclose(output, X @ w @ w, atol=1e-7)
    assert (Outer().apply(variables, X) == output).all()


def test_sown_values_are_taken_up_again_by_apply() -> None:
    class Net(bridge.Module):
        def __call__(self, x: jax.Array) -> Any:
            self.sow(nnx.Intermediate, "seen", x)
            return x

    variables = Net().init(0, X)
    _, changed = Net().apply(variables, X, mutable=True)
    assert plain(changed["intermediates"]["seen"]) == plain((X, X))


def test_boxes_of_initializers_come_back_as_boxes() -> None:
    def scenario(side: Any) -> Any:
        auto = jax.sharding.AxisType.Auto
        mesh = jax.make_mesh((1,), ("a",), axis_types=(auto,))
        boxed = nn.with_partitioning(nn.initializers.ones, ("a",), mesh=mesh)
        own = side.bridge.with_partitioning(nn.initializers.ones, ("a",), mesh)

        class Net(side.bridge.Module):
            @side.bridge.compact
            def __call__(self, x: jax.Array) -> Any:
                self.param("w", boxed, (3,))
                self.param("own", own, (3,))
                return x

        variables = Net().init(0, X)
        return variables, Net().apply(variables, X, mutable=True)

    assert_as_in_flax(scenario)


# -- wrong use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m(X),
        lambda m: m.param("w", NORMAL, (1,)),
        lambda m: m.variable("cache", "c", jnp.zeros, (1,)),
        lambda m: m.make_rng(),
    ],
    ids=["call", "param", "variable", "make_rng"],
)
def test_outside_of_init_and_apply_there_is_no_scope(use: Any) -> None:
    with pytest.raises(BridgeError, match="of Dense: there is no scope here"):
        use(kit(OURS).Dense(3))


def test_a_submodule_made_where_nothing_names_it_has_no_scope() -> None:
    class Net(bridge.Module):
        def __call__(self, x: jax.Array) -> Any:
            return kit(OURS).Dense(3)(x)

    with pytest.raises(BridgeError, match="param of Dense"):
        Net().init(0, X)


def test_a_variable_without_value_and_initializer_is_refused() -> None:
    class Net(bridge.Module):
        @bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            return self.variable("cache", "q")[...]

    with pytest.raises(BridgeError, match="no Cache 'q' and `init_fn` is None"):
        Net().init(0, X)
    assert (Net().apply({"cache": {"q": X}}, X) == X).all()


def test_missing_parameters_need_a_random_stream() -> None:
    with pytest.raises(StreamNotFoundError, match="'params'"):
        kit(OURS).Dense(3).apply({}, X)


def test_what_is_not_made_yet_is_no_attribute() -> None:
    class Net(bridge.Module):
        @bridge.compact
        def __call__(self, x: jax.Array) -> Any:
            with pytest.raises(AttributeError, match="'Dense_0'"):
                _ = self.Dense_0  # type: ignore[attr-defined]  # the check sees it too
            return kit(OURS).Dense(3)(x)

    Net().apply(Net().init(0, X), X)
