"""`capture`: what a call sows is returned and not left behind; compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.graph.oracle import value_view, walk
from tests.support.peer import Scenario, assert_as_in_flax, both_libraries, scenarios


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    class Layer(nnx.Module):
        def __init__(self, factor: float) -> None:
            self.w = nnx.Param(jnp.float32(factor))
            self.perturbs = False

        def __call__(self, x: tp.Any) -> tp.Any:
            y = x * self.w[...]
            self.sow(nnx.Intermediate, "y", y)
            return self.perturb("p", y) if self.perturbs else y

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.first, self.layers = Layer(2.0), nnx.List([Layer(3.0)])

        def __call__(self, x: tp.Any) -> tp.Any:
            return self.layers[0](self.first(x))

        def twice(self, x: tp.Any) -> tp.Any:
            return self.first(self.first(x))

        def fail(self, x: tp.Any) -> tp.Any:
            self.first(x)
            raise ZeroDivisionError

    return Model


X = jnp.ones(())


def view(nnx: tp.Any, state: tp.Any) -> tp.Any:
    return [(path, value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


def a_module(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    out, state = nnx.capture(model, nnx.Intermediate)(X)
    return float(out), view(nnx, state)


def a_bound_method(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    out, state = nnx.capture(model.twice, nnx.Intermediate)(X)
    return float(out), view(nnx, state)


def a_function(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    out, state = nnx.capture(lambda m, x, *, add: m(x) + add, nnx.Intermediate)(model, X, add=1.0)
    return float(out), view(nnx, state)


def a_decorator(nnx: tp.Any) -> tp.Any:
    @nnx.capture(nnx.Intermediate)
    def forward(model: tp.Any, x: tp.Any) -> tp.Any:
        return model(x)

    out, state = forward(model_class(nnx)(), X)
    return float(out), view(nnx, state)


def several_types(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(perturbs=True)
    out, perturbations, rest = nnx.capture(model, nnx.Perturbation, nnx.Intermediate)(X)
    return float(out), view(nnx, perturbations), view(nnx, rest)


def with_perturbations_put_in(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(perturbs=True)
    _, start = nnx.capture(model, nnx.Perturbation)(X)
    moved = jax.tree.map(lambda x: x + 10, start)
    out, state = nnx.capture(model, nnx.Intermediate, init=moved)(X)
    return float(out), [path for path, _ in nnx.to_flat_state(state) if path[-1] == "y"]


def a_module_that_perturbs_too(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(perturbs=True)
    out, state = nnx.capture(model, nnx.Intermediate)(X)
    return float(out), view(nnx, state)


def method_outputs(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    found = [
        nnx.capture(model, nnx.Cache, method_outputs=nnx.Cache)(X)[1],
        nnx.capture(model.twice, nnx.Cache, method_outputs=nnx.Cache)(X)[1],
        nnx.capture(lambda m: m.twice(X), nnx.Cache, method_outputs=nnx.Cache)(model)[1],
    ]
    return [view(nnx, state) for state in found]


@scenarios(
    a_module_that_perturbs_too, method_outputs, a_module, a_bound_method, a_function, a_decorator,
    several_types, with_perturbations_put_in,
)  # fmt: skip
def test_what_is_captured_is_what_flax_captures(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def failing(captured: tp.Any) -> None:
    with pytest.raises(ZeroDivisionError):
        captured(X)


Form = tp.Callable[[tp.Any], tp.Any]
FORMS: dict[str, Form] = {
    "module": lambda m: nnx.capture(m, nnx.Intermediate)(X),
    "method": lambda m: nnx.capture(m.twice, nnx.Intermediate)(X),
    "function": lambda m: nnx.capture(lambda m: m(X), nnx.Intermediate)(m),
    "method outputs": lambda m: nnx.capture(m, nnx.Intermediate, method_outputs=nnx.Intermediate)(
        X
    ),
    "exception": lambda m: failing(nnx.capture(m.fail, nnx.Intermediate)),
    "exception with method outputs": lambda m: failing(
        nnx.capture(m.fail, nnx.Intermediate, method_outputs=nnx.Intermediate)
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_the_model_is_left_as_it_was(form: Form) -> None:
    model = model_class(nnx)()
    before, classes = walk(model), [type(m) for _, m in nnx.iter_modules(model)]
    form(model)
    assert walk(model) == before
    assert [type(m) for _, m in nnx.iter_modules(model)] == classes


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_what_was_sown_before_is_neither_returned_nor_lost(form: Form) -> None:
    model = model_class(nnx)()
    model(X + 41)
    before = walk(model)
    form(model)
    assert walk(model) == before


def test_the_gradient_of_an_intermediate_is_that_of_its_perturbation() -> None:
    model = model_class(nnx)()
    model.set_attributes(perturbs=True)
    _, start = nnx.capture(model, nnx.Perturbation)(X)
    graphdef, state = nnx.split(model)

    def loss(perturbations: tp.Any) -> jax.Array:
        inner = nnx.merge(graphdef, state, copy=True)
        return nnx.capture(inner, nnx.Perturbation, init=perturbations)(X)[0]

    grads = jax.grad(loss)(start)
    # out = 3 * (2 x + p1) + p2
    assert float(grads["first"]["p"][...]) == 3.0
    assert float(grads["layers"][0]["p"][...]) == 1.0


def test_a_start_value_without_a_place_is_named() -> None:
    with pytest.raises(nnx.errors.UnknownPathError, match="'nope', 'p'"):
        nnx.capture(model_class(nnx)(), nnx.Intermediate, init={"nope": {"p": nnx.Cache(1)}})(X)


def test_recording_outputs_changes_nobodys_class() -> None:
    seen = []

    class Inner(nnx.Module):
        def __init__(self) -> None:
            self.w, self.n = nnx.Param(jnp.ones(2)), 0

        def scale(self, x: tp.Any) -> tp.Any:
            self.n = self.n + 1
            seen.append((type(self), getattr(nnx.graphdef(self).items[0], "cls", None)))
            return x * self.w[...]

    class Outer(Inner):
        def scale(self, x: tp.Any) -> tp.Any:
            return super().scale(x) + 1

        def __call__(self, x: tp.Any) -> tp.Any:
            return self.scale(x)

    methods = Inner.scale, Outer.scale
    model, other = Outer(), Outer()
    capture = nnx.capture(model, nnx.Intermediate, method_outputs=nnx.Intermediate)
    _, found = capture(jnp.ones(2))
    other.scale(jnp.ones(2))
    assert seen == [(Outer, Outer)] * 2
    assert (Inner.scale, Outer.scale) == methods
    assert [value.tolist() for value in found["scale"][...]] == [[2.0, 2.0]]
    fresh = Outer()
    fresh.n = 1
    assert nnx.graphdef(fresh) == nnx.graphdef(model)
    assert type(nnx.clone(model)) is Outer


@both_libraries
@pytest.mark.parametrize("graph", [True, False])
def test_gradients_of_perturbations_where_structures_are_fixed(nnx: tp.Any, graph: bool) -> None:
    class Block(nnx.Module):
        @nnx.jit
        def __call__(self, x: tp.Any) -> tp.Any:
            y = 3.0 * self.perturb("slope", x)
            self.sow(nnx.Intermediate, "y", y)
            return y

    with nnx.set_graph_mode(graph), nnx.set_graph_updates(False):
        model = nnx.Sequential(Block(), Block())
        _, zeros = nnx.capture(model, nnx.Perturbation)(1.0)

        @nnx.jit
        def step(model: tp.Any, zeros: tp.Any, x: tp.Any) -> tp.Any:
            def loss(model: tp.Any, zeros: tp.Any) -> tp.Any:
                return nnx.capture(model, nnx.Intermediate, init=zeros)(x)

            return nnx.grad(loss, argnums=1, has_aux=True)(model, zeros)

        slopes, seen = step(model, zeros, 1.0)
        assert [float(slopes["layers"][n]["slope"]) for n in (0, 1)] == [9.0, 3.0]
        assert [float(seen["layers"][n]["y"][0]) for n in (0, 1)] == [3.0, 9.0]
        assert not nnx.state(model)


@both_libraries
def test_a_mapped_copy_of_the_module_records_for_it(nnx: tp.Any) -> None:
    class Block(nnx.Module):
        def __call__(self, x: tp.Any) -> tp.Any:
            self.sow(nnx.Intermediate, "y", x)
            return self.perturb("slope", x * 2.0)

        def mapped(self, xs: tp.Any) -> tp.Any:
            graphdef, state = nnx.split(self)
            run = nnx.vmap(lambda state, x: nnx.merge(graphdef, state)(x))
            return run(state, xs)

    block = Block()
    xs = jnp.arange(3.0)
    found, zeros, seen = nnx.capture(block.mapped, nnx.Perturbation, nnx.Intermediate)(xs)
    assert found.tolist() == [0.0, 2.0, 4.0]
    assert seen["y"][0].tolist() == xs.tolist()
    assert zeros["slope"][...].tolist() == [0.0] * 3


@both_libraries
def test_what_is_not_asked_for_is_not_recorded(nnx: tp.Any) -> None:
    class Block(nnx.Module):
        def __call__(self, x: tp.Any) -> tp.Any:
            kept = self.sow(nnx.Intermediate, "y", x), self.sow(nnx.BatchStat, "mean", x)
            return kept, self.perturb("slope", x)

    block = Block()
    (kept, perturbed), seen = nnx.capture(block, nnx.Intermediate)(2.0)
    assert (kept, perturbed) == ((True, False), 2.0)
    assert seen["y"][0] == 2.0
    assert not nnx.state(block)
    assert sorted(vars(block)) == sorted(vars(Block()))


def test_method_outputs_leave_static_methods_as_they_are() -> None:
    class Doubling(nnx.Module):
        @staticmethod
        def twice(x: jax.Array) -> jax.Array:
            return 2 * x

        def __call__(self, x: jax.Array) -> jax.Array:
            return self.twice(x)

    captured = nnx.capture(Doubling(), nnx.Intermediate, method_outputs=nnx.Intermediate)
    result, outputs = captured(X)
    assert float(result) == 2.0
    assert list(outputs) == ["__call__"]
