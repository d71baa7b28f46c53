"""The forms of `in_axes` and `out_axes` of `scan`: what comes out is what comes out in flax."""

from __future__ import annotations

import typing as tp
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.as_in_flax import Call, assert_as_in_flax
from tests.transforms.mapping_scenarios import model_of
from tests.transforms.modes import all_modes, fixed_modes

XS = jnp.arange(4.0)


class Scan(tp.NamedTuple):
    """A step, its arguments, and the options of `scan`."""

    step: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]


def at(position: int, carry: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*others[:position], carry, *others[position:])


def carry_at(carry_in: int, carry_out: int) -> Callable[[Any], Scan]:
    def step(*args: Any) -> Any:
        carry = args[carry_in]
        x, y = (arg for index, arg in enumerate(args) if index != carry_in)
        return at(carry_out, carry + x, (carry, y))

    def make(lib: Any) -> Scan:
        axes = [at(place, lib.Carry, (0, 0)) for place in (carry_in, carry_out)]
        options = dict(zip(("in_axes", "out_axes"), axes, strict=True))
        return Scan(step, at(carry_in, 0.0, (XS, XS * 2)), options)

    return make


def with_carry(step: Any, out_axes: Callable[[Any], Any], **options: Any) -> Callable[[Any], Scan]:
    return lambda lib: Scan(
        step,
        (0.0, XS),
        {"in_axes": (lib.Carry, 0), "out_axes": out_axes(lib.Carry), **options},
    )


def carry_alone(wrapped: bool, **options: Any) -> Callable[[Any], Scan]:
    return lambda lib: Scan(
        lambda c: c * 2,
        (1.0,),
        {"in_axes": (lib.Carry,) if wrapped else lib.Carry, "out_axes": lib.Carry, **options},
    )


def no_carry(step: Any, in_axes: Any, *arguments: Any, **options: Any) -> Callable[[Any], Scan]:
    return lambda lib: Scan(step, arguments, {"in_axes": in_axes, "out_axes": 0, **options})


def scanned_and(rest: Callable[[Any], Any], step: Any) -> Callable[[Any], Scan]:
    """Scan the weights of a model, and do something else with its other Variables."""

    def make(lib: Any) -> Scan:
        model = model_of(lib, weight=lib.Param(XS), total=lib.BatchStat(jnp.float32(2)))
        axes = lib.StateAxes({lib.Param: 0, ...: rest(lib)})
        return Scan(step, (model, 0.0), {"in_axes": (axes, lib.Carry), "out_axes": lib.Carry})

    return make


def accumulated(model: Any, carry: Any) -> Any:
    model.total[...] += model.weight[...]
    model.weight[...] = model.total[...]
    return carry + 1


SCANS: dict[str, Callable[[Any], Scan]] = {
    **{f"carry {i} to {j}": carry_at(i, j) for i in range(3) for j in range(3)},
    "a carry alone": carry_alone(False, length=3),
    "a carry alone in a tuple": carry_alone(True, length=3),
    "a carry alone without a length": carry_alone(False),
    "a carry alone in a tuple without a length": carry_alone(True),
    "out_axes=Carry": with_carry(lambda c, x: c + x, lambda carry: carry),
    "out_axes=(Carry,)": with_carry(lambda c, x: (c + x,), lambda carry: (carry,)),
    "no output": with_carry(lambda c, x: (c + x, None), lambda carry: (carry, 0)),
    "an output in a dict": with_carry(lambda c, x: (c + x, {"c": c}), lambda carry: (carry, 0)),
    "another length": with_carry(lambda c, x: (c, x), lambda carry: (carry, 0), length=3),
    "outputs of a carry alone": lambda lib: Scan(
        lambda c: (c + 1, c),
        (0.0,),
        {"in_axes": lib.Carry, "out_axes": (lib.Carry, 0), "length": 3},
    ),
    "no carry": no_carry(lambda x, y: x * y + 1, 0, XS, XS),
    "no carry, two axes": no_carry(lambda x, y: x * y + 1, (0, 0), XS, XS),
    "no carry, one axis": no_carry(lambda x, y: x * y + 1, (0, None), XS, 2.0),
    "a length alone": no_carry(lambda y: y * 2, None, 2.0, length=3),
    "a length and a tuple": no_carry(lambda y: y * 2, (None,), 2.0, length=3),
    "no axis and no length": no_carry(lambda y: y, None, 2.0),
    "no axis in a tuple and no length": no_carry(lambda y: y, (None,), 2.0),
    "axes of other lengths": lambda lib: Scan(
        lambda c, x, y: (c, x),
        (0.0, XS, XS[:3]),
        {"in_axes": (lib.Carry, 0, 0), "out_axes": (lib.Carry, 0)},
    ),
    "no steps": lambda lib: Scan(lambda c, x: (c + x, x), (1.5, jnp.zeros((0, 2)).sum(1)), {}),
    "parts that are carried": scanned_and(lambda lib: lib.Carry, accumulated),
    "parts that all steps share": scanned_and(
        lambda lib: None, lambda model, carry: carry + model.weight[...] * model.total[...]
    ),
}


@all_modes
@pytest.mark.parametrize("name", SCANS)
def test_steps_get_and_leave_what_they_do_in_flax(mode, name):
    def make(lib: Any) -> Call:
        step, arguments, options = SCANS[name](lib)
        return Call(lib.scan(step, **options, **mode), arguments)

    assert_as_in_flax(make)


@both
@all_modes
def test_unroll_reaches_the_compiler(lib, mode):
    def steps(unroll: int) -> int:
        scanned = lib.scan(lambda c, x: (jnp.sin(c) + x, None), unroll=unroll, **mode)
        return str(jax.make_jaxpr(scanned)(0.0, XS)).count("unroll=2")

    assert (steps(1), steps(2)) == (0, 1)


@both
@fixed_modes
def test_without_graph_updates_a_model_without_axis_is_carried_when_it_changes(lib, mode):
    model = model_of(lib, count=lib.BatchStat(jnp.zeros(())), rngs=lib.Rngs(params=0))

    def step(model: Any, carry: Any, x: Any) -> Any:
        model.count[...] += x
        return carry, model.rngs.params.normal(())

    scanned = lib.scan(step, in_axes=(None, lib.Carry, 0), out_axes=(lib.Carry, 0), **mode)
    loop = lib.Rngs(params=0)
    expected = [float(loop.params.normal(())) for _ in XS]
    assert scanned(model, 0.0, XS)[1].tolist() == expected
    assert (float(model.count[...]), int(model.rngs.params.count[...])) == (6.0, 4)


@pytest.mark.thorough
@both
def test_axes_may_have_entries_for_defaults(lib):
    xs = jnp.arange(4.0)

    def step(carry, x, k=2.0):
        return carry + x * k, x

    options = {"out_axes": (lib.Carry, 0)}
    total = lib.scan(step, in_axes=(lib.Carry, 0, None), **options)(jnp.zeros(()), xs)[0]
    assert float(total) == 12.0

    def scaled(x, k=2.0):
        return x * k

    assert jnp.array_equal(lib.vmap(scaled, in_axes=(0, None))(xs), xs * 2)
    if lib is nnx:  # flax wants an entry for each default, and its pmap fails at them
        assert jnp.array_equal(lib.vmap(scaled, in_axes=(0,))(xs), xs * 2)
        assert jnp.array_equal(lib.pmap(scaled, in_axes=(0, None))(xs[:1]), xs[:1] * 2)
