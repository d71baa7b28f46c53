"""copy, deepcopy, pickle and cloudpickle keep values, metadata, sharing and cycles."""

from __future__ import annotations

import copy
import pickle
import sys
import textwrap
import typing as tp
from pathlib import Path

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import typed_nnx as nnx
from tests.graph.oracle import objects_by_path, value_view, walk
from tests.graph.worlds import Recipe, World, graphs
from tests.support.processes import run_process


class Layer(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones((2,)), note="n", sizes=(1, 2))
        self.scale = jnp.ones(())
        self.name = "layer"


class Tied(nnx.Module):
    def __init__(self) -> None:
        self.first = Layer()
        self.second = self.first
        self.kernel = self.first.kernel
        self.me = self
        self.items = nnx.List([self.first, nnx.Dict({"a": Layer()})])
        self.plain = nnx.data({"k": [self.kernel, None]})
        self.options = ["a", {"b": 1}]


class Leaf(nnx.Pytree):
    def __init__(self) -> None:
        self.array = jnp.arange(3)
        self.label = "leaf"


class Loose(nnx.Object):
    def __init__(self) -> None:
        self.items = [jnp.ones(()), "a", nnx.Cache(jnp.zeros((1,)))]


class Special(nnx.Param):
    pass


MAKERS: dict[str, tp.Callable[[], tp.Any]] = {
    "Variable": lambda: nnx.Variable(jnp.ones((2, 3)), note="n"),
    "Variable subclass": lambda: Special(3.0, note=("a", 1)),
    "Variable of a tuple": lambda: nnx.Intermediate((jnp.ones(()), jnp.zeros((1,)))),
    "Pytree": Leaf,
    "Object": Loose,
    "Module": Tied,
    "List": lambda: nnx.List([1, Layer(), jnp.ones(())]),
    "Dict": lambda: nnx.Dict({"a": Layer(), "b": 2}),
    "Rngs": lambda: nnx.Rngs(0, dropout=jax.random.key(1)),
    "containers": lambda: [Layer(), {"a": (Leaf(), None)}],
}


PICKLERS = {"pickle": pickle, "cloudpickle": cloudpickle}


every_pickler = pytest.mark.parametrize("pickler", PICKLERS.values(), ids=list(PICKLERS))


