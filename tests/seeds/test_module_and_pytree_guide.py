"""The examples of the seed document ``module_and_pytree_guide.txt`` up to its dataclasses.

Attribute updates and checks are in `test_pytree_checks_guide.py`, shared references and
``pytree=False`` in `test_references_guide.py`, sow and perturb in `test_sow_and_perturb_guide.py`.
"""

from __future__ import annotations

import dataclasses
import typing as tp

import jax
import jax.numpy as jnp

import typed_nnx as nnx

from .printed import assert_printed, pytree_structure


def test_a_module_passes_through_jit_as_a_pytree() -> None:
    class Linear(nnx.Module):
        def __init__(self, din: int, dout: int, rngs: nnx.Rngs) -> None:
            self.din, self.dout = din, dout
            self.kernel = nnx.Param(rngs.normal((din, dout)))

    rngs = nnx.Rngs(0)
    weights = Linear(2, 3, rngs=rngs)

    @jax.jit
    def forward(weights: Linear, x: jax.Array) -> jax.Array:
        return x @ weights.kernel

    y = forward(weights, x=rngs.uniform((5, 2)))
    assert f"{y.shape = }" == "y.shape = (5, 3)"


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


TWO_LAYERS = """
    pytree structure:
     - pytree.layers[0].b = Array([0.], dtype=float32)
     - pytree.layers[0].w = Array([[1.]], dtype=float32)
     - pytree.layers[1].b = Array([0.], dtype=float32)
     - pytree.layers[1].w = Array([[1.]], dtype=float32)
"""


def test_annotations_say_what_is_data_and_what_is_static() -> None:
    class Linear(nnx.Pytree):
        def __init__(self, din: int, dout: int) -> None:
            self.din = nnx.static(din)
            self.dout = nnx.static(dout)
            self.w = nnx.data(jnp.ones((din, dout)))
            self.b = nnx.data(jnp.zeros((dout,)))

    class MLP(nnx.Pytree):
        def __init__(self, num_layers: int, dim: int) -> None:
            self.num_layers = nnx.static(num_layers)
            self.layers = nnx.data([Linear(dim, dim) for _ in range(num_layers)])

    assert_printed(pytree_structure(MLP(num_layers=2, dim=1)), TWO_LAYERS)


def test_without_annotations_the_default_rules_give_the_same_leaves() -> None:
    class Linear(nnx.Pytree):
        def __init__(self, din: int, dout: int) -> None:
            self.din = din  # static
            self.dout = dout  # static
            self.w = jnp.ones((din, dout))  # data
            self.b = jnp.zeros((dout,))  # data

    class MLP(nnx.Pytree):
        def __init__(self, num_layers: int, dim: int) -> None:
            self.num_layers = num_layers  # static
            self.layers = nnx.List([Linear(dim, dim) for _ in range(num_layers)])  # data

    assert_printed(pytree_structure(MLP(num_layers=2, dim=1)), TWO_LAYERS)


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


class Bar(nnx.Pytree):
    def __init__(self, x: tp.Any, use_bias: bool) -> None:
        self.x = nnx.data(x)  # constrain inputs (e.g. user could pass Array or float)
        self.y = nnx.data(42)  # force types that are not data by default
        self.ls = nnx.List([jnp.array(i) for i in range(3)])  # use nnx.List for lists of data
        self.bias: nnx.Param | None = nnx.data(None)  # optional values that can be data
        if use_bias:
            self.bias = nnx.Param(jnp.array(0.0))


def test_explicit_annotations_decide_where_types_leave_it_open() -> None:
    assert_printed(
        pytree_structure(Bar(1.0, True)),
        """
        pytree structure:
         - pytree.bias.value = Array(0., dtype=float32, weak_type=True)
         - pytree.ls[0] = Array(0, dtype=int32, weak_type=True)
         - pytree.ls[1] = Array(1, dtype=int32, weak_type=True)
         - pytree.ls[2] = Array(2, dtype=int32, weak_type=True)
         - pytree.x = 1.0
         - pytree.y = 42
        """,
    )


def test_none_annotated_as_data_is_a_node_without_leaves() -> None:
    assert "bias" not in pytree_structure(Bar(1.0, False))
    with_bias, without_bias = (len(jax.tree.leaves(Bar(1.0, use))) for use in (True, False))
    assert with_bias == without_bias + 1


@nnx.dataclass
class Row(nnx.Pytree):
    i: int = nnx.data()
    x: jax.Array
    a: int
    s: str = nnx.static(default="hi", kw_only=True)


@nnx.dataclass
class Table(nnx.Pytree):
    ls: list[Row] = nnx.data()
    shapes: list[int]


def test_dataclass_fields_say_what_is_data_and_what_is_static() -> None:
    pytree = Table(ls=[Row(i, jnp.array(42 * i), hash(i)) for i in range(2)], shapes=[8, 16, 32])
    assert_printed(
        pytree_structure(pytree),
        """
        pytree structure:
         - pytree.ls[0].i = 0
         - pytree.ls[0].x = Array(0, dtype=int32, weak_type=True)
         - pytree.ls[1].i = 1
         - pytree.ls[1].x = Array(42, dtype=int32, weak_type=True)
        """,
    )
    assert [row.s for row in pytree.ls] == ["hi", "hi"]
    assert Row(1, jnp.array(2), 3, s="other").s == "other"


@dataclasses.dataclass
class Plain(nnx.Pytree):
    a: int = dataclasses.field(metadata={"static": False})  # data
    b: str = dataclasses.field(metadata={"static": True})  # static


def test_the_metadata_of_a_plain_dataclass_field_says_the_same() -> None:
    assert_printed(
        pytree_structure(Plain(a=10, b="hello"), "dataclass pytree structure"),
        """
        dataclass pytree structure:
         - pytree.a = 10
        """,
    )
