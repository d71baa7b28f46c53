"""`tabulate` says what flax's says: the same rows, columns, counts, bytes and FLOPs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx
import typed_nnx.summary
from tests.summary import models
from tests.summary.tables import Parsed, parse

PLAIN: dict[str, Any] = {"console_kwargs": {"width": 300, "force_terminal": False}}
COSTS: dict[str, Any] = {"compute_flops": True, "compute_vjp_flops": True}


def x() -> jax.Array:
    return jnp.ones((2, 4))


Case = Callable[[Any], tuple[Any, tuple[Any, ...], dict[str, Any]]]

CASES: dict[str, Case] = {
    "a net": lambda lib: (models.net(lib), (x(),), {}),
    "with flops": lambda lib: (models.net(lib), (x(),), {"compute_flops": True}),
    "with flops of gradients": lambda lib: (models.net(lib), (x(),), COSTS),
    "with flops of gradients alone": lambda lib: (
        models.net(lib), (x(),), {"compute_vjp_flops": True},
    ),
    "keyword arguments": lambda lib: (
        models.net(lib), (x(),), {"scale": jnp.float32(2), "mode": "b", "compute_flops": True},
    ),
    "numpy": lambda lib: (models.net(lib), (np.ones((2, 4), np.float32),), {}),
    "depth 0": lambda lib: (models.net(lib), (x(),), {"depth": 0}),
    "depth 1": lambda lib: (models.net(lib), (x(),), {"depth": 1}),
    "depth 2": lambda lib: (models.net(lib), (x(),), {"depth": 2}),
    "a method": lambda lib: (models.net(lib), (x(),), {"method": "encode", "compute_flops": True}),
    "every row": lambda lib: (models.net(lib), (x(),), {"row_filter": lambda row: True}),
    "some rows": lambda lib: (
        models.net(lib), (x(),), {"row_filter": lambda row: row.type.__name__ == "Dense"},
    ),
    "rows by flops": lambda lib: (
        models.net(lib), (x(),),
        {"row_filter": lambda row: row.flops > 60, "compute_flops": True},
    ),
    "containers and shared modules": lambda lib: (
        models.varied(lib), (x(),), {"compute_flops": True},
    ),
    "None as an argument": lambda lib: (models.varied(lib), (x(), None), {}),
    "transforms": lambda lib: (models.lifted(lib), (x(),), {"compute_flops": True}),
    "calls with other inputs": lambda lib: (models.twice(lib), (x(),), {"compute_flops": True}),
    "sow and perturb": lambda lib: (models.sowing(lib), (x(),), {}),
    "random streams": lambda lib: (models.drawing(lib), (x(),), {}),
    "types of Variables": lambda lib: (models.kinds(lib), (x(),), {"compute_flops": True}),
    "shared Variables": lambda lib: (models.tied(lib), (x(),), {}),
    "arguments of all kinds": lambda lib: (
        models.returning(lib),
        (x(), {"a": x(), "b": [x(), (x(),)]}, 3, "text", None, 2.5, True, [], {}),
        {"k": x(), "name": "z", "other": (x(), 1.5)},
    ),
    "a module that is returned": lambda lib: (
        models.returning(lib), (x(),), {"method": "module"},
    ),
    "a layer": lambda lib: (models.dense_class(lib)(4, 4, lib.Rngs(0)), (x(),), COSTS),
    "random streams alone": lambda lib: (lib.Rngs(0, params=1), (), {"compute_flops": True}),
    "bfloat16": lambda lib: (models.twice(lib), (x(),), {}),
}  # fmt: skip


def tabulated(lib: Any, case: Case) -> Parsed:
    obj, args, options = case(lib)
    return parse(lib.summary.tabulate(obj, *args, **PLAIN, **options))


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_a_table_says_what_flax_says(name: str) -> None:
    assert tabulated(typed_nnx, CASES[name]) == tabulated(flax.nnx, CASES[name])


def test_flops_of_a_dense_layer_are_those_of_the_formula() -> None:
    layer = models.dense_class(typed_nnx)(16, 32, typed_nnx.Rngs(0))
    table = parse(typed_nnx.summary.tabulate(layer, jnp.ones((8, 16)), **PLAIN, **COSTS))
    product, sums = 2 * 8 * 16 * 32, 8 * 32
    assert table.column("flops") == [str(product + sums)]
    # Two more products, and the sum over the batch for the bias.
    assert table.column("vjp_flops") == [str(3 * product + sums + 7 * 32)]


def test_the_gradient_of_a_layer_that_is_called_twice_is_a_sum() -> None:
    """flax does not count the sum."""

    class Again(typed_nnx.Module):
        def __init__(self) -> None:
            self.dense = models.dense_class(typed_nnx)(4, 4, typed_nnx.Rngs(0))

        def __call__(self, x: jax.Array) -> jax.Array:
            y: jax.Array = self.dense(self.dense(x))
            return y

    table = parse(typed_nnx.summary.tabulate(Again(), x(), **PLAIN, **COSTS))
    whole, once = map(int, table.column("vjp_flops"))
    assert whole == 2 * once + (4 * 4 + 4)


def test_two_types_of_the_same_name_have_a_column_each() -> None:
    class Param(typed_nnx.Param[jax.Array]):
        pass

    class Both(typed_nnx.Module):
        def __init__(self) -> None:
            self.a, self.b = Param(jnp.ones(3)), typed_nnx.Param(jnp.ones(2))

        def __call__(self) -> None:
            return None

    table = parse(typed_nnx.summary.tabulate(Both(), **PLAIN))
    assert table.columns[-2:] == ("Param", "Param")
    assert table.total[-2:] == ("2 (8 B)", "3 (12 B)")


@pytest.mark.thorough
def test_counts_are_those_of_the_arrays() -> None:
    net = models.net(typed_nnx)
    table = parse(typed_nnx.summary.tabulate(net, x(), **PLAIN))
    leaves = jax.tree.leaves(typed_nnx.state(net, typed_nnx.Param))
    size, total = sum(leaf.size for leaf in leaves), sum(leaf.nbytes for leaf in leaves)
    assert table.total[table.columns.index("Param")] == f"{size:,} ({total} B)"


def test_a_value_that_is_a_tree_is_listed_in_full() -> None:
    """flax counts it and does not show it."""

    class Trees(typed_nnx.Module):
        def __init__(self) -> None:
            self.w = typed_nnx.Param({"a": jnp.ones(2), "b": [jnp.ones(3), None]})
            self.items = typed_nnx.data([typed_nnx.Param(jnp.ones(5))])

        def __call__(self) -> None:
            return None

    table = parse(typed_nnx.summary.tabulate(Trees(), **PLAIN))
    wanted = "items/0: float32[5]|w:|  a: float32[2]|  b:|  - float32[3]|  - None||10 (40 B)"
    assert table.column("Param") == [wanted]


def test_two_methods_with_the_same_inputs_are_two_rows() -> None:
    """flax shows the innermost alone."""

    class Same(typed_nnx.Module):
        def __call__(self, x: jax.Array) -> jax.Array:
            return self.a(x) + self.b(x)

        def a(self, x: jax.Array) -> jax.Array:
            return x

        def b(self, x: jax.Array) -> jax.Array:
            return x * 2

    table = parse(typed_nnx.summary.tabulate(Same(), x(), **PLAIN))
    assert table.column("path") == ["", "a", "b"]


def test_the_method_that_was_asked_for_is_shown_at_any_depth() -> None:
    net = models.net(typed_nnx)
    table = parse(typed_nnx.summary.tabulate(net, x(), method="encode", depth=0, **PLAIN))
    assert table.column("path") == ["encode"]
