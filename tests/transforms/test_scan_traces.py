"""A function that is scanned eagerly is traced once for calls of one kind, and never gives what is old."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.transforms.modes import counter, use

XS = jnp.arange(3.0)
TWICE = nnx.Param(jnp.array(2.0))
FACTOR = jnp.array(2.0)


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


def test_what_the_function_counts_itself_costs_no_trace() -> None:
    count = 0

    @nnx.scan
    def step(carry: Any, x: Any) -> Any:
        nonlocal count
        count += 1
        return carry, x

    for _ in range(3):
        step(jnp.array(0.0), XS)
    assert count == 1


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


def test_another_value_in_a_closure_is_seen() -> None:
    factor: Any = jnp.array(2.0)
    more = {"by": 1.0}

    def step(carry: Any, x: Any) -> Any:
        return carry, x * factor * more["by"]

    scanned = nnx.scan(step)
    start = jnp.array(0.0)
    assert scanned(start, XS)[1].tolist() == [0.0, 2.0, 4.0]
    factor = 3.0
    assert scanned(start, XS)[1].tolist() == [0.0, 3.0, 6.0]
    more["by"] = 2.0
    assert scanned(start, XS)[1].tolist() == [0.0, 6.0, 12.0]


def _by_factor(x: Any) -> Any:
    return x * FACTOR


def test_another_value_of_a_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    direct = counted(lambda carry, x: (carry, x * FACTOR))[1]
    through = counted(lambda carry, x: (carry, _by_factor(x)))[1]
    start = jnp.array(0.0)
    for scanned in (direct, through):
        assert scanned(start, XS)[1].tolist() == [0.0, 2.0, 4.0]
    monkeypatch.setitem(globals(), "FACTOR", jnp.array(5.0))
    for scanned in (direct, through):
        assert scanned(start, XS)[1].tolist() == [0.0, 5.0, 10.0]


def _twice(x: Any) -> Any:
    return x * TWICE[...]


def test_a_variable_that_is_a_global_is_read_as_it_is_now() -> None:
    start = jnp.array(0.0)
    for body in (lambda c, x: (c, x * TWICE[...]), lambda c, x: (c, _twice(x))):
        _, scanned = counted(body)
        for value in (2.0, 3.0):
            TWICE[...] = jnp.array(value)
            assert scanned(start, XS)[1].tolist() == (XS * value).tolist()


class Trainer:
    """An object that jax does not know: what it holds changes unseen."""

    def __init__(self) -> None:
        self.cell = Cell(2.0)
        self.factor = np.ones(())

    def step(self, carry: Any, x: Any) -> Any:
        return carry, x * self.cell.w * jnp.float32(self.factor)


TRAINER = Trainer()


@pytest.mark.thorough
def test_attributes_of_other_objects_are_read_as_they_are_now() -> None:
    trainer, start = TRAINER, jnp.array(0.0)
    bound, closing, naming = [
        counted(body)[1]
        for body in (
            trainer.step,
            lambda carry, x: trainer.step(carry, x),
            lambda carry, x: TRAINER.step(carry, x),
        )
    ]
    for value in (2.0, 3.0):
        trainer.cell = Cell(value)
        for factor in (1.0, 2.0):
            trainer.factor[...] = factor
            for scanned in (bound, closing, naming):
                assert scanned(start, XS)[1].tolist() == (XS * value * factor).tolist()


def test_context_variables_count() -> None:
    factor: ContextVar[float] = ContextVar("factor", default=1.0)

    def step(carry: Any, x: Any) -> Any:
        return carry, x * factor.get()

    traces, scanned = counted(step)
    start = jnp.array(0.0)
    for value in (None, 2.0, 3.0):
        if value is not None:
            factor.set(value)
        for _ in range(2):
            assert scanned(start, XS)[1].tolist() == (XS * (value or 1.0)).tolist()
    assert len(traces) == 3


def test_a_trace_serves_jit_grad_and_eager_calls() -> None:
    _, scanned = counted(lambda cell, x: (cell, cell(0.0, x)))
    cell = Cell(2.0)

    def loss(cell: Any) -> Any:
        return scanned(cell, XS)[1].sum()

    for run in (loss, nnx.jit(loss), loss, nnx.jit(loss)):
        assert float(run(cell)) == 6.0
    assert float(nnx.grad(loss)(cell).w[...]) == 3.0
    assert float(nnx.jit(nnx.grad(loss))(cell).w[...]) == 3.0
    assert float(cell.seen[...]) == 18.0
    assert float(loss(cell)) == 6.0


@pytest.mark.thorough
def test_a_kept_trace_keeps_no_module_nor_array() -> None:
    _, scanned = counted(lambda cell, x: (cell, cell(0.0, x)))
    cell = Cell(2.0)
    xs = jnp.arange(3.0)
    scanned(cell, xs)
    refs = [weakref.ref(each) for each in (cell, cell.w, cell.seen, cell.w.get_raw_value(), xs)]
    del cell, xs
    gc.collect()
    assert [ref() for ref in refs] == [None] * len(refs)


@pytest.mark.thorough
def test_a_function_and_the_model_that_it_closes_over_are_let_go() -> None:
    def made() -> Any:
        model = counter(nnx)

        def body(carry: Any, x: Any) -> Any:
            return carry, use(model, x)

        nnx.scan(body)(jnp.array(0.0), jnp.ones(2))
        return weakref.ref(model), weakref.ref(body)

    found = made()
    gc.collect()
    assert [ref() for ref in found] == [None, None]
