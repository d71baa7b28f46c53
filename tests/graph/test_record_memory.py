"""Cached records must not keep anything alive: not a model, not a parent, not a graphdef."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
import typing as tp
import weakref

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx


class Layer(nnx.Module):
    def __init__(self, kernel: nnx.Param[tp.Any] | None = None) -> None:
        self.kernel = kernel if kernel is not None else nnx.Param(jnp.ones((2,)))
        self.mean = nnx.BatchStat(jnp.zeros((2,)))
        self.scale = jnp.ones(())
        self.name = "layer"


class Model(nnx.Module):
    def __init__(self, layer: Layer | None = None) -> None:
        self.first = layer if layer is not None else Layer()
        self.layers = nnx.List([Layer(), Layer()])
        self.table = nnx.Dict({"a": Layer()})
        self.plain = nnx.data([nnx.Param(jnp.ones(())), {"x": jnp.zeros(())}])


class Ring(nnx.Module):
    def __init__(self) -> None:
        self.layer = Layer()
        self.me = self


def use_update(model: nnx.Module) -> None:
    nnx.update(model, nnx.state(model))


def use_merge(model: nnx.Module) -> None:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    nnx.merge(graphdef, params, rest)


def use_walks(model: nnx.Module) -> None:
    assert list(nnx.iter_graph(model))
    assert list(nnx.iter_modules(model))
    nnx.find_duplicates(model)


def use_overlapping_roots(model: nnx.Module) -> None:
    for _, module in nnx.iter_modules(model):
        nnx.split(module)
    nnx.split([model, model])


def use_between_mutations(model: tp.Any) -> None:
    nnx.split(model)
    model.flag = "on"
    nnx.split(model)
    model.extra = Layer()
    nnx.state(model, nnx.Param)
    del model.extra
    nnx.clone(model)


USES: dict[str, tp.Callable[[tp.Any], object]] = {
    "split": lambda model: nnx.split(model, nnx.Param, ...),
    "state": lambda model: nnx.state(model, nnx.Param),
    "graphdef": nnx.graphdef,
    "clone": nnx.clone,
    "update": use_update,
    "merge": use_merge,
    "walks": use_walks,
    "overlapping roots": use_overlapping_roots,
    "mutations between uses": use_between_mutations,
}
every_use = pytest.mark.parametrize("use", USES.values(), ids=list(USES))


@pytest.fixture
def no_collector() -> tp.Iterator[None]:
    """Switch the cycle collector off, so that only reference counts free anything."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def modules_of(model: tp.Any) -> list[weakref.ref[tp.Any]]:
    """Return weak references to every module of `model`."""
    return [weakref.ref(module) for _, module in nnx.iter_modules(model)]


def values_of(model: tp.Any) -> list[weakref.ref[tp.Any]]:
    """Return weak references to every array of `model`; a Variable itself has no room for one."""
    return [weakref.ref(leaf) for leaf in jax.tree.leaves(nnx.state(model))]


def alive(references: list[weakref.ref[tp.Any]]) -> list[tp.Any]:
    """Return the objects that still live."""
    return [x for x in (reference() for reference in references) if x is not None]


@pytest.mark.thorough
@every_use
@pytest.mark.usefixtures("no_collector")
def test_a_dropped_tree_is_freed_at_once(use: tp.Callable[[tp.Any], object]) -> None:
    model = Model()
    watched = modules_of(model) + values_of(model)
    use(model)
    use(model)
    del model
    assert alive(watched) == []


@pytest.mark.thorough
@every_use
def test_a_dropped_cycle_is_freed_by_the_collector(use: tp.Callable[[tp.Any], object]) -> None:
    model = Ring()
    watched = modules_of(model) + values_of(model)
    use(model)
    use(model)
    del model
    gc.collect()
    assert alive(watched) == []


@pytest.mark.thorough
@every_use
@pytest.mark.usefixtures("no_collector")
def test_a_surviving_variable_does_not_keep_its_model(use: tp.Callable[[tp.Any], object]) -> None:
    model = Model()
    kernel, modules = model.first.kernel, modules_of(model)
    use(model)
    del model
    assert alive(modules) == []
    assert kernel[...].shape == (2,)


