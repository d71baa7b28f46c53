"""Every mutation of a captured object under every jax transform is an error that says where."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import errors as flax_errors
from flax import nnx as flax_nnx
from jax import lax
from jax.sharding import Mesh, PartitionSpec

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx._core import containers, pytree, variable
from typed_nnx.errors import TraceLevelError

# The oracle wants `sow` inside `capture`.
pytestmark = pytest.mark.filterwarnings("ignore:Using 'Module.sow")

ERRORS = (TraceLevelError, flax_errors.TraceContextError)

# -- transforms: each calls its argument once with a traced scalar ---------------------------------

Transform = Callable[[Callable[[Any], Any]], Any]


def under_shard_map(f: Any) -> Any:
    mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
    spec = PartitionSpec("x")
    return jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)(jnp.ones(1))


TRANSFORMS: dict[str, Transform] = {
    "jit": lambda f: jax.jit(f)(1.0),
    "vmap": lambda f: jax.vmap(f)(jnp.ones(2)),
    "grad": lambda f: jax.grad(f)(1.0),
    "value_and_grad": lambda f: jax.value_and_grad(f)(1.0),
    "jvp": lambda f: jax.jvp(f, (1.0,), (1.0,)),
    "vjp": lambda f: jax.vjp(f, 1.0),
    "linearize": lambda f: jax.linearize(f, 1.0),
    "scan": lambda f: lax.scan(lambda c, x: (c, f(x)), 0.0, jnp.ones(2)),
    "map": lambda f: lax.map(f, jnp.ones(2)),
    "cond": lambda f: lax.cond(jnp.array(True), f, lambda x: x, 1.0),
    "switch": lambda f: lax.switch(jnp.int32(0), [f, f], 1.0),
    "while_body": lambda f: lax.while_loop(lambda x: x < 3.0, f, 1.0),
    "while_cond": lambda f: lax.while_loop(lambda x: f(x) < 0.0, lambda x: x, 1.0),
    "fori_loop": lambda f: lax.fori_loop(0, 2, lambda _, x: f(x), 1.0),
    "remat": lambda f: jax.checkpoint(f)(1.0),
    "eval_shape": lambda f: jax.eval_shape(f, 1.0),
    "make_jaxpr": lambda f: jax.make_jaxpr(f)(1.0),
    "shard_map": under_shard_map,
    "jit_of_vmap": lambda f: jax.jit(jax.vmap(f))(jnp.ones(2)),
    "vmap_of_vmap": lambda f: jax.vmap(jax.vmap(f))(jnp.ones((2, 2))),
    "grad_of_jit": lambda f: jax.grad(jax.jit(f))(1.0),
    "jit_of_scan_of_remat": lambda f: jax.jit(
        lambda: lax.scan(lambda c, x: (c, jax.checkpoint(f)(x)), 0.0, jnp.ones(2))
    )(),
}

# -- mutations: each changes the model that `model` makes ------------------------------------------


def model(lib: Any) -> Any:
    class Layer(lib.Module):
        def __init__(self) -> None:
            self.kernel = lib.Param(jnp.ones(2), tag="t")
            self.count = lib.BatchStat({"a": jnp.ones(())})
            self.size = 3
            self.scale = jnp.ones(())
            self.sown = lib.Intermediate((1.0,))

    class Model(lib.Module):
        def __init__(self) -> None:
            self.layer = Layer()
            self.items = lib.List([Layer(), Layer()])
            self.table = lib.Dict(a=Layer())

    return Model()


def augment(target: Any, name: str) -> None:
    setattr(target, name, getattr(target, name) + 1)


PYTREE_MUTATIONS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "set static": ("size", "Model.layer", lambda m: setattr(m.layer, "size", 4)),
    "set data": ("scale", "Model.layer", lambda m: setattr(m.layer, "scale", jnp.ones(()))),
    "set new": ("fresh", "Model.layer", lambda m: setattr(m.layer, "fresh", 1)),
    "set Variable": ("kernel", "Model.layer", lambda m: setattr(m.layer, "kernel", None)),
    "add to": ("size", "Model.layer", lambda m: augment(m.layer, "size")),
    "set same": ("size", "Model.layer", lambda m: setattr(m.layer, "size", 3)),
    "set in List": ("size", "Model.items[1]", lambda m: setattr(m.items[1], "size", 4)),
    "set in Dict": ("size", "Model.table.a", lambda m: setattr(m.table.a, "size", 4)),
    "delete": ("size", "Model.layer", lambda m: delattr(m.layer, "size")),
    "delete Variable": ("kernel", "Model.layer", lambda m: delattr(m.layer, "kernel")),
    "List item": ("0", "Model.items", lambda m: m.items.__setitem__(0, None)),
    "List append": ("2", "Model.items", lambda m: m.items.append(1)),
    "Dict item": ("b", "Model.table", lambda m: m.table.__setitem__("b", 1)),
    "Dict del": ("a", "Model.table", lambda m: m.table.__delitem__("a")),
    "sow new": ("new", "Model.layer", lambda m: m.layer.sow(nnx.Intermediate, "new", 1)),
    "perturb new": ("new", "Model.layer", lambda m: m.layer.perturb("new", jnp.ones(()))),
    "eval": ("size", "Model.layer", lambda m: m.layer.set_attributes(size=5)),
}
LIST_MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "del": lambda m: m.items.__delitem__(0),
    "insert": lambda m: m.items.insert(0, 1),
    "pop": lambda m: m.items.pop(),
    "extend": lambda m: m.items.extend([1]),
    "reverse": lambda m: m.items.reverse(),
    "clear": lambda m: m.items.clear(),
    "slice": lambda m: m.items.__setitem__(slice(0, 1), [1]),
    "remove": lambda m: m.items.remove(m.items[0]),
    "iadd": lambda m: m.items.__iadd__([1]),
    "imul": lambda m: m.items.__imul__(2),
    "Dict pop": lambda m: m.table.pop("a"),
    "Dict clear": lambda m: m.table.clear(),
    "Dict update": lambda m: m.table.update(b=1),
    "Dict setdefault": lambda m: m.table.setdefault("b", 1),
    "nnx.pop": lambda m: nnx.pop(m, nnx.Intermediate),
}
VARIABLE_MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "v[...]=": lambda m: m.layer.kernel.__setitem__(..., jnp.zeros(2)),
    "v[...]=same": lambda m: m.layer.kernel.__setitem__(..., m.layer.kernel[...]),
    "v[i]=": lambda m: m.layer.kernel.__setitem__(0, 5.0),
    "set_value": lambda m: m.layer.kernel.set_value(jnp.zeros(2)),
    "set_value(index)": lambda m: m.layer.kernel.set_value(1.0, index=0),
    "v.value=": lambda m: setattr(m.layer.kernel, "value", jnp.zeros(2)),
    "v+=": lambda m: m.layer.kernel.__iadd__(1.0),
    "v*=": lambda m: m.layer.kernel.__imul__(2.0),
    "set_raw_value": lambda m: m.layer.kernel.set_raw_value(1),
    "set_metadata": lambda m: m.layer.kernel.set_metadata(tag="u"),
    "set_metadata(mapping)": lambda m: m.layer.kernel.set_metadata({"tag": "u"}),
    "del_metadata": lambda m: m.layer.kernel.del_metadata("tag"),
    "copy_from": lambda m: m.layer.kernel.copy_from(nnx.Param(jnp.zeros(2))),
    "update_from_state": lambda m: m.layer.kernel.update_from_state(nnx.Param(jnp.zeros(2))),
    "sow": lambda m: m.layer.sow(nnx.Intermediate, "sown", 1),
    "nnx.update": lambda m: nnx.update(m, {"layer": {"kernel": nnx.Param(jnp.zeros(2))}}),
    "nnx.update(array)": lambda m: nnx.update(m, {"layer": {"scale": jnp.zeros(())}}),
    "nnx.set_metadata": lambda m: nnx.set_metadata(m, tag="u"),
    "del v['a']": lambda m: m.layer.count.__delitem__("a"),
    "v['a']=": lambda m: m.layer.count.__setitem__("a", 1),
}
MUTATIONS = {
    **{name: change for name, (_, _, change) in PYTREE_MUTATIONS.items()},
    **LIST_MUTATIONS,
    **VARIABLE_MUTATIONS,
}


def snapshot(node: Any) -> Any:
    graphdef, state = nnx.split(node)
    return graphdef, jax.tree.map(np.asarray, nnx.to_pure_dict(state))


def assert_same(left: Any, right: Any) -> None:
    assert left[0] == right[0]
    jax.tree.map(np.testing.assert_array_equal, left[1], right[1])


@pytest.fixture
def quick_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the path out of the messages: the search for it takes nearly all of the time here."""
    for module in (containers, pytree, variable):
        monkeypatch.setattr(module, "where", lambda target: None)


