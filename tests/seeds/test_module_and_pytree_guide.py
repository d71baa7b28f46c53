"""The examples of the seed document ``module_and_pytree_guide.txt`` up to its dataclasses.

Checks are in `test_pytree_checks_guide.py`, sow and perturb in `test_sow_and_perturb_guide.py`. What
the tests of the library prove is not proven again.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp

import typed_nnx as nnx

from .printed import assert_printed


def test_jax_itself_flattens_and_unflattens_containers() -> None:
    pytree = [{"a": 1}, {"b": 2, "c": (3, 4), "d": None}]
    leaves, treedef = jax.tree.flatten(pytree)
    new_pytree = jax.tree.unflatten(treedef, [x * 10 for x in leaves])
    assert_printed(
        f"leaves = {leaves}\ntreedef = {treedef}\nold pytree = {pytree}\nnew pytree = {new_pytree}",
        """
        leaves = [1, 2, 3, 4]
        treedef = PyTreeDef([{'a': *}, {'b': *, 'c': (*, *), 'd': None}])
        old pytree = [{'a': 1}, {'b': 2, 'c': (3, 4), 'd': None}]
        new pytree = [{'a': 10}, {'b': 20, 'c': (30, 40), 'd': None}]
        """,
    )


def test_jax_itself_flattens_a_class_that_a_user_registers() -> None:
    class Foo:
        def __init__(self) -> None:
            self.a = 1
            self.b = 2
            self.c = "hi"

    def flatten_foo(foo: Foo) -> tuple[list[int], tuple[str]]:
        return [foo.a, foo.b], (foo.c,)

    def unflatten_foo(static: tuple[str], nodes: tp.Sequence[int]) -> Foo:
        foo = object.__new__(Foo)
        foo.a, foo.b = nodes
        (foo.c,) = static
        return foo

    jax.tree_util.register_pytree_node(Foo, flatten_foo, unflatten_foo)
    leaves, treedef = jax.tree.flatten(Foo())
    assert_printed(
        f"leaves = {leaves}\ntreedef = {treedef}",
        """
        leaves = [1, 2]
        treedef = PyTreeDef(CustomNode(Foo[('hi',)], [*, *]))
        """,
    )


def test_is_data_tells_the_default_status_of_a_value() -> None:
    printed = f"""
        # ------ DATA ------------
        {nnx.is_data( jnp.array(0) ) = } # Arrays are data
        {nnx.is_data( nnx.Param(1) ) = } # Variables are data
        {nnx.is_data( nnx.Rngs(2) ) = } # nnx.Pytrees are data
        # ------ STATIC ------------
        {nnx.is_data( 'hello' ) = } # strings, arbitrary objects
        {nnx.is_data( 42 ) = } # int, float, bool, complex, etc.
        {nnx.is_data( [1, 2.0, 3j, jnp.array(1)] ) = } # list, dict, tuple, regular pytrees
        """  # fmt: skip
    expected = """
        # ------ DATA ------------
        nnx.is_data( jnp.array(0) ) = True # Arrays are data
        nnx.is_data( nnx.Param(1) ) = True # Variables are data
        nnx.is_data( nnx.Rngs(2) ) = True # nnx.Pytrees are data
        # ------ STATIC ------------
        nnx.is_data( 'hello' ) = False # strings, arbitrary objects
        nnx.is_data( 42 ) = False # int, float, bool, complex, etc.
        nnx.is_data( [1, 2.0, 3j, jnp.array(1)] ) = False # list, dict, tuple, regular pytrees
        """
    assert printed == expected


def test_types_registered_as_data_types_are_data() -> None:
    @nnx.register_data_type
    class Registered:
        pass

    class Unregistered:
        pass

    assert nnx.is_data(Registered()) is True
    assert nnx.is_data(Unregistered()) is False
