"""Rows of docs/differences.md about sharding and summaries: a program for each."""

from __future__ import annotations

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from tests.docs.differing import Case


def mesh() -> Any:
    return jax.make_mesh((1,), ("model",), axis_types=(jax.sharding.AxisType.Auto,))


def param(nnx: Any, names: Any) -> Any:
    return nnx.Param(jnp.ones((2, 3)), out_sharding=names, eager_sharding=False)


def abstract(nnx: Any) -> Any:
    return type(nnx.spmd.as_abstract(nnx.State({"w": nnx.Param(jnp.ones(2))}))["w"].get_value())


def weak(nnx: Any) -> bool:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.asarray(1.0))

    found: bool = nnx.get_abstract_model(Model, mesh())[1]["w"].get_value().weak_type
    return found


def with_axis(nnx: Any, index: int, *others: str) -> Any:
    w = param(nnx, ("a", "b"))
    state = nnx.State({"w": w, **dict.fromkeys(others, w)})
    nnx.spmd.add_axis(state, index, {nnx.PARTITION_NAME: "new"})
    return w.get_metadata("out_sharding")


def partition(nnx: Any, names: Any) -> Any:
    return nnx.get_partition_spec(nnx.State({"w": param(nnx, names)}))["w"].get_value()


def with_rules(nnx: Any) -> Any:
    with nnx.logical_axis_rules({"embed": "model"}):
        return partition(nnx, ("embed", None))


# flax leaves the classes of a model changed when it fails: no class of flax may be in these models.


def child_of(nnx: Any) -> Any:
    class Child(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones(2))

        def __call__(self, x: Any, *, times: int = 1) -> Any:
            return x * self.w[...] * times

        def other(self, x: Any) -> Any:
            return x - self.w[...]

    return Child()


def parent_of(nnx: Any, call: Any) -> Any:
    class Parent(nnx.Module):
        def __init__(self) -> None:
            self.child = child_of(nnx)

        __call__ = call

    return Parent()


def rows(table: str) -> int:
    return sum("child" in line for line in table.splitlines())


def table_of(nnx: Any, call: Any, *inputs: Any, **options: Any) -> int:
    return rows(nnx.tabulate(parent_of(nnx, call), *inputs, **options))


def plain(self: Any, x: Any) -> Any:
    return self.child(x)


def both_methods(self: Any, x: Any) -> Any:
    return self.child(self.child.other(x))


def with_keyword(self: Any, x: Any) -> Any:
    return self.child(x, times=2)


def with_module(self: Any, x: Any, other: Any) -> Any:
    return self.child(x) + other.w[...]


def after_an_error(nnx: Any) -> Any:
    def fails(self: Any, x: Any) -> Any:
        raise NotImplementedError

    model = parent_of(nnx, fails)
    with contextlib.suppress(NotImplementedError):
        nnx.tabulate(model, jnp.ones(2))
    return type(model.child)()(jnp.ones(2)).shape


X = jnp.ones(2)
MANY = (
    "`tabulate` of jitted methods, of models of shapes, with Modules as inputs; "
    "FLOPs of gradients with keyword arguments"
)

CASES = [
    Case("arrays under `as_abstract`", abstract, type(X), jax.ShapeDtypeStruct),
    Case("weak types under `as_abstract`, `get_abstract_model`", weak, False, True),
    Case(
        "a negative index in `spmd.add_axis`",
        lambda nnx: with_axis(nnx, -1),
        ("a", "new", "b"),
        ("a", "b", "new"),
    ),
    Case(
        "a shared Variable in `spmd.add_axis`",
        lambda nnx: with_axis(nnx, 0, "v"),
        ("new", "new", "a", "b"),
        ("new", "a", "b"),
    ),
    Case(
        "a `NamedSharding` as metadata in `get_partition_spec`",
        lambda nnx: partition(nnx, NamedSharding(mesh(), P("model"))),
        TypeError,
        P("model"),
    ),
    Case("a dict of `logical_axis_rules`", with_rules, ValueError, P("model", None)),
    Case(
        "`tabulate` when the output is no terminal",
        lambda nnx: "\x1b" in nnx.tabulate(parent_of(nnx, plain), X),
        True,
        False,
    ),
    Case(
        "`tabulate`: two methods of an object with the same inputs",
        lambda nnx: table_of(nnx, both_methods, X),
        1,
        2,
    ),
    Case(MANY, lambda nnx: table_of(nnx, nnx.jit(plain), X), KeyError, 1),
    Case(
        MANY,
        lambda nnx: rows(nnx.tabulate(nnx.eval_shape(lambda: parent_of(nnx, plain)), X)),
        TypeError,
        1,
    ),
    Case(MANY, lambda nnx: table_of(nnx, with_module, X, child_of(nnx)), TypeError, 1),
    Case(MANY, lambda nnx: table_of(nnx, with_keyword, X, compute_vjp_flops=True), TypeError, 1),
    Case("classes after an error in `tabulate`", after_an_error, AttributeError, (2,)),
]