FEW_TRANSFORMS = ["jit", "jit_of_scan_of_remat"]
FEW_MUTATIONS = ["set static", "delete", "List append", "v[...]=", "v[i]=", "v+=", "set_metadata"]


@pytest.mark.usefixtures("quick_errors")
@pytest.mark.parametrize(
    ("transform", "mutation"),
    [
        (transform, mutation)
        for transform in TRANSFORMS
        for mutation in MUTATIONS
        if transform in FEW_TRANSFORMS or mutation in FEW_MUTATIONS
    ],
)
def test_a_mutation_of_a_captured_object_is_refused(transform: str, mutation: str) -> None:
    node = model(nnx)
    before = snapshot(node)

    def function(x: Any) -> Any:
        MUTATIONS[mutation](node)
        return x

    with pytest.raises(TraceLevelError, match="different trace level"):
        TRANSFORMS[transform](function)
    assert_same(before, snapshot(node))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_flax_refuses_under_the_same_transforms(transform: str) -> None:
    node = model(flax_nnx)

    def function(x: Any) -> Any:
        node.layer.kernel[...] = jnp.zeros(2)
        return x

    with pytest.raises(flax_errors.TraceContextError):
        TRANSFORMS[transform](function)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PYTREE_MUTATIONS)
def test_the_message_names_the_attribute_and_the_path(name: str) -> None:
    attribute, path, change = PYTREE_MUTATIONS[name]
    node = model(nnx)
    with pytest.raises(TraceLevelError) as caught:
        jax.jit(lambda: change(node))()
    owner = {"Model.items": "List", "Model.table": "Dict"}.get(path, "Layer")
    assert (caught.value.kind, caught.value.owner) == ("Pytree", owner)
    assert caught.value.attribute == attribute
    assert caught.value.path == path
    text = str(caught.value)
    assert f"Cannot mutate '{owner}' from different trace level" in text
    assert f"attribute '{attribute}'" in text
    assert f" at {path} " in text
    assert "Fix: pass the object as an argument" in text


