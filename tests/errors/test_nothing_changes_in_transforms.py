"""A transform that fails leaves its arguments, and what it closes over, as they were.

Every function below first changes values, attributes and structure, and then does what is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import typed_nnx as nnx
from tests.errors.case import Bag
from tests.errors.snapshot import snapshot
from tests.errors.test_nothing_changes import network
from typed_nnx import errors

X = jnp.arange(2.0)
C = nnx.Carry


def work(m: Any, *_: Any) -> Any:
    """Change a model in many places, none of them its structure."""
    m.a[...] = m.a[...] * 2 + 1
    m.b.mean[...] += 1
    m.layers[0][...] = jnp.zeros(2)
    m.held["l"][0][...] = jnp.zeros(2)
    return m


def rebuild(m: Any, *_: Any) -> Any:
    """Change values, static attributes and structure."""
    work(m)
    m.name = "other"
    m.z.set_metadata(tag="b")
    m.layers.append(nnx.Param(jnp.zeros(1)))
    del m.options["x"]
    m.b.fresh = nnx.Param(jnp.zeros(1))
    return m


def fresh(m: Any, *_: Any) -> Any:
    """Change everything and return other objects."""
    rebuild(m)
    return network()


def widen(m: Any, *_: Any) -> Any:
    """Give a value another shape."""
    work(m)
    m.b.mean.set_value(jnp.zeros(5))
    return m


def fails(m: Any, *_: Any) -> Any:
    """Raise after all the work is done."""
    rebuild(m)
    raise KeyError("inside")


def after(change: Callable[[Any], Any], result: Any) -> Callable[..., Any]:
    """Return a function that changes its argument and returns something."""
    return lambda m, *_: (change(m), result)[1]


def replicated() -> Any:
    mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
    return nnx.shard_map(share, mesh=mesh, in_specs=(P(), P("data")), out_specs=None)


def share(m: Any, x: Any) -> None:
    """Assign what differs from lane to lane."""
    rebuild(m)
    m.b.mean[...] += x.sum()


def ruled(fwd: Any, bwd: Any) -> Any:
    """Return a function with a rule; the rule is only run under a gradient."""
    function = nnx.custom_vjp(lambda m: (work(m).a[...] ** 2).sum())
    function.defvjp(fwd, bwd)
    return nnx.grad(lambda m: (rebuild(m), function(m))[1])


def compiled(m: Any) -> Any:
    return nnx.jit(work).lower(network()).compile()(Bag(m=m))


def twice_donated(m: Any) -> object:
    add = nnx.jit(lambda m, x: rebuild(m).a + x, donate_argnums=0)
    return add(m, m.a.get_raw_value())


JIT: dict[str, Any] = {"graph_updates": False}
TREE: dict[str, Any] = {"graph": False}

FAILURES: dict[Any, dict[str, Callable[[Any], object]]] = {
    KeyError: {
        "an exception under jit": lambda m: nnx.jit(fails)(m),
        "an exception under grad": lambda m: nnx.grad(fails)(m),
        "an exception under vmap": lambda m: nnx.vmap(fails, in_axes=(None, 0))(m, X),
        "an exception in scan": lambda m: nnx.scan(fails)(m, X),
        "an exception in a branch": lambda m: nnx.cond(True, rebuild, fails, m),
        "an exception in a loop": lambda m: nnx.while_loop(lambda m: True, fails, m),
        "an exception under remat": lambda m: nnx.grad(nnx.remat(fails))(m),
        "an exception where the model is captured": lambda m: nnx.jit(lambda x: fails(m))(X),
    },
    errors.StructureChangedError: {
        "structure without graph_updates": lambda m: nnx.jit(rebuild, **JIT)(m),
        "a cached_partial that changes the structure": lambda m: nnx.cached_partial(
            nnx.jit(rebuild), m
        )(),
        "a condition that changes the model": lambda m: nnx.while_loop(
            lambda m: rebuild(m).a[0] < 3, work, m
        ),
    },
    errors.SharedReferenceError: {
        "an argument returned without graph_updates": lambda m: nnx.jit(work, **JIT)(m),
        "trees with a shared Variable": lambda m: nnx.jit(after(work, None), **TREE)(m),
        "an argument as the result of vjp": lambda m: nnx.vjp(rebuild, m),
    },
    errors.UnhashableError: {
        "a static argument without hash": lambda m: nnx.jit(rebuild, static_argnums=1)(m, [1])
    },
    errors.ArgumentError: {
        "a static argument that is a Module": lambda m: nnx.jit(rebuild, static_argnums=0)(m, 1.0)
    },
    errors.DonationError: {"an array donated and used": twice_donated},
    errors.CompiledCallError: {"a compiled function with another structure": compiled},
    errors.BroadcastChangedError: {
        "a value for each lane": lambda m: nnx.vmap(share, in_axes=(None, 0))(m, jnp.ones((2, 3))),
        "a value for each device": lambda m: replicated()(m, jnp.ones((2, 3))),
    },
    errors.PrefixConflictError: {
        "one Variable with two axes": lambda m: nnx.vmap(rebuild, in_axes=(0, None))(m, m)
    },
    errors.PrefixError: {
        "a tree of axes for a Module": lambda m: nnx.vmap(rebuild, in_axes=([0],))(m),
        "too few axes": lambda m: nnx.vmap(rebuild, in_axes=(0,))(m, X),
        "axes that do not fit the result": lambda m: nnx.scan(
            after(work, X), in_axes=(C, 0), out_axes=(C, 0)
        )(m, X),
    },
    errors.ShardingError: {
        "another name of the axis in the sharding": lambda m: nnx.vmap(
            rebuild, in_axes=(0,), transform_metadata={nnx.PARTITION_NAME: "layers"}
        )(m)
    },
    errors.ResultError: {
        "a loss that is no scalar": lambda m: nnx.grad(lambda m: rebuild(m).a[...])(m),
        "auxiliary output that is missing": lambda m: nnx.value_and_grad(
            after(rebuild, 1.0), has_aux=True
        )(m),
        "fwd without residuals": lambda m: ruled(after(work, 1.0), None)(m),
        "bwd with too many cotangents": lambda m: ruled(
            lambda m: (work(m).a[...].sum(), None), lambda *_: (1, 2)
        )(m),
    },
    errors.TangentStructureError: {
        "a tangent with too little": lambda m: nnx.jvp(
            after(rebuild, X), (m,), (nnx.state(m, nnx.Param),)
        )
    },
    errors.CarryTypeError: {
        "another structure in the carry": lambda m: nnx.scan(lambda m, x: (rebuild(m), x))(m, X),
        "another object in the carry": lambda m: nnx.fori_loop(0, 2, lambda i, m: fresh(m), m),
        "another shape in the carry": lambda m: nnx.while_loop(lambda m: m.a[0] < 3, widen, m),
    },
    errors.BranchMismatchError: {
        "structure in one branch": lambda m: nnx.cond(True, rebuild, work, m),
        "another shape in one branch": lambda m: nnx.switch(0, [widen, work, work], m),
    },
}


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("error", "failure"), [(error, name) for error, each in FAILURES.items() for name in each]
)
def test_a_failed_transform_leaves_the_objects_unchanged(error: Any, failure: str) -> None:
    model = network()
    model.z.set_metadata(out_sharding=("rows",))
    before = snapshot(model)
    with pytest.raises(error) as info:
        FAILURES[error][failure](model)
    assert type(info.value) is error
    assert snapshot(model) == before


def test_a_failed_split_leaves_all_streams_unchanged() -> None:
    model = Bag(first=nnx.Rngs(0), many=nnx.Rngs(1).split(3))
    before = snapshot(model)
    with pytest.raises(errors.KeyShapeError):
        nnx.split_rngs(model, splits=2)
    with pytest.raises(errors.ArgumentTypeError):
        nnx.split_rngs(model, splits=-1)
    with pytest.raises(errors.ArgumentError):
        nnx.split_rngs(splits=2, squeeze=True)(rebuild)(model)
    assert snapshot(model) == before
