"""Pytrees: what is data, what jax sees, and every way to write a class; laws run with flax too."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from typed_nnx.errors import UnhashableStaticError

T = TypeVar("T")


def leaves(node: Any) -> dict[str, str]:
    """Map the key path of each leaf to its text."""
    found = jax.tree_util.tree_leaves_with_path(node)
    return {jax.tree_util.keystr(path): str(value) for path, value in found}


def ones() -> jax.Array:
    return jnp.ones(1)


# -- status of attributes --------------------------------------------------------------------------

STEPS: dict[str, Callable[[Any], list[Any]]] = {
    "array": lambda lib: [ones()],
    "numpy": lambda lib: [np.ones(1)],
    "Variable": lambda lib: [lib.Param(1)],
    "int": lambda lib: [1],
    "numpy scalar": lambda lib: [np.float32(1)],
    "shape struct": lambda lib: [jax.ShapeDtypeStruct((1,), jnp.float32)],
    "key": lambda lib: [jax.random.key(0)],
    "List": lambda lib: [lib.List([1, ones()])],
    "data int": lambda lib: [lib.data(1)],
    "data text": lambda lib: [lib.data("a")],
    "data list": lambda lib: [lib.data([ones(), 2])],
    "data nested": lambda lib: [lib.data({"a": (1, [ones(), None])})],
    "static array": lambda lib: [lib.static(ones())],
    "static list of arrays": lambda lib: [lib.static([ones()])],
    "static Variable": lambda lib: [lib.static(lib.Param(1))],
    "static Module": lambda lib: [lib.static(lib.Module())],
    "list of arrays": lambda lib: [[ones()]],
    "tuple of arrays": lambda lib: [(ones(),)],
    "dict of Variables": lambda lib: [{"a": lib.Param(1)}],
    "list of ints": lambda lib: [[1, 2]],
    "State": lambda lib: [lib.State({"a": ones()})],
    "Partial": lambda lib: [jax.tree_util.Partial(jnp.sin, ones())],
    "int, array": lambda lib: [1, ones()],
    "array, int": lambda lib: [ones(), 5],
    "array, list": lambda lib: [ones(), [1, 2]],
    "array, list of arrays": lambda lib: [ones(), [ones()]],
    "array, static": lambda lib: [ones(), lib.static(3)],
    "array, static, int": lambda lib: [ones(), lib.static(3), 4],
    "array, static, array": lambda lib: [ones(), lib.static(3), ones()],
    "int, data array": lambda lib: [1, lib.data(ones())],
    "int, data int, int": lambda lib: [1, lib.data(2), 3],
    "int, list of arrays": lambda lib: [1, [ones()]],
    "data, None": lambda lib: [lib.data(1), None],
    "data None, array": lambda lib: [lib.data(None), ones()],
    "None, array": lambda lib: [None, ones()],
    "None, Variable": lambda lib: [None, lib.Param(1)],
    "static None, array": lambda lib: [lib.static(None), ones()],
    "mark in list": lambda lib: [[lib.data(1)]],
    "mark in data dict": lambda lib: [lib.data({"a": lib.static(1)})],
    "mark in mark": lambda lib: [lib.data(lib.static(1))],
    "data, mark in list": lambda lib: [lib.data([1]), [lib.data(1)]],
}
ERRORS = {
    "static array", "static list of arrays", "static Variable", "static Module", "list of arrays",
    "tuple of arrays", "dict of Variables", "State", "Partial", "int, array",
    "array, static, array", "int, list of arrays", "None, array", "None, Variable",
    "static None, array", "mark in list", "mark in data dict", "mark in mark",
    "data, mark in list",
}  # fmt: skip


def after_steps(lib: Any, base: str, name: str) -> Any:
    node = type("Node", (getattr(lib, base),), {})()
    try:
        for value in STEPS[name](lib):
            node.x = value
    except ValueError as error:
        return "ValueError", str(error).split("'")[0], leaves(node)
    return leaves(node)


@pytest.mark.parametrize("base", ["Pytree", "Module"])
@pytest.mark.parametrize("name", STEPS)
def test_assignments_give_the_leaves_or_the_error_of_flax(name: str, base: str) -> None:
    ours = after_steps(nnx, base, name)
    assert ours == after_steps(flax_nnx, base, name)
    assert (ours[0] == "ValueError" if isinstance(ours, tuple) else False) == (name in ERRORS)


@both
def test_a_failed_assignment_leaves_the_attribute_as_it_was(lib: Any) -> None:
    node = lib.Module()
    node.x = 1
    node.y = ones()
    for name, value in (("x", ones()), ("x", [ones()]), ("z", [ones()]), ("y", [lib.data(1)])):
        with pytest.raises(ValueError, match=r"data|tags"):
            setattr(node, name, value)
    assert node.x == 1
    assert not hasattr(node, "z")
    assert leaves(node) == {".y": "[1.]"}


@both
def test_a_deleted_attribute_forgets_its_status(lib: Any) -> None:
    node = lib.Module()
    node.a = ones()
    del node.a
    node.a = 5
    assert leaves(node) == {}
    del node.a
    node.a = ones()
    assert leaves(node) == {".a": "[1.]"}
    with pytest.raises(AttributeError, match="nope"):
        del node.nope


@both
def test_class_attributes_are_not_children(lib: Any) -> None:
    class Node(lib.Pytree):
        shared = jnp.ones(1)
        number = 3

    node = Node()
    assert leaves(node) == {}
    node.number = 4
    assert (node.number, Node.number) == (4, 3)


# -- what jax sees ---------------------------------------------------------------------------------


class AnyNode:
    """Takes its attributes as keywords; mixed into the Pytree of either library."""

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


def node_class(lib: Any) -> Any:
    return _node_classes[lib]


_node_classes: Any = {
    lib: type("Node", (AnyNode, lib.Pytree), {}) for lib in (nnx, flax_nnx)
}  # fmt: skip


@both
def test_key_paths_are_those_of_attributes_items_and_keys(lib: Any) -> None:
    node = node_class(lib)(
        b=ones(),
        a=ones(),
        z=lib.List([ones(), lib.Param(1)]),
        d=lib.Dict(y=ones(), x=2, w=lib.Dict(a=lib.Param(1))),
        t=lib.data((1, {"k": [2]})),
        v=lib.Param({"p": (1,)}),
    )
    assert list(leaves(node)) == [
        ".a", ".b", ".d.w.a.value", ".d.y", ".t[0]", ".t[1]['k'][0]", ".v.value['p'][0]",
        ".z[0]", ".z[1].value",
    ]  # fmt: skip


@both
def test_structures_are_equal_for_equal_statics_in_any_order(lib: Any) -> None:
    node, structure = node_class(lib), jax.tree.structure
    base = structure(node(n=1, a=ones()))
    assert base == structure(node(a=jnp.zeros(3), n=1))
    assert hash(base) == hash(structure(node(a=jnp.zeros(3), n=1)))
    changed = node(n=2, a=ones())
    assert base != structure(changed)
    changed.n = 1
    assert base == structure(changed)
    for other in (node(n=1), node(n=1, a=ones(), b=1), node(n=lib.data(1), a=ones())):
        assert base != structure(other)


@both
def test_tree_map_makes_a_new_object_with_statics_and_status(lib: Any) -> None:
    node = node_class(lib)(a=ones(), n=3, ls=lib.data([1, 2]), p=lib.Param(ones(), tag="t"))
    mapped = jax.tree.map(lambda x: x * 2, node)
    assert type(mapped) is type(node)
    assert mapped is not node
    assert leaves(mapped) == {".a": "[2.]", ".ls[0]": "2", ".ls[1]": "4", ".p.value": "[2.]"}
    assert (mapped.n, mapped.p.tag) == (3, "t")
    mapped.ls = 7
    assert leaves(mapped)[".ls"] == "7"
    with pytest.raises(ValueError, match="static attribute 'n'"):
        mapped.n = ones()
    assert leaves(node)[".a"] == "[1.]"


@both
def test_flatten_and_unflatten_are_inverse(lib: Any) -> None:
    node = node_class(lib)(a=ones(), n=3, inner=node_class(lib)(b=lib.Param(2.0)))
    flat, structure = jax.tree.flatten(node)
    rebuilt = jax.tree.unflatten(structure, flat)
    assert jax.tree.structure(rebuilt) == structure
    assert leaves(rebuilt) == leaves(node)
    placeholders = jax.tree.unflatten(structure, [object() for _ in flat])
    assert jax.tree.structure(placeholders) == structure


def traces(calls: list[Any]) -> int:
    count = 0

    @jax.jit
    def function(node: Any) -> Any:
        nonlocal count
        count += 1
        return jax.tree.leaves(node)

    for call in calls:
        function(call)
    return count


@both
def test_jit_traces_once_per_structure(lib: Any) -> None:
    node = node_class(lib)
    same = [node(n=1, a=jnp.full(2, i)) for i in range(3)]
    same.append(jax.tree.map(lambda x: x + 1, same[0]))
    changed = node(n=2, a=jnp.full(2, 0))
    changed.n = 1
    assert traces([*same, changed]) == 1
    assert traces([*same, node(n=2, a=jnp.full(2, 1)), node(n="1", a=jnp.full(2, 1))]) == 3


def test_statics_that_differ_in_type_only_are_told_apart() -> None:
    node = node_class(nnx)
    values = [1, True, 1.5, 2, "a", None, (1,), (True,), [1], b"a"]
    assert traces([node(n=value, a=ones()) for value in [*values, *values]]) == len(values)


@both
def test_jit_takes_statics_without_a_hash(lib: Any) -> None:
    node = node_class(lib)(sizes=[1, 2], a=ones())
    assert float(jax.jit(lambda n: n.a.sum() * len(n.sizes))(node)) == 2.0


def test_a_hash_of_unhashable_statics_names_the_attribute() -> None:
    node = node_class(nnx)(ok=1, sizes=[1, 2], a=ones())
    with pytest.raises(UnhashableStaticError, match="'sizes' of Node holds \\[1, 2\\].*\n.*tuple"):
        hash(nnx.graphdef(node))


@both
def test_objects_pass_through_jit_vmap_grad_and_scan(lib: Any) -> None:
    node = node_class(lib)(w=jnp.arange(3.0), n=2, p=lib.Param(jnp.ones(3)))

    def loss(node: Any) -> Any:
        return (node.w**node.n * node.p[...]).sum()

    assert float(jax.jit(loss)(node)) == 5.0
    gradient = jax.grad(loss)(node)
    np.testing.assert_array_equal(gradient.w, [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(gradient.p[...], [0.0, 1.0, 4.0])
    assert (type(gradient), gradient.n) == (type(node), 2)
    np.testing.assert_array_equal(jax.vmap(lambda n: n.w * n.n)(node), [0.0, 2.0, 4.0])
    carry, _ = jax.lax.scan(lambda c, _: (jax.tree.map(lambda x: x + 1, c), None), node, None, 2)
    np.testing.assert_array_equal(carry.w, [2.0, 3.0, 4.0])


# -- ways to write a class -------------------------------------------------------------------------


@both
def test_properties_with_setters_store_what_they_assign(lib: Any) -> None:
    class Node(lib.Pytree):
        def __init__(self) -> None:
            self._x = ones()

        @property
        def x(self) -> Any:
            return self._x

        @x.setter
        def x(self, value: Any) -> None:
            self._x = value * 2

        @x.deleter
        def x(self) -> None:
            del self._x

        @property
        def fixed(self) -> int:
            return 1

    node = Node()
    node.x = jnp.full(1, 3.0)
    assert leaves(node) == {"._x": "[6.]"}
    with pytest.raises(AttributeError):
        node.fixed = 2
    del node.x
    assert leaves(node) == {}


@both
def test_descriptors_of_the_user_are_called(lib: Any) -> None:
    class Doubled:
        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = f"_{name}"

        def __get__(self, node: Any, owner: Any = None) -> Any:
            return getattr(node, self.name)

        def __set__(self, node: Any, value: Any) -> None:
            setattr(node, self.name, value * 2)

    class Node(lib.Pytree):
        x = Doubled()

        def __init__(self) -> None:
            self.x = ones()

    class Derived(Node):
        pass

    for node in (Node(), Derived()):
        assert leaves(node) == {"._x": "[2.]"}


@both
def test_a_cached_property_is_computed_once(lib: Any) -> None:
    calls = []

    class Node(lib.Pytree):
        def __init__(self) -> None:
            self.a = ones()

        @functools.cached_property
        def size(self) -> int:
            calls.append(1)
            return 5

    node = Node()
    jax.tree.leaves(node)
    assert (node.size, node.size, len(calls)) == (5, 5, 1)
    assert leaves(node) == {".a": "[1.]"}


@both
def test_a_setattr_of_the_user_is_called_for_every_assignment(lib: Any) -> None:
    names: list[str] = []

    class Node(lib.Pytree):
        def __setattr__(self, name: str, value: Any) -> None:
            names.append(name)
            super().__setattr__(name, value)

        def __init__(self) -> None:
            self.a = ones()
            self.b = 2

    node = Node()
    node.c = lib.data(3)
    assert names == ["a", "b", "c"]
    assert leaves(node) == {".a": "[1.]", ".c": "3"}


@both
def test_a_setattr_past_us_is_seen_too(lib: Any) -> None:
    class Node(lib.Pytree):
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        def __init__(self) -> None:
            self.a = ones()
            self.b = 2

    node = Node()
    assert leaves(node) == {".a": "[1.]"}
    assert jax.tree.map(lambda x: x + 1, node).b == 2


@both
def test_abstract_methods_are_enforced(lib: Any) -> None:
    class Base(lib.Module, abc.ABC):
        @abc.abstractmethod
        def run(self) -> int: ...

        @property
        @abc.abstractmethod
        def size(self) -> int: ...

    class Partly(Base):
        def run(self) -> int:
            return 1

    class Full(Partly):
        @property
        def size(self) -> int:
            return 2

    for cls in (Base, Partly):
        with pytest.raises(TypeError, match="abstract"):
            cls()
    assert (Full().run(), Full().size) == (1, 2)


@both
def test_generic_modules_can_be_subscribed_and_inherited(lib: Any) -> None:
    class Box(lib.Module, Generic[T]):
        def __init__(self, x: T) -> None:
            self.x = lib.Param(x)

    class Ints(Box[int]):
        pass

    for cls in (Box, Box[int], Ints):
        box = cls(3)
        assert leaves(box) == {".x.value": "3"}
        assert leaves(jax.tree.map(lambda x: x * 2, box)) == {".x.value": "6"}
    assert type(Box[int](3)) is type(Box[str]("a"))


@both
def test_mixins_before_and_after_the_module_work(lib: Any) -> None:
    class Named:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.mixed = ones()

        def describe(self) -> str:
            return f"a {type(self).__name__}"

    class Before(Named, lib.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = jnp.zeros(1)

    class After(lib.Module, Named):
        pass

    assert leaves(Before()) == {".mixed": "[1.]", ".own": "[0.]"}
    assert leaves(After()) == {".mixed": "[1.]"}
    assert (Before().describe(), After().describe()) == ("a Before", "a After")


@both
def test_inheritance_runs_the_init_of_every_class(lib: Any) -> None:
    class Base(lib.Module):
        def __init__(self, size: int) -> None:
            self.kernel = lib.Param(jnp.ones(size))

        def __call__(self) -> Any:
            return self.kernel[...].sum()

    class Left(Base):
        def __init__(self, size: int) -> None:
            super().__init__(size)
            self.left = lib.Param(1.0)

    class Right(Base):
        def __init__(self, size: int) -> None:
            super().__init__(size)
            self.right = lib.Param(2.0)

        def __call__(self) -> Any:
            return super().__call__() * 10

    class Both(Left, Right):
        pass

    node = Both(2)
    assert list(leaves(node)) == [".kernel.value", ".left.value", ".right.value"]
    assert float(jax.jit(lambda m: m())(node)) == 20.0


@both
def test_new_and_super_slots_may_be_defined(lib: Any) -> None:
    class Node(lib.Pytree):
        __slots__ = ()

        def __new__(cls, x: Any) -> Any:
            return super().__new__(cls)

        def __init__(self, x: Any) -> None:
            self.x = x

    assert leaves(Node(ones())) == {".x": "[1.]"}


@both
def test_init_subclass_of_the_user_gets_its_keywords(lib: Any) -> None:
    seen: list[Any] = []

    class Base(lib.Module):
        def __init_subclass__(cls, *, tag: str = "none", **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            seen.append((cls.__name__, tag))

    class _Tagged(Base, tag="x"):
        pass

    class _Plain(Base, pytree=False):
        pass

    assert seen == [("_Tagged", "x"), ("_Plain", "none")]
    assert jax.tree_util.all_leaves([_Plain()])


@both
def test_objects_are_equal_only_to_themselves_and_have_a_hash(lib: Any) -> None:
    one, two = node_class(lib)(a=1), node_class(lib)(a=1)
    assert one == one  # noqa: PLR0124 -- it is the operator that is tested
    assert one != two
    assert len({one, two}) == 2
