"""`Module`: sow, perturb, train, eval, set_attributes and the walks, compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.support.peer import (
    Scenario,
    assert_as_in_flax,
    assert_refused_as_in_flax,
    scenarios,
)


@functools.cache
def model_class(nnx: tp.Any) -> tp.Any:
    """Return a class of models with dropouts, norms, containers and a shared layer."""

    class Dropout(nnx.Module):
        def __init__(self, rate: float) -> None:
            self.rate, self.deterministic = rate, False

    class Norm(nnx.Module):
        def __init__(self) -> None:
            self.scale = nnx.Param(jnp.ones(2))
            self.use_running_average = False

    class Model(nnx.Module):
        def __init__(self) -> None:
            self.dropout = Dropout(0.5)
            self.norm = Norm()
            self.blocks = nnx.List([Dropout(0.1), Norm(), self.norm])
            self.named = nnx.Dict(last=Dropout(0.2))
            self.plain = nnx.data([Dropout(0.3), {"x": Norm()}])
            self.me = self
            self.training = True

    Model.Dropout, Model.Norm = Dropout, Norm
    return Model


FLAGS = ("rate", "deterministic", "use_running_average", "training")


def flags(nnx: tp.Any, model: tp.Any) -> dict[tp.Any, tp.Any]:
    """Return the flags of every Module by its path."""
    return {
        path: {name: getattr(m, name) for name in FLAGS if hasattr(m, name)}
        for path, m in nnx.iter_modules(model)
    }


def switched(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    found = []
    for change in (model.eval, model.train, lambda: model.eval(training=False, unknown=1)):
        change()
        found.append(flags(nnx, model))
    return found


def attributes_set_by_type(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(type(model).Dropout, rate=0.9, deterministic=True)
    return flags(nnx, model)


def attributes_set_by_several_filters(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(
        nnx.PathContains("blocks"), nnx.PathContains("named"), rate=0.7, raise_if_not_found=False
    )
    return flags(nnx, model)


def attributes_set_by_function(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(lambda path, m: len(path) == 1, deterministic=True)
    return flags(nnx, model)


def attributes_set_where_one_name_is_unknown(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.set_attributes(rate=0.4, unknown=1, raise_if_not_found=False)
    return flags(nnx, model)


def modules_and_children(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    return (
        [(path, type(m).__name__) for path, m in model.iter_modules()],
        [(path, type(m).__name__) for path, m in nnx.iter_modules(model)],
        [(key, type(m).__name__) for key, m in model.iter_children()],
        [(key, type(m).__name__) for key, m in nnx.iter_children(model.norm)],
        [(key, type(m).__name__) for key, m in nnx.iter_children(model.blocks)],
    )


def sown(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    results = [model.sow(nnx.Intermediate, "h", float(i)) for i in range(3)]
    return results, type(model.h).__name__, model.h.get_value()


def sown_with_init_and_reduce(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    for i in range(4):
        model.sow(nnx.Intermediate, "total", i, reduce_fn=lambda a, b: a + b, init_fn=lambda: 10)
    return model.total.get_value()


def sown_with_reduce_alone(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    for i in (3, 1, 2):
        model.sow(nnx.Cache, "last", i, reduce_fn=lambda old, new: (new,))
    return model.last.get_value()


def sown_under_a_name(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.sow("intermediates", "a", 1)
    model.sow("sown_collection", "b", 2)
    model.sow("sown_collection", "b", 3)
    return type(model.a) is nnx.Intermediate, type(model.b).__name__, model.b.get_value()


def sown_and_popped(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.sow(nnx.Intermediate, "h", 1)
    model.blocks[1].sow(nnx.Intermediate, "h", 2)
    popped = nnx.to_pure_dict(nnx.pop(model, nnx.Intermediate))
    return popped, hasattr(model, "h"), hasattr(model.blocks[1], "h")


def perturbed(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    out = model.perturb("p", jnp.array([1.0, 2.0]))
    created = type(model.p).__name__, model.p[...].tolist()
    model.p[...] = jnp.array([10.0, 20.0])
    return out.tolist(), created, model.perturb("p", jnp.array([1.0, 2.0])).tolist()


def perturbed_under_a_name(nnx: tp.Any) -> tp.Any:
    model = model_class(nnx)()
    model.perturb("p", jnp.ones(1), "perturbations")
    return type(model.p) is nnx.Perturbation


@scenarios(
    switched,
    attributes_set_by_type,
    attributes_set_by_several_filters,
    attributes_set_by_function,
    attributes_set_where_one_name_is_unknown,
    modules_and_children,
    sown,
    sown_with_init_and_reduce,
    sown_with_reduce_alone,
    sown_under_a_name,
    sown_and_popped,
    perturbed,
    perturbed_under_a_name,
)
def test_a_module_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def unknown_attribute(nnx: tp.Any) -> None:
    model_class(nnx)().set_attributes(unknown=1)


def attribute_that_no_selected_module_has(nnx: tp.Any) -> None:
    model = model_class(nnx)()
    model.set_attributes(model.Norm, rate=1.0)


def sown_over_another_type(nnx: tp.Any) -> None:
    model = model_class(nnx)()
    model.sow(nnx.Intermediate, "h", 1)
    model.sow(nnx.Cache, "h", 1)


def perturbed_over_another_type(nnx: tp.Any) -> None:
    model_class(nnx)().norm.perturb("scale", jnp.ones(2))


@scenarios(
    unknown_attribute,
    attribute_that_no_selected_module_has,
    sown_over_another_type,
    perturbed_over_another_type,
)
def test_a_module_refuses_what_flax_refuses(scenario: Scenario) -> None:
    assert_refused_as_in_flax(scenario)


def test_the_gradient_of_a_perturbation_is_the_gradient_of_the_value() -> None:
    class Square(nnx.Module):
        def __call__(self, x: jax.Array) -> jax.Array:
            return self.perturb("h", x**2).sum() * 3

    model = Square()
    model(jnp.ones(2))
    graphdef, state = nnx.split(model)
    grads = jax.grad(lambda s: nnx.merge(graphdef, s)(jnp.array([1.0, 2.0])))(state)
    assert grads["h"][...].tolist() == [3.0, 3.0]


def perturbed_in_a_subclass(nnx: tp.Any) -> tp.Any:
    class Mine(nnx.Perturbation):
        pass

    module = nnx.Module()
    module.p = Mine(jnp.ones(()))
    return float(module.perturb("p", jnp.ones(())))


@scenarios(perturbed_in_a_subclass)
def test_a_subclass_of_the_type_is_the_type_for_perturb(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_a_tree_can_be_perturbed_in_a_variable_of_any_type() -> None:
    module = nnx.Module()
    value = {"a": jnp.ones(1), "b": (jnp.zeros(2),)}
    out = module.perturb("p", value, variable_type=nnx.Cache)
    assert jax.tree.map(lambda x: x.tolist(), out) == {"a": [1.0], "b": ([0.0, 0.0],)}
    (variable,) = [v for _, v in nnx.to_flat_state(nnx.state(module))]
    assert type(variable) is nnx.Cache


def test_a_subclass_of_the_type_is_another_type_for_sow() -> None:
    class Mine(nnx.Intermediate[tp.Any]):
        pass

    module = nnx.Module()
    module.sow(Mine, "h", 1)
    text = r"Expected 'h' to be of type 'Intermediate', got 'Mine' \(attribute of Module\)"
    with pytest.raises(nnx.errors.VariableError, match=text):
        module.sow(nnx.Intermediate, "h", 2)
    module.sow(Mine, "h", 2)
    assert nnx.to_pure_dict(nnx.state(module)) == {"h": (1, 2)}


def test_a_failing_reduce_function_leaves_what_was_sown() -> None:
    module = nnx.Module()
    module.sow(nnx.Intermediate, "h", 1)
    with pytest.raises(ZeroDivisionError):
        module.sow(nnx.Intermediate, "h", 2, reduce_fn=lambda old, new: 1 // 0)
    assert nnx.to_pure_dict(nnx.state(module)) == {"h": (1,)}


def test_iter_module_children_gives_modules_only() -> None:
    model = model_class(nnx)()
    assert [key for key, _ in nnx.iter_module_children(model)] == [
        "blocks", "dropout", "me", "named", "norm",
    ]  # fmt: skip
    assert list(nnx.iter_module_children(model.norm)) == []