def leaves_of(state: tp.Any) -> list[tp.Any]:
    return [(path, value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


@every_pickler
@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_a_round_trip_keeps_values_metadata_and_identities(
    make: tp.Callable[[], tp.Any], pickler: tp.Any
) -> None:
    original = make()
    loaded = pickler.loads(pickler.dumps(original))
    assert walk(loaded) == walk(original)
    assert nnx.graphdef(loaded) == nnx.graphdef(original)


@every_pickler
def test_states_and_graphdefs_round_trip_and_merge(pickler: tp.Any) -> None:
    model = Tied()
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    loaded_graphdef, loaded_params, loaded_rest = pickler.loads(
        pickler.dumps((graphdef, params, rest))
    )
    assert loaded_graphdef == graphdef
    assert hash(loaded_graphdef) == hash(graphdef)
    assert isinstance(loaded_params, nnx.State)
    assert leaves_of(loaded_params) == leaves_of(params)
    assert [jax.tree.structure(loaded_params)] == [jax.tree.structure(params)]
    assert walk(nnx.merge(loaded_graphdef, loaded_params, loaded_rest)) == walk(model)


@every_pickler
def test_objects_pickled_together_stay_shared(pickler: tp.Any) -> None:
    layer = Layer()
    first, second = pickler.loads(pickler.dumps((nnx.List([layer]), layer)))
    assert first[0] is second
    kernel, owner = pickler.loads(pickler.dumps((layer.kernel, layer)))
    assert owner.kernel is kernel


def test_cloudpickle_keeps_lambdas_and_local_functions_as_static_attributes() -> None:
    factor = 3

    def scale(x: int) -> int:
        return x * factor

    layer: tp.Any = Layer()
    layer.scale_function = scale
    layer.twice = lambda x: 2 * x
    loaded = cloudpickle.loads(cloudpickle.dumps(layer))
    assert (loaded.scale_function(2), loaded.twice(2)) == (6, 4)
    graphdef, state = cloudpickle.loads(cloudpickle.dumps(nnx.split(layer)))
    assert nnx.merge(graphdef, state).twice(4) == 8


def test_cloudpickle_keeps_classes_that_are_local_to_a_function() -> None:
    class Local(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones((2,)))
            self.kind = "local"

        def double(self) -> jax.Array:
            return self.w * 2

    loaded = cloudpickle.loads(cloudpickle.dumps(Local()))
    np.testing.assert_array_equal(loaded.double(), np.full((2,), 2.0))
    assert list(nnx.state(loaded)) == ["w"]


SCRIPT = """
import pickle, sys
import cloudpickle, jax, jax.numpy as jnp
import typed_nnx as nnx

class Scale(nnx.Param):
    pass

class Net(nnx.Module):
    def __init__(self):
        self.w = Scale(jnp.ones((2,)), note="n")
        self.tied = self.w
        self.me = self
        self.activation = lambda x: x + 1
        self.items = nnx.List([nnx.BatchStat(jnp.zeros(()))])

    def __call__(self, x):
        return self.activation(x * self.w)

net = Net()
nnx.split(net)
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump((net, nnx.split(net, nnx.Param, ...)), file)
net.activation = None
again = pickle.loads(pickle.dumps(net))
assert type(again) is Net and type(again.w) is Scale and again.tied is again.w and again.me is again
assert nnx.graphdef(again) == nnx.graphdef(net)
graphdef, state = pickle.loads(pickle.dumps(nnx.split(net)))
assert graphdef == nnx.graphdef(net) and type(nnx.merge(graphdef, state)) is Net
"""


@pytest.mark.thorough
def test_classes_of_main_round_trip_and_load_in_another_process(tmp_path: Path) -> None:
    script, stored = tmp_path / "script.py", tmp_path / "net.pickle"
    script.write_text(textwrap.dedent(SCRIPT))
    done = run_process([sys.executable, script, stored])
    assert done.returncode == 0, done.stderr
    net, (graphdef, params, rest) = cloudpickle.loads(stored.read_bytes())
    assert type(net).__name__ == "Net"
    assert net.tied is net.w
    assert net.me is net
    np.testing.assert_array_equal(net(jnp.ones((2,))), np.full((2,), 2.0))
    np.testing.assert_array_equal(
        nnx.merge(graphdef, params, rest)(jnp.ones((2,))), np.full((2,), 2.0)
    )
    assert type(net.w).__name__ == "Scale"
    assert net.w.note == "n"


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_generated_graphs_survive_cloudpickle(graph: Recipe) -> None:
    root = World(nnx, graph).root
    loaded = cloudpickle.loads(cloudpickle.dumps(root))
    assert walk(loaded) == walk(root)
    originals, copies = objects_by_path(root), objects_by_path(loaded)
    assert [p for p, x in copies.items() if originals[p] is x] == []
    assert nnx.graphdef(loaded) == nnx.graphdef(root)


# -- copy and deepcopy keep values, metadata, sharing and cycles, and a deep copy shares nothing ----


def test_a_copied_variable_has_its_own_value_and_metadata() -> None:
    original = nnx.Param(jnp.ones((2,)), note="n")
    for duplicate in (copy.copy(original), copy.deepcopy(original)):
        assert type(duplicate) is nnx.Param
        assert duplicate.note == "n"
        duplicate[...] = jnp.zeros((2,))
        duplicate.set_metadata("note", "changed")
        duplicate.set_metadata("more", 1)
    np.testing.assert_array_equal(original[...], np.ones((2,)))
    assert original.note == "n"
    assert not original.has_metadata("more")


def test_a_deep_copy_of_a_variable_copies_containers_in_metadata() -> None:
    original = nnx.Param(jnp.ones((2,)), notes=["a"])
    duplicate = copy.deepcopy(original)
    duplicate.notes.append("b")
    assert original.notes == ["a"]


def test_a_shallow_copy_of_a_module_shares_children_but_not_attributes() -> None:
    original = Tied()
    duplicate = copy.copy(original)
    assert type(duplicate) is Tied
    assert duplicate.first is original.first
    assert duplicate.kernel is original.kernel
    before = walk(original)
    extended: tp.Any = duplicate
    extended.more = nnx.Param(jnp.zeros(()))
    extended.name = "static"
    del duplicate.second
    assert walk(original) == before
    assert [path for path, _ in nnx.to_flat_state(nnx.state(duplicate))][-1] == ("more",)


def test_a_deep_copy_works_on_after_its_original_has_been_split() -> None:
    original = Tied()
    nnx.split(original)
    duplicate: tp.Any = copy.deepcopy(original)
    duplicate.first.kernel = nnx.BatchStat(jnp.zeros(()))
    duplicate.items.append(Layer())
    assert len(nnx.to_flat_state(nnx.state(duplicate, nnx.BatchStat))) == 1
    assert len(nnx.to_flat_state(nnx.state(original, nnx.BatchStat))) == 0
    assert len(original.items) == 2


@pytest.mark.parametrize("make", [lambda: nnx.List([1, Layer()]), lambda: nnx.Dict({"a": Layer()})])
def test_a_copied_container_can_be_changed_alone(make: tp.Callable[[], tp.Any]) -> None:
    original = make()
    for duplicate in (copy.copy(original), copy.deepcopy(original)):
        assert walk(duplicate) == walk(original)
        duplicate.clear()
        assert len(duplicate) == 0
    assert len(original) > 0


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_deep_copies_of_generated_graphs_are_equal_and_share_no_object(graph: Recipe) -> None:
    root = World(nnx, graph).root
    duplicate = copy.deepcopy(root)
    assert walk(duplicate) == walk(root)
    originals, copies = objects_by_path(root), objects_by_path(duplicate)
    shared = [
        p
        for p, x in copies.items()
        if originals[p] is x and not isinstance(x, jax.Array | np.ndarray)
    ]
    assert shared == []
    assert nnx.graphdef(duplicate) == nnx.graphdef(root)
