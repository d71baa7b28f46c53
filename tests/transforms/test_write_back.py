"""What a call writes into the objects outside: all that changed, everywhere, or nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.mapping_scenarios import model_of

ONE = jnp.ones(())


def variable(number: float) -> Any:
    return nnx.Param(jnp.full((), number))


@both
def test_a_second_name_that_points_elsewhere_points_there_outside(lib):
    model = model_of(lib, one=lib.Param(ONE), two=lib.Param(ONE * 2))
    model.zz = model.one

    def step(m: Any) -> None:
        m.zz = m.two

    lib.jit(step)(model)
    assert model.zz is model.two


@pytest.mark.parametrize("change", ["value", "array", "structure"])
def test_an_object_of_an_outer_trace_is_refused_and_nothing_is_written(change):
    inside = model_of(nnx, v=variable(1))
    outside = model_of(nnx, v=variable(1), bare=ONE)
    held = outside.v, outside.v.get_raw_value(), outside.bare

    def step(first: Any, second: Any) -> None:
        first.v[...] += 1
        if change == "value":
            second.v[...] += 1
        elif change == "array":
            second.bare = second.bare + 1
        else:
            second.new = nnx.Param(ONE)

    def traced(x: Any) -> Any:
        inside = model_of(nnx, v=nnx.Param(x))
        before = inside.v.get_raw_value()
        with pytest.raises(nnx.errors.TraceLevelError):
            nnx.jit(step)(inside, outside)
        assert inside.v.get_raw_value() is before
        return x

    jax.jit(traced)(inside.v[...])
    assert outside.v is held[0]
    assert outside.v.get_raw_value() is held[1]
    assert outside.bare is held[2]
    assert not hasattr(outside, "new")


@pytest.mark.parametrize("calls", [1, 2])
def test_a_list_in_a_variable_that_grows_in_place_has_grown_outside(calls):
    model = model_of(nnx, v=nnx.Cache([ONE]))

    @nnx.jit
    def step(m: Any) -> None:
        m.v.get_value().append(ONE * 2)

    for _ in range(calls):
        step(model)
    assert [float(x) for x in model.v.get_value()] == [1.0] + [2.0] * calls


def pair_of(lib: Any) -> Any:
    class Node(lib.Module):
        def __init__(self, number: float) -> None:
            self.w = lib.Param(jnp.array(number))
            self.child = lib.data(None)

    a, b, c = Node(1.0), Node(2.0), Node(3.0)
    a.child, c.tied = b, b.w
    return a, b, c


TRANSFORMS: dict[str, Any] = {
    "jit": lambda lib, f: lib.jit(f),
    "remat": lambda lib, f: lib.remat(f),
    "cond": lambda lib, f: lambda a, c: lib.cond(True, f, f, a, c),
    "jit in jit": lambda lib, f: lib.jit(lambda a, c: lib.jit(f)(a, c)),
    "eager": lambda lib, f: f,
}


# `remat` of flax cannot remove what another argument shares.
SHARING = [
    (lib, name) for lib in (nnx, flax_nnx) for name in TRANSFORMS if lib is nnx or name != "remat"
]


@pytest.mark.parametrize(("lib", "transform"), SHARING)
@pytest.mark.parametrize("new", [0, 1, 4])
def test_a_child_that_is_removed_keeps_what_it_shares_with_another_argument(lib, transform, new):
    a, b, c = pair_of(lib)
    shared = b.w

    def body(a: Any, c: Any) -> None:
        a.child = None
        a.w[...] = jnp.array(9.0)
        for number in range(new):
            setattr(c, f"a{number}", lib.Param(jnp.array(50.0 + number)))

    TRANSFORMS[transform](lib, body)(a, c)
    assert b.w is shared
    assert c.tied is shared
    assert float(shared[...]) == 2.0
    assert float(a.w[...]) == 9.0
    assert a.child is None
    assert [float(getattr(c, f"a{number}")[...]) for number in range(new)] == [
        50.0 + number for number in range(new)
    ]


@both
def test_a_removed_child_gets_what_was_made_in_another_argument(lib):
    a, b, c = pair_of(lib)

    def body(a: Any, c: Any) -> Any:
        child, a.child = a.child, None
        c.new = lib.Param(jnp.array(7.0))
        child.w = c.new
        return c.new

    found = lib.jit(body)(a, c)
    assert found is c.new
    assert float(c.new[...]) == 7.0
    assert float(c.tied[...]) == 2.0
    if lib is nnx:  # flax loses what becomes of an object that is not reached any more
        assert b.w is c.new


def test_what_leaves_the_second_argument_is_written_too():
    first = model_of(nnx, v=variable(1), w=variable(2))
    second = model_of(nnx, v=nnx.Param(ONE, note="old"), w=variable(3))
    removed = second.v

    @nnx.jit
    def step(first: Any, second: Any) -> None:
        second.v[...] += 1
        second.v.set_metadata(note="new")
        del second.v

    step(first, second)
    assert (float(removed[...]), removed.get_metadata("note")) == (2.0, "new")
    assert not hasattr(second, "v")


def test_an_error_while_changes_are_planned_leaves_all_as_it_was(monkeypatch):
    import typed_nnx._transforms.engine.write as module

    a, b, c = pair_of(nnx)

    def failing(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    def body(a: Any, c: Any) -> None:
        a.child = None
        a.w[...] = jnp.array(9.0)
        c.new = nnx.Param(jnp.array(1.0))

    monkeypatch.setattr(module, "rebuild", failing)
    with pytest.raises(ZeroDivisionError):
        nnx.jit(body)(a, c)
    assert float(a.w[...]) == 1.0
    assert a.child is b
    assert not hasattr(c, "new")


class Plain(nnx.Module):
    def __init__(self) -> None:
        self.w = variable(2.0)


class Special(Plain):
    pass


@pytest.mark.parametrize("transform", ["jit", "remat", "eager"])
def test_a_class_assigned_inside_is_that_of_the_object_outside(transform):
    def become(a: Any, _: Any) -> None:
        a.inner.__class__ = Special

    model, other = nnx.Dict(inner=Plain()), Plain()
    inner = model.inner
    TRANSFORMS[transform](nnx, become)(model, other)
    assert model.inner is inner
    assert type(inner) is Special
    assert nnx.graphdef(model) == nnx.graphdef(nnx.Dict(inner=Special()))


BINDINGS: dict[str, Any] = {
    "cached_partial": lambda f, *args: nnx.cached_partial(nnx.jit(f), *args),
    "jit_partial": nnx.jit_partial,
}


@pytest.mark.parametrize("name", BINDINGS)
@pytest.mark.parametrize("bound", [False, True], ids=["given", "bound"])
def test_an_object_that_comes_into_a_container_of_arrays_is_written_to(name, bound):
    def bump(model: Any, batch: Any) -> Any:
        if isinstance(batch["x"], nnx.Variable):
            batch["x"][...] += 1.0
        return batch["x"] * model.v[...]

    model, count, batch = model_of(nnx, v=variable(2.0)), variable(0.0), {"x": jnp.array(1.0)}
    step = BINDINGS[name](bump, model, batch) if bound else BINDINGS[name](bump, model)
    rest = () if bound else (batch,)
    step(*rest)
    step(*rest)
    batch["x"] = count
    step(*rest)
    step(*rest)
    assert float(count[...]) == 2.0


@pytest.mark.parametrize("verified", [False, True], ids=["trusted", "verified"])
def test_values_are_written_beside_arrays_and_again_and_again(verified):
    models = model_of(nnx, v=variable(1)), model_of(nnx, v=variable(1), array=jnp.ones(2))

    @nnx.jit
    def bump(model: Any) -> None:
        model.v[...] += 1

    with nnx.set_verify_records(verified):
        for model in models:
            for _ in range(3):
                bump(model)
            assert float(nnx.state(model)["v"][...]) == 4.0


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Pair:
    model: Any
    scale: float


def test_a_module_in_a_dataclass_that_is_closed_over_is_written_to():
    held = Pair(model_of(nnx, v=variable(1)), 2.0)
    step = nnx.jit(lambda x: held.model.v.set_value(held.model.v[...] + x * held.scale))
    for _ in range(3):
        step(ONE)
    assert float(held.model.v[...]) == 7.0
    for _ in range(2):
        assert float(nnx.grad(lambda x: x * held.model.v[...])(ONE)) == 7.0