def test_the_message_for_a_variable_names_its_type_and_path() -> None:
    node = model(nnx)
    with pytest.raises(TraceLevelError) as caught:
        jax.vmap(lambda x: node.items[1].kernel.set_value(x))(jnp.ones(2))
    assert (caught.value.kind, caught.value.owner) == ("Variable", "Param")
    assert caught.value.path == "Model.items[1].kernel"
    assert "value of the Param at Model.items[1].kernel" in str(caught.value)


def test_the_message_for_a_variable_without_an_owner_needs_no_path() -> None:
    variable = nnx.Param(jnp.ones(2))
    with pytest.raises(TraceLevelError) as caught:
        jax.jit(lambda: variable.set_value(jnp.zeros(2)))()
    assert caught.value.path is None
    assert "value of the Param was changed" in str(caught.value)


# -- what is allowed -------------------------------------------------------------------------------


def mutate_everything(lib: Any, node: Any, x: Any) -> Any:
    node.layer.kernel[...] = node.layer.kernel[...] * x
    node.layer.kernel[0] = x
    node.layer.kernel.set_metadata(tag="u")
    node.layer.size = 7
    node.layer.extra = x
    del node.layer.scale
    node.items.append(lib.Param(x))
    node.table["b"] = lib.Param(x)
    node.layer.sow(lib.Intermediate, "sown", x)
    return node.layer.kernel[...].sum() + node.items[2][...] + node.table["b"][...]


