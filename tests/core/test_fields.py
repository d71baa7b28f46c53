"""The annotations `Data` and `Static`, also as texts and inherited; laws run with flax too."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Optional

import jax
import jax.numpy as jnp
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


@both
def test_data_and_static_are_unwrapped_by_the_assignment(lib: Any) -> None:
    node = lib.Module()
    node.a = lib.data([1])
    node.b = lib.static("s")
    assert (node.a, node.b) == ([1], "s")
    assert type(node.a) is list
    assert jax.tree.leaves(node) == [1]


@both
def test_setattr_and_annotations_agree(lib: Any) -> None:
    node = lib.Module()
    setattr(node, "any name", lib.data(1))
    assert jax.tree.leaves(node) == [1]


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
