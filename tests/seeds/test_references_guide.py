"""Shared references, ``pytree=False`` and Object in ``module_and_pytree_guide.txt``.

Where the document uses ``nnx.jit``, these tests use jax.jit with split and merge, which prints the
same; `test_transform_examples.py` has ``nnx.jit`` itself.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx

from .models import Parent
from .printed import assert_printed


def test_find_duplicates_shows_that_a_structure_is_not_a_tree() -> None:
    m = Parent()
    assert f"{nnx.find_duplicates(m) = }" == "nnx.find_duplicates(m) = [[('left',), ('right',)]]"


def test_jax_jit_does_not_preserve_shared_references(capsys: pytest.CaptureFixture[str]) -> None:
    m = Parent()
    print(f"Before: {m.left is m.right = }")

    @jax.jit
    def f(m: Parent) -> Parent:
        print(f"Inside: {m.left is m.right = }")
        return m

    m = f(m)
    print(f"After: {m.left is m.right = }")
    assert_printed(
        capsys.readouterr().out,
        """
        Before: m.left is m.right = True
        Inside: m.left is m.right = False
        After: m.left is m.right = False
        """,
    )


def test_split_merge_state_and_update_preserve_shared_references(
    capsys: pytest.CaptureFixture[str],
) -> None:
    m = Parent()
    print(f"Before: {m.left is m.right = }")
    graphdef, state = nnx.split(m)

    @jax.jit
    def f(graphdef: nnx.GraphDef[Parent], state: nnx.State) -> nnx.State:
        m = nnx.merge(graphdef, state)
        print(f"Inside: {m.left is m.right = }")
        return nnx.state(m)

    state = f(graphdef, state)
    nnx.update(m, state)
    print(f"After: {m.left is m.right = }")
    print(f"{state = }")  # deduplicated state
    assert_printed(
        capsys.readouterr().out,
        """
        Before: m.left is m.right = True
        Inside: m.left is m.right = True
        After: m.left is m.right = True
        state = State({
          'left': {
            'x': Array(1., dtype=float32, weak_type=True)
          }
        })
        """,
    )


class Unregistered(nnx.Pytree, pytree=False):
    def __init__(self) -> None:
        self.a = [jnp.array(1), jnp.array(2)]  # no checks
        self.b: object = "hello"
        self.b = jnp.array(3)  # no checks


class AnObject(nnx.Object):  # instead of AnObject(nnx.Pytree, pytree=False)
    def __init__(self) -> None:
        self.a = [jnp.array(1), jnp.array(2)]  # no checks
        self.b: object = "hello"
        self.b = jnp.array(3)  # no checks


@pytest.mark.parametrize("kind", [Unregistered, AnObject])
def test_an_unregistered_pytree_is_a_leaf_to_jax_and_a_node_to_nnx(
    kind: type[Unregistered | AnObject],
) -> None:
    foo = kind()
    graphdef, state = nnx.split(foo)

    @jax.jit
    def double(state: nnx.State) -> nnx.State:
        foo: tp.Any = nnx.merge(graphdef, state)
        foo.a = [x * 2 for x in foo.a]
        foo.b *= 2
        return nnx.state(foo)

    nnx.update(foo, double(state))
    assert_printed(
        f"{nnx.state(foo) = }\n{jax.tree_util.all_leaves([foo]) = }",
        """
        nnx.state(foo) = State({
          'a': {
            0: Array(2, dtype=int32, weak_type=True),
            1: Array(4, dtype=int32, weak_type=True)
          },
          'b': Array(6, dtype=int32, weak_type=True)
        })
        jax.tree_util.all_leaves([foo]) = True
        """,
    )


def test_an_object_is_a_pytree_class_with_registration_turned_off() -> None:
    assert issubclass(nnx.Object, nnx.Pytree)
    assert isinstance(AnObject(), nnx.Pytree)
