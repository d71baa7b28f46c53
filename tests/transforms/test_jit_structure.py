"""`jit`: the object graph after a call is the one that the plain function leaves behind."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.core.libraries import both
from tests.transforms.jit_models import (
    bump,
    contents,
    count_of,
    counter,
    counting,
    numbers,
    pair,
    raw,
    same_contents,
)
from tests.transforms.modes import all_modes, fixed_modes, shared_modes
from typed_nnx.errors import StructureChangedError

# The oracle wants `sow` inside `capture`.
pytestmark = pytest.mark.filterwarnings("ignore:Using 'Module.sow")


def swap(lib, model):
    model.layers[0], model.layers[1] = model.layers[1], model.layers[0]
    bump(model.layers[0], 5)


def sow(lib, model):
    model.sow(lib.Intermediate, "hidden", model.scale)
    model.sow(lib.Intermediate, "hidden", model.scale + 1)


def cycle(lib, model):
    model.layers[1].parent = model


def replace_variable(lib, model):
    model.layers[0].kernel = lib.Param(model.layers[0].kernel[...][:2], tag="short")


CHANGES = {
    "attribute_added": lambda lib, m: setattr(m, "new", lib.Param(jnp.ones(2), tag="t")),
    "module_added": lambda lib, m: m.layers.append(counter(lib, 4)),
    "attribute_removed": lambda lib, m: delattr(m.layers[0], "count"),
    "list_item_removed": lambda lib, m: m.layers.pop(),
    "variable_replaced": replace_variable,
    "variable_of_another_type": lambda lib, m: setattr(
        m.layers[0], "kernel", lib.Cache(m.layers[0].kernel[...])
    ),
    "module_replaced": lambda lib, m: m.layers.__setitem__(0, counter(lib, 2)),
    "modules_swapped": swap,
    "static_value_changed": lambda lib, m: setattr(m.layers[1], "mode", "eval"),
    "variable_shared": lambda lib, m: setattr(m.layers[1], "kernel", m.layers[0].kernel),
    "module_shared": lambda lib, m: m.layers.append(m.layers[0]),
    "cycle_made": cycle,
    "sown_twice": sow,
}
PLAIN_CHANGES = {
    "plain_array_changed": lambda lib, m: setattr(m, "scale", m.scale * 3),
    "entry_changed": lambda lib, m: m.table.__setitem__("a", m.table["a"] + 1),
    "entry_added": lambda lib, m: m.table.__setitem__("b", m.scale),
    "row_added": lambda lib, m: m.rows.append(m.scale),
}
ALL_CHANGES = {**CHANGES, **PLAIN_CHANGES}


TRANSFORMS = {
    "jit": lambda lib, f: lib.jit(f),
    "remat": lambda lib, f: lib.remat(f),
    "checkify": lambda lib, f: lib.checkify(f),
    "cond": lambda lib, f: lambda m: lib.cond(True, f, f, m),
}


@both
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("change", ALL_CHANGES.values(), ids=ALL_CHANGES)
def test_a_change_inside_is_the_change_that_the_plain_function_makes(lib, transform, change):
    inside, outside = pair(lib), pair(lib)
    layers = {id(layer) for layer in inside.layers}
    transform(lib, lambda m: change(lib, m) and None)(inside)
    change(lib, outside)
    assert layers & {id(layer) for layer in inside.layers}
    assert same_contents(lib, inside, outside)
    assert not same_contents(lib, inside, pair(lib))


@fixed_modes
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_without_updates_a_structural_change_is_an_error_and_nothing_changes(mode, change):
    model = pair(nnx)
    before = contents(nnx, nnx.clone(model))
    step = nnx.jit(lambda m: change(nnx, m) and None, **mode)
    for _ in range(2):
        with pytest.raises(StructureChangedError, match="(?s)jit of .*Fix: "):
            step(model)
    assert contents(nnx, model) == before


# -- sharing ---------------------------------------------------------------------------------------


@both
@shared_modes
def test_the_pattern_of_sharing_is_part_of_the_cache_key(lib, mode):
    traces: list[None] = []
    step = lib.jit(counting(traces, lambda a, b: jnp.array(a is b)), **mode)
    model = counter(lib)
    results = [bool(step(model, other)) for other in (counter(lib), model, counter(lib), model)]
    assert results == [False, True, False, True]
    assert len(traces) == 2


# -- plain data ------------------------------------------------------------------------------------


@both
@all_modes
def test_plain_containers_and_arrays_changed_between_calls_are_seen(lib, mode):
    model = pair(lib)
    step = lib.jit(lambda m: (m.table["a"] + m.scale, sum(m.rows), len(m.table)), **mode)
    assert [numbers(x) for x in step(model)] == [3, 1, 1]
    model.table["a"] = jnp.array(10.0)
    model.rows[0] = jnp.array(4.0)
    model.scale = jnp.array(5.0)
    assert [numbers(x) for x in step(model)] == [15, 4, 1]
    model.table["b"] = jnp.array(0.0)
    model.rows.append(jnp.array(2.0))
    assert [numbers(x) for x in step(model)] == [15, 6, 2]
    model.table = lib.data({"a": jnp.array(0.0)})
    model.rows.pop(0)
    assert [numbers(x) for x in step(model)] == [5, 2, 1]


@all_modes
def test_plain_containers_changed_between_calls_retrace_only_for_a_new_structure(mode):
    traces: list[None] = []
    model = pair(nnx)
    step = nnx.jit(counting(traces, lambda m: m.table["a"] + m.rows[-1]), **mode)
    step(model)
    model.table["a"] = jnp.array(10.0)
    step(model)
    assert len(traces) == 1
    model.rows.append(jnp.array(2.0))
    assert numbers(step(model)) == 12
    model.rows.pop()
    assert numbers(step(model)) == 11
    assert len(traces) == 2


def test_what_was_replaced_inside_keeps_what_was_written_to_it():
    model = counter(nnx)
    old = model.kernel

    def step(m):
        kernel = m.kernel
        m.kernel = nnx.Param(jnp.zeros(1))
        kernel[...] += 1

    nnx.jit(step)(model)
    assert numbers(old[...]) == [2, 3, 4]
    assert numbers(model.kernel[...]) == [0]


def test_a_module_taken_off_inside_keeps_what_was_written_to_it():
    model = pair(nnx)
    old = model.layers[0]

    def step(m):
        taken = m.layers.pop(0)
        bump(taken, 5)
        taken.mode = "gone"

    nnx.jit(step)(model)
    assert (count_of(old), old.mode, len(model.layers)) == (5, "gone", 1)


def test_a_variable_taken_off_inside_keeps_its_new_metadata_and_value():
    model = counter(nnx)
    old = model.kernel

    def step(m):
        m.kernel.set_metadata(tag="gone")
        m.kernel[...] += 1
        del m.kernel

    nnx.jit(step)(model)
    assert (old.tag, numbers(old[...])) == ("gone", [2, 3, 4])


def test_an_untouched_variable_keeps_the_very_array():
    model = counter(nnx)
    kernel = raw(model.kernel)
    nnx.jit(bump)(model)
    assert raw(model.kernel) is kernel


def test_a_module_among_the_children_of_a_registered_tuple_is_seen():
    class Pair(tuple):
        model: object

    def build(_, children):
        model, *rest = children
        made = Pair(rest)
        made.model = model
        return made

    jax.tree_util.register_pytree_node(Pair, lambda p: ((p.model, *p), None), build)
    pair = Pair([jnp.array(1.0)])
    pair.model = nnx.Dict(count=nnx.Variable(jnp.array(0.0)))

    @nnx.jit
    def step(pair):
        pair.model.count[...] += pair[0]

    step(pair)
    step(pair)
    assert float(pair.model.count[...]) == 2.0


def test_metadata_set_inside_reaches_the_callers_variable():
    model = counter(nnx)
    nnx.jit(lambda m: m.kernel.set_metadata(tag="seen"))(model)
    assert model.kernel.tag == "seen"
