"""`jit`: values reach the caller's objects, functions trace once, errors leave no trace."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing as tp
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import errors as flax_errors

import typed_nnx as nnx
from tests.core.libraries import both, structure
from tests.transforms.jit_models import (
    bump,
    contents,
    count_of,
    counter,
    counter_type,
    numbers,
    same_contents,
)
from tests.transforms.modes import all_modes
from typed_nnx.errors import TraceLevelError


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Batch:
    model: object
    x: object


# -- values ----------------------------------------------------------------------------------------


@both
@all_modes
@pytest.mark.parametrize(
    "call",
    [
        lambda jit, m: jit(lambda *, model: bump(model))(model=m),
        lambda jit, m: jit(lambda d: bump(d["a"][0]))({"a": (m, 1)}),
        lambda jit, m: jit(lambda items: bump(items[1]))([1.0, m]),
        lambda jit, m: jit(lambda batch: bump(batch.model, batch.x))(Batch(m, 1)),
        lambda jit, m: jit(lambda *args, **kwargs: bump(args[0], kwargs["x"]))(m, x=1),
        lambda jit, m: jit(jit(bump))(m),
    ],
    ids=["keyword", "dict_of_tuple", "list", "dataclass", "variadic", "nested_jit"],
)
def test_a_model_may_hide_anywhere_in_the_arguments(lib, mode, call):
    model = counter(lib)
    result = call(functools.partial(lib.jit, **mode), model)
    assert numbers(result) == [1, 2, 3]
    assert count_of(model) == 1


@both
@all_modes
def test_an_update_may_change_shape_and_dtype(lib, mode):
    model = counter(lib)
    lib.jit(lambda m: m.kernel.set_value(jnp.ones((2, 2), jnp.int32)), **mode)(model)
    assert (model.kernel.shape, model.kernel.dtype) == ((2, 2), jnp.int32)


@both
@all_modes
def test_variables_may_hold_nothing_or_a_tree(lib, mode):
    empty, tree = lib.Param(None), lib.Param({"a": jnp.ones(2), "b": (jnp.zeros(()),)})

    def double(empty, tree):
        tree.set_value(jax.tree.map(lambda a: a * 2, tree.get_value()))
        return empty.get_value()

    assert lib.jit(double, **mode)(empty, tree) is None
    assert numbers(tree.get_value()["a"]) == [2, 2]


@both
@all_modes
def test_new_modules_and_variables_come_out_with_their_metadata(lib, mode):
    @lib.jit(**mode)
    def build():
        return counter(lib, 2), lib.Param(jnp.ones(2), tag="t")

    model, variable = build()
    assert type(model) is counter_type(lib)
    assert same_contents(lib, model, counter(lib, 2))
    assert (type(variable), variable.tag, numbers(variable[...])) == (lib.Param, "t", [1, 1])


@both
@all_modes
def test_plain_arguments_become_arrays_and_none_stays_none(lib, mode):
    arguments = ({"a": 1, "b": [2.0, (None, True)]},)
    result = lib.jit(lambda tree: tree, **mode)(*arguments)
    assert structure(result) == structure(*arguments)
    assert [type(leaf) for leaf in jax.tree.leaves(result)] == [type(jnp.ones(()))] * 3
    assert jax.tree.map(numbers, result) == arguments[0]


@both
@all_modes
def test_a_dict_changed_inside_stays_as_it_was_outside(lib, mode):
    given = {"a": jnp.ones(2)}
    lib.jit(lambda d: d.update(b=1), **mode)(given)
    assert list(given) == ["a"]


# -- what can be jitted ----------------------------------------------------------------------------


@both
@all_modes
def test_jit_decorates_methods_class_methods_and_static_methods(lib: Any, mode: Any) -> None:
    class Model(lib.Module):
        def __init__(self):
            self.count = lib.BatchStat(jnp.array(0))

        @lib.jit(**mode)
        def step(self, x, *, by=1):
            self.count[...] += by
            return x * self.count[...]

        @classmethod
        @lib.jit(static_argnums=0, **mode)
        def named(cls, x):
            return x + len(cls.__name__)

        @staticmethod
        @lib.jit(**mode)
        def double(x):
            return x * 2

    model = Model()
    assert int(model.step(2, by=3)) == 6
    assert int(Model.step(model, 2)) == 8
    assert (int(Model.named(1)), int(model.double(2))) == (6, 4)
    assert count_of(model) == 4


@both
@all_modes
def test_jit_takes_classes_and_partials(lib, mode):
    model = lib.jit(counter_type(lib), **mode)()
    assert same_contents(lib, model, counter(lib))
    assert numbers(lib.jit(functools.partial(bump, x=2), **mode)(model)) == [2, 4, 6]


@all_modes
def test_the_repr_of_a_jitted_function_names_it(mode):
    text = repr(nnx.jit(bump, **mode))
    assert "jit" in text
    assert "bump" in text
    assert " at 0x" not in text.replace(repr(bump), "")


class Pair(NamedTuple):
    first: Any
    second: Any


BATCHES: list[tuple[str, Callable[[Any], Any]]] = [
    ("tuple", lambda x: (x, 2 * x)),
    ("list", lambda x: [x, None, 3.0]),
    ("dict", lambda x: {"x": x, "more": {"y": (x, 1.0)}}),
    ("namedtuple", lambda x: Pair(x, [x])),
    ("empty", lambda x: ()),
]


@both
@pytest.mark.parametrize("make", [make for _, make in BATCHES], ids=[name for name, _ in BATCHES])
def test_a_batch_in_containers_is_traced_once_and_keeps_its_form(lib: Any, make: Any) -> None:
    forms: list[Any] = []

    @lib.jit
    def step(counter: Any, batch: Any) -> Any:
        forms.append(structure(batch))
        counter[...] += sum(jnp.sum(leaf) for leaf in jax.tree.leaves(batch))
        return batch

    counter = lib.Variable(jnp.float32(0))
    batches = [make(jnp.full(2, float(number))) for number in range(3)]
    results = [step(counter, batch) for batch in batches]
    assert forms == [structure(batches[0])]
    assert structure(results[2]) == structure(batches[2])
    expected = sum(np.sum(leaf) for batch in batches for leaf in jax.tree.leaves(batch))
    assert counter[...] == expected


@both
def test_forms_of_batches_take_turns_with_batches_that_hold_objects(lib: Any) -> None:
    @lib.jit
    def step(batch: Any) -> Any:
        for leaf in jax.tree.leaves(batch, is_leaf=lambda x: isinstance(x, lib.Variable)):
            if isinstance(leaf, lib.Variable):
                leaf[...] += 1
        return jax.tree.reduce(jnp.add, jax.tree.map(jnp.sum, batch))

    inside = lib.Variable(jnp.float32(1))
    for _ in range(2):
        assert step((jnp.ones(2), {"x": jnp.ones(3)})) == 5
        assert step([jnp.ones(2)]) == 2
        before = float(inside[...])
        step((jnp.ones(2), {"x": inside}))
        assert inside[...] == before + 1


# -- errors -----------------------------------------------------------------------------------------

TRACE_ERRORS = (TraceLevelError, flax_errors.TraceContextError)


GLOBALS: dict[tp.Any, tp.Any] = {}


@pytest.mark.thorough
@both
@all_modes
@pytest.mark.parametrize(
    "mutate",
    [lambda m: bump(m), lambda m: setattr(m, "mode", "eval"), lambda m: setattr(m, "new", 1)],
    ids=["value", "static_attribute", "new_attribute"],
)
def test_mutating_a_global_model_is_an_error(lib, mode, mutate):
    GLOBALS[lib] = counter(lib)
    before = contents(lib, lib.clone(GLOBALS[lib]))

    def step(x):
        mutate(GLOBALS[lib])
        return x

    with pytest.raises(TRACE_ERRORS, match="trace level"):
        lib.jit(step, **mode)(1.0)
    assert contents(lib, GLOBALS[lib]) == before


@both
@all_modes
def test_a_global_model_may_be_read(lib, mode):
    GLOBALS[lib] = counter(lib)
    assert numbers(lib.jit(lambda x: GLOBALS[lib].kernel[...] * x, **mode)(2.0)) == [2, 4, 6]


@both
@all_modes
def test_a_leaked_tracer_is_an_error_where_it_is_used(lib, mode):
    leaked = []
    model = counter(lib)

    def leak(m):
        leaked.append(m)
        bump(m)

    lib.jit(leak, **mode)(model)
    assert leaked[0] is not model
    with pytest.raises(jax.errors.UnexpectedTracerError):
        jnp.sin(leaked[0].count[...])
    assert count_of(model) == 1


@both
@all_modes
def test_wrong_arguments_raise_the_error_of_the_function(lib, mode):
    step = lib.jit(bump, **mode)
    with pytest.raises(TypeError, match=re.escape("missing 1 required positional argument")):
        step()
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        step(counter(lib), y=1)


# -- `jit`: what `graph=False` and `graph_updates=False` demand, and when a mode is read ------------