@pytest.mark.thorough
@every_use
@pytest.mark.usefixtures("no_collector")
def test_a_surviving_submodule_does_not_keep_its_parent(use: tp.Callable[[tp.Any], object]) -> None:
    model = Model()
    layer, parent = model.first, weakref.ref(model)
    use(model)
    del model
    assert parent() is None
    use(layer)


@pytest.mark.thorough
@pytest.mark.usefixtures("no_collector")
def test_a_state_or_a_graphdef_does_not_keep_the_model() -> None:
    model = Model()
    modules = modules_of(model)
    graphdef, state = nnx.split(model)
    del model
    assert alive(modules) == []
    assert nnx.merge(graphdef, state).first.name == "layer"


@pytest.mark.thorough
@pytest.mark.usefixtures("no_collector")
def test_a_clone_does_not_keep_the_original() -> None:
    model = Model()
    original = weakref.ref(model)
    clone = nnx.clone(model)
    del model
    assert original() is None
    assert clone.first.name == "layer"


@pytest.mark.thorough
@pytest.mark.usefixtures("no_collector")
def test_a_replaced_submodule_is_freed_although_the_parent_lives() -> None:
    model = Model()
    nnx.split(model)
    old = weakref.ref(model.first)
    model.first = Layer()
    assert old() is None, "a stale record of the parent must not hold what was replaced"


@pytest.mark.thorough
@pytest.mark.usefixtures("no_collector")
def test_a_value_that_was_overwritten_is_freed_although_records_exist() -> None:
    model = Model()
    nnx.split(model, nnx.Param, ...)
    old_value, old_array = weakref.ref(model.first.kernel[...]), weakref.ref(model.first.scale)
    model.first.kernel[...] = jnp.zeros((2,))
    model.first.scale = jnp.zeros(())
    assert (old_value(), old_array()) == (None, None)


def live_objects() -> int:
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.thorough
def test_models_that_share_a_variable_leave_nothing_behind() -> None:
    kernel = nnx.Param(jnp.ones((2,)))

    def make_and_split(count: int) -> None:
        for _ in range(count):
            nnx.split(Layer(kernel))

    make_and_split(100)
    objects = live_objects()
    tracemalloc.start()
    try:
        make_and_split(100)
        sizes = []
        for _ in range(3):
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
            make_and_split(2000)
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert live_objects() - objects < 200
    # A table of the whole process may be made anew once, where other tests have filled it.
    growth = [after - before for before, after in itertools.pairwise(sizes)]
    assert sorted(growth)[1] < 64_000, "less than 32 bytes for each of 2,000 models"


@pytest.mark.thorough
def test_models_that_share_a_submodule_leave_nothing_behind() -> None:
    layer = Layer()

    def make_and_split(count: int) -> None:
        for _ in range(count):
            nnx.state(Model(layer), nnx.Param)

    make_and_split(50)
    objects = live_objects()
    make_and_split(300)
    assert live_objects() - objects < 200


def graphdefs(first: int, count: int) -> list[tp.Any]:
    """Return graphdefs that differ in one static attribute."""
    made = []
    for number in range(first, first + count):
        layer = Layer()
        layer.name = f"layer {number}"
        made.append(nnx.graphdef(layer))
    return made


@pytest.mark.thorough
def test_the_intern_tables_shrink_when_graphdefs_die() -> None:
    graphdefs(0, 100)
    before = live_objects()
    kept = graphdefs(1000, 1000)
    assert len(set(kept)) == 1000
    del kept
    assert live_objects() - before < 200


@pytest.mark.thorough
def test_a_static_value_dies_with_the_last_graphdef() -> None:
    class Setting:
        """A static value that can be watched."""

    layer: tp.Any = Layer()
    layer.setting = Setting()
    setting = weakref.ref(layer.setting)
    graphdef = nnx.graphdef(layer)
    hash(graphdef)
    del layer
    assert setting() is not None
    del graphdef
    gc.collect()
    assert setting() is None
