"""A function that is scanned eagerly is traced once for calls of one kind, and never gives what is old."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx

XS = jnp.arange(3.0)


class Cell(nnx.Module):
    def __init__(self, weight: float, mode: str = "add") -> None:
        self.w = nnx.Param(jnp.array(weight))
        self.seen = nnx.BatchStat(jnp.array(0.0))
        self.mode = mode

    def __call__(self, carry: Any, x: Any) -> Any:
        self.seen[...] += 1.0
        return carry + self.w * x if self.mode == "add" else carry * self.w


def counted(
    body: Callable[..., Any], lib: Any = nnx, **options: Any
) -> tuple[list[int], Callable[..., Any]]:
    traces: list[int] = []

    def step(*args: Any) -> Any:
        traces.append(1)
        return body(*args)

    return traces, lib.scan(step, **options)


def test_modules_of_one_structure_share_a_trace_and_each_gets_its_own_updates() -> None:
    traces, scanned = counted(lambda cell, x: (cell, cell(0.0, x)))
    cells = [Cell(1.0), Cell(2.0), Cell(3.0)]
    for cell in cells:
        last, found = scanned(cell, XS)
        assert last is cell
        assert found.tolist() == [0.0, float(cell.w[...]), 2 * float(cell.w[...])]
    assert len(traces) == 1
    assert [float(cell.seen[...]) for cell in cells] == [3.0, 3.0, 3.0]
    cells[0].w[...] = jnp.array(10.0)
    assert scanned(cells[0], XS)[1].tolist() == [0.0, 10.0, 20.0]
    assert (float(cells[0].seen[...]), float(cells[1].seen[...]), len(traces)) == (6.0, 3.0, 1)


def test_shapes_dtypes_structures_and_static_values_are_traced_each_once() -> None:
    traces, scanned = counted(lambda cell, x: (cell, cell(0.0, x)))
    cell, other = Cell(2.0), Cell(2.0, "times")
    deep = Cell(2.0)
    deep.more = nnx.Param(jnp.array(1.0))  # type: ignore[attr-defined]  # the structure is another one
    calls: list[tuple[Any, Any, Any]] = [
        (cell, XS, [0.0, 2.0, 4.0]),
        (other, XS, [0.0, 0.0, 0.0]),
        (deep, XS, [0.0, 2.0, 4.0]),
        (cell, jnp.arange(2.0), [0.0, 2.0]),  # slices of the shape of the first
        (cell, jnp.ones((1, 2)), [[2.0, 2.0]]),
    ]
    for _ in range(3):
        for module, xs, wanted in calls:
            assert scanned(module, xs)[1].tolist() == wanted
    assert len(traces) == 4
    cell.mode = "times"
    assert scanned(cell, XS)[1].tolist() == [0.0, 0.0, 0.0]


def test_the_structure_of_plain_arguments_counts() -> None:
    traces, scanned = counted(lambda carry, x: (carry, x["a"] - x["b"] if "b" in x else x["c"]))
    start = jnp.array(0.0)
    for _ in range(2):
        assert scanned(start, {"a": XS, "b": XS})[1].tolist() == [0.0] * 3
        assert scanned(start, {"a": XS, "c": XS})[1].tolist() == XS.tolist()
    assert len(traces) == 2


def test_static_values_of_a_pytree_of_the_users_count_with_and_without_a_hash() -> None:
    @jax.tree_util.register_pytree_node_class
    class Scaled:
        def __init__(self, x: Any, by: Any) -> None:
            self.x, self.by = x, by

        def tree_flatten(self) -> Any:
            return (self.x,), self.by

        @classmethod
        def tree_unflatten(cls, by: Any, children: Any) -> Any:
            return cls(children[0], by)

    _, scanned = counted(lambda carry, s: (carry, s.x * (s.by if type(s.by) is int else s.by[0])))
    for by, wanted in ((2, 2.0), (3, 3.0), ([4], 4.0), ([5], 5.0), (2, 2.0)):
        found = scanned(jnp.array(0.0), Scaled(jnp.ones(2), by))[1]
        assert found.tolist() == [wanted] * 2


def test_which_objects_are_shared_counts() -> None:
    def step(carry: Any, one: Any, two: Any) -> Any:
        one.w[...] += 1.0
        return carry, two.w[...] + 0.0

    _, scanned = counted(step, in_axes=(nnx.Carry, None, None), length=2)
    one, two = Cell(1.0), Cell(5.0)
    start = jnp.array(0.0)
    for _ in range(2):
        before = float(one.w[...])
        assert scanned(start, one, two)[1].tolist() == [5.0, 5.0]
        assert scanned(start, one, one)[1].tolist() == [before + 3, before + 4]


def test_a_structure_that_grows_does_so_for_each_module() -> None:
    def step(cell: Any, x: Any) -> Any:
        cell.out = nnx.Intermediate(x * cell.w)
        return x

    traces, scanned = counted(step, in_axes=(0, 0), out_axes=0)
    for weight in (1.0, 4.0):
        cell: Any = nnx.vmap(lambda w: Cell(w))(jnp.full(3, weight))
        scanned(cell, XS)
        assert cell.out[...].tolist() == (XS * weight).tolist()
    assert len(traces) == 1