# The branches and bodies of these must give the type that they got: the others cover it.
@both
@pytest.mark.parametrize(
    "transform", [name for name in TRANSFORMS if name not in ("cond", "while_body", "fori_loop")]
)
def test_an_object_made_inside_a_transform_may_be_mutated_inside(lib: Any, transform: str) -> None:
    def function(x: Any) -> Any:
        total = mutate_everything(lib, model(lib), jnp.asarray(x).sum())
        return x * 0 + total

    TRANSFORMS[transform](function)


@both
def test_an_object_of_an_outer_transform_is_not_mutated_in_an_inner_one(lib: Any) -> None:
    @jax.jit
    def outer(x: Any) -> Any:
        variable = lib.Param(x)
        variable[...] = x * 2
        lax.scan(lambda c, y: (c, variable.set_value(y)), 0.0, jnp.ones(2))
        return variable[...]

    with pytest.raises(ERRORS):
        outer(1.0)


@both
def test_an_object_that_left_its_transform_is_not_mutated_outside(lib: Any) -> None:
    leaked = []
    jax.jit(lambda: leaked.append(lib.Param(1)))()
    with pytest.raises(ERRORS):
        leaked[0].set_value(2)


@both
def test_reading_copying_and_splitting_a_captured_object_is_allowed(lib: Any) -> None:
    node = model(lib)

    @jax.jit
    def function(x: Any) -> Any:
        lib.merge(*lib.split(node)).layer.size = 4
        merged = lib.clone(node)
        merged.layer.kernel[...] = merged.layer.kernel[...] + x
        merged.layer.size = 5
        copied = node.layer.kernel.copy()
        copied[...] = copied[...] * x
        total = merged.layer.kernel[...].sum() + copied[...].sum()
        return total + node.layer.scale

    assert float(function(2.0)) == 6.0 + 4.0 + 1.0
    np.testing.assert_array_equal(node.layer.kernel[...], [1.0, 1.0])


@pytest.mark.thorough
@both
def test_a_captured_object_may_be_mutated_again_after_the_transform(lib: Any) -> None:
    node = model(lib)
    jax.jit(lambda x: x + node.layer.kernel[...])(1.0)
    with pytest.raises(ERRORS):
        jax.jit(lambda: node.layer.kernel.set_value(1))()
    node.layer.kernel[...] = jnp.zeros(2)
    node.layer.size = 9
    assert node.layer.size == 9


@both
def test_objects_that_are_no_pytrees_are_guarded_too(lib: Any) -> None:
    class Plain(lib.Object):
        def __init__(self) -> None:
            self.a = 1

    node = Plain()
    with pytest.raises(ERRORS):
        jax.jit(lambda: setattr(node, "a", 2))()
    assert node.a == 1


def test_a_property_setter_is_guarded_by_what_it_assigns() -> None:
    class Node(nnx.Pytree):
        def __init__(self) -> None:
            self._x = 1

        @property
        def x(self) -> int:
            return self._x

        @x.setter
        def x(self, value: int) -> None:
            self._x = value

    node = Node()
    with pytest.raises(TraceLevelError, match="'_x'"):
        jax.jit(partial(setattr, node, "x", 2))()
    node.x = 3
    assert node.x == 3
