"""What is data: annotations, also as texts and inherited, and types; laws run with flax too."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, Optional

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both


def annotated(lib: Any, annotation: Any, base: Any = None) -> Any:
    """Return an object of a class that annotates `x`."""
    bases = (lib.Pytree if base is None else base,)
    return type("Node", bases, {"__annotations__": {"x": annotation}})()


# The oracle recommends field specifiers instead.
pytestmark = pytest.mark.filterwarnings("ignore:.(Data|Static). is deprecated:DeprecationWarning")


ANNOTATIONS: dict[str, Any] = {
    "Data": lambda lib: lib.Data[int],
    "Static": lambda lib: lib.Static[int],
    "text nnx.Data": lambda lib: "nnx.Data[int]",
    "text nnx.Static": lambda lib: "nnx.Static[int]",
    "text Data": lambda lib: "Data[int]",
    "Data of Optional": lambda lib: lib.Data[int | None],
    "Data of list": lambda lib: lib.Data[list[Any]],
    "Data in Annotated": lambda lib: Annotated[lib.Data[int], "doc"],
    "other Annotated": lambda lib: Annotated[int, "doc"],
    "Optional of Data": lambda lib: Optional[lib.Data[int]],  # noqa: UP045 -- the older form
    "ClassVar of Data": lambda lib: ClassVar[lib.Data[int]],
    "plain": lambda lib: int,
    "text": lambda lib: "int | None",
}


IS_DATA = {
    "Data", "text nnx.Data", "text Data", "Data of Optional", "Data of list", "Data in Annotated",
}  # fmt: skip


@both
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_an_annotation_makes_an_int_data_or_not(lib: Any, name: str) -> None:
    node = annotated(lib, ANNOTATIONS[name](lib))
    node.x = 1
    assert jax.tree.leaves(node) == ([1] if name in IS_DATA else [])


@both
@pytest.mark.parametrize("name", sorted(IS_DATA))
def test_data_annotated_attributes_hold_containers_of_arrays(lib: Any, name: str) -> None:
    node = annotated(lib, ANNOTATIONS[name](lib))
    node.x = [jnp.ones(1), {"a": jnp.ones(1)}]
    assert len(jax.tree.leaves(node)) == 2
    node.x = None
    assert jax.tree.leaves(node) == []
    node.x = [jnp.ones(1)]
    assert len(jax.tree.leaves(node)) == 1


@both
def test_a_static_annotation_refuses_containers_of_arrays(lib: Any) -> None:
    node = annotated(lib, lib.Static[Any])
    with pytest.raises(ValueError, match="data"):
        node.x = [jnp.ones(1)]


def test_a_static_annotation_refuses_arrays_where_flax_loses_them() -> None:
    theirs = annotated(flax_nnx, ANNOTATIONS["Static"](flax_nnx))
    theirs.x = jnp.ones(1)
    assert jax.tree.leaves(theirs) == []
    with pytest.raises(ValueError, match="data.*static attribute 'x'"):
        annotated(nnx, ANNOTATIONS["Static"](nnx)).x = jnp.ones(1)


@both
def test_annotations_are_inherited_and_overridden(lib: Any) -> None:
    base = type("Base", (lib.Pytree,), {"__annotations__": {"x": lib.Data[int]}})
    inherits = annotated(lib, int, base)
    del type(inherits).__annotations__["x"]
    inherits.x = 1
    assert jax.tree.leaves(inherits) == [1]
    overrides = annotated(lib, lib.Static[int], base)
    overrides.x = 1
    assert jax.tree.leaves(overrides) == []


class Texts(nnx.Pytree):
    """With the future import of this file its annotations are texts."""

    a: nnx.Data[int]
    b: nnx.Static[int]
    c: int


def test_annotations_are_understood_under_the_future_import() -> None:
    assert isinstance(Texts.__annotations__["a"], str)
    node = Texts()
    node.a, node.b, node.c = 1, 2, 3
    assert jax.tree.leaves(node) == [1]


@both
def test_annotations_of_a_plain_mixin_count(lib: Any) -> None:
    mixin = type("Mixin", (), {"__annotations__": {"x": lib.Data[int]}})
    node = type("Node", (mixin, lib.Pytree), {})()
    node.x = 1
    expected = [1] if lib is nnx else jax.tree.leaves(node)
    assert jax.tree.leaves(node) == expected


def test_a_value_and_options_together_are_an_error() -> None:
    for function, name in ((nnx.data, "data"), (nnx.static, "static")):
        call: Any = function
        with pytest.raises(TypeError, match=f"nnx.{name}: got a value and the options.*\n  Fix"):
            call(1, default=2)


@both
@pytest.mark.parametrize("later", [3, (1, 2), None, "a"], ids=repr)
def test_an_override_of_a_declared_status_sticks(lib: Any, later: Any) -> None:
    node = annotated(lib, ANNOTATIONS["Static"](lib))
    node.x = lib.data(1)
    node.x = later
    assert jax.tree.leaves(node) == jax.tree.leaves(later)


def test_an_override_of_a_declared_data_attribute_sticks() -> None:
    for later in (3, (1, 2), "a"):
        node = annotated(nnx, ANNOTATIONS["Data"](nnx))
        node.x = nnx.static(1)
        node.x = later
        assert jax.tree.leaves(node) == []


# -- which types are data, against flax -------------------------------------------------------------


class Point(NamedTuple):
    x: Any


VALUES: dict[str, Callable[[Any], Any]] = {
    "array": lambda lib: jnp.ones(2),
    "numpy": lambda lib: np.ones(2),
    "numpy scalar": lambda lib: np.float32(1),
    "key": lambda lib: jax.random.key(0),
    "reference": lambda lib: jax.new_ref(jnp.ones(2)),
    "shape struct": lambda lib: jax.ShapeDtypeStruct((1,), jnp.float32),
    "Param": lambda lib: lib.Param(1),
    "Param of text": lambda lib: lib.Param("a"),
    "Rngs": lambda lib: lib.Rngs(0),
    "Module": lambda lib: lib.Module(),
    "Object": lambda lib: lib.Object(),
    "List": lambda lib: lib.List([1]),
    "Dict": lambda lib: lib.Dict(a=1),
    "State": lambda lib: lib.State({"a": jnp.ones(1)}),
    "empty State": lambda lib: lib.State({}),
    "graphdef": lambda lib: lib.graphdef(lib.Rngs(0)),
    "VariableMetadata": lambda lib: lib.VariableMetadata(jnp.ones(1)),
    "int": lambda lib: 1,
    "bool": lambda lib: True,
    "complex": lambda lib: 1j,
    "text": lambda lib: "a",
    "None": lambda lib: None,
    "list": lambda lib: [1, jnp.ones(1)],
    "nested list": lambda lib: [{"a": (1, [np.ones(1)])}],
    "list of text": lambda lib: ["a", None],
    "dict": lambda lib: {"a": lib.Param(1)},
    "tuple": lambda lib: (lib.Rngs(0),),
    "namedtuple": lambda lib: Point(jnp.ones(1)),
    "set": lambda lib: {1},
    "range": lambda lib: range(3),
    "function": lambda lib: jnp.sin,
    "partial": lambda lib: functools.partial(jnp.sin, jnp.ones(1)),
    "jax Partial": lambda lib: jax.tree_util.Partial(jnp.sin, jnp.ones(1)),
    "class": lambda lib: lib.Param,
    "dtype": lambda lib: jnp.float32,
    "object": lambda lib: object(),
}


DATA = {
    "array", "numpy", "key", "reference", "Param", "Param of text", "Rngs", "Module", "Object",
    "List", "Dict",
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_is_data_says_what_flax_says(name: str) -> None:
    make = VALUES[name]
    assert nnx.is_data(make(nnx)) is (name in DATA)
    assert flax_nnx.is_data(make(flax_nnx)) is (name in DATA)


@pytest.mark.parametrize("name", VALUES)
def test_has_data_says_what_flax_says(name: str) -> None:
    make = VALUES[name]
    assert bool(nnx.has_data(make(nnx))) is bool(flax_nnx.has_data(make(flax_nnx)))


def test_tracers_are_data() -> None:
    found: list[bool] = []
    jax.jit(lambda x: found.append(nnx.is_data(x)))(1.0)
    jax.vmap(lambda x: found.append(nnx.is_data(x)))(jnp.ones(2))
    assert found == [True, True]


@both
@pytest.mark.parametrize("as_decorator", [False, True])
def test_values_of_a_registered_type_are_data(lib: Any, as_decorator: bool) -> None:
    class Custom:
        pass

    before = Custom()
    assert not lib.is_data(before)
    assert lib.register_data_type(Custom) is Custom
    if as_decorator:

        @lib.register_data_type
        class Other:
            pass

        assert lib.is_data(Other())
    assert lib.is_data(before)
    assert lib.has_data([1, before])
    node = lib.Module()
    node.x = before
    assert jax.tree.leaves(node) == [before]
    with pytest.raises(ValueError, match="data"):
        node.ls = [before]


def test_subclasses_of_a_registered_type_are_data() -> None:
    class Base:
        pass

    class Derived(Base):
        pass

    assert not nnx.is_data(Derived())
    nnx.register_data_type(Base)
    assert nnx.is_data(Derived())


# Without `from __future__ import annotations`, as code of others is written: Python 3.14 evaluates on demand.
EVALUATED = """
import typed_nnx as nnx

class Model(nnx.Module):
    blocks: nnx.Data[list[Later]] if LATER else nnx.Data[list[int]]
    sizes: nnx.Static[list]

    def __init__(self):
        self.blocks, self.sizes = [nnx.Param(1.0)], [1, 2]
"""


@pytest.mark.parametrize("later", [False, True] if sys.version_info >= (3, 14) else [False])
def test_annotations_that_are_no_texts_count(later: bool) -> None:
    names: dict[str, Any] = {"LATER": later}
    code = compile(EVALUATED, "model.py", "exec", dont_inherit=True)
    exec(code, names)
    model = names["Model"]()
    assert list(nnx.state(model)) == ["blocks"]
    assert model.sizes == [1, 2]
