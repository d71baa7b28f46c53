"""The cached record: after every kind of write, all that uses it equals a fresh traversal."""

from __future__ import annotations

import dataclasses
import gc
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from tests.graph.oracle import value_view, walk
from typed_nnx._graph.record import record_of
from typed_nnx._graph.traversal import Traversal


class Layer(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones(2), note="n")
        self.scale = jnp.ones(())
        self.name = "layer"
        self.options = (1, 2)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Box:
    """A mutable pytree that jax knows."""

    inside: tp.Any
    label: str = dataclasses.field(default="box", metadata={"static": True})


class Model(nnx.Module):
    def __init__(self) -> None:
        self.layer: tp.Any = Layer()
        self.same: tp.Any = self.layer
        self.items: tp.Any = nnx.List([Layer(), nnx.Param(jnp.zeros(1)), 3])
        self.named: tp.Any = nnx.Dict(a=Layer(), n=4)
        self.plain: tp.Any = nnx.data(
            [nnx.Param(jnp.ones(1)), jnp.zeros(1), 5, {"x": Layer(), "n": 1}]
        )
        self.box: tp.Any = nnx.data(Box(nnx.Param(jnp.ones(1))))
        self.pair: tp.Any = nnx.data((jnp.zeros(1), [nnx.Param(jnp.ones(1))]))
        self.optimizer: tp.Any = nnx.data(optax.adam(1e-3).init({"w": jnp.ones(1)}))
        obj: tp.Any = nnx.Object()
        self.obj = obj
        obj.stuff = [jnp.ones(1), {"deep": nnx.Param(jnp.ones(1))}]
        self.flag: tp.Any = False
        self.me: tp.Any = self


def delete(node: tp.Any, *names: tp.Any) -> None:
    for name in names:
        if isinstance(node, nnx.List | nnx.Dict | list | dict):
            del node[name]
        else:
            delattr(node, name)


def write_statics(model: tp.Any) -> None:
    model.layer.name = "b"
    model.layer.kernel.set_metadata(note="c")
    model.flag = 1


Write = tp.Callable[[tp.Any], object]
STATIC: dict[str, Write] = {
    "flag": lambda m: setattr(m, "flag", True),
    "true for one": lambda m: setattr(m.layer, "options", (True, 2)),
    "inner static": lambda m: setattr(m.layer, "name", "other"),
    "list static": lambda m: m.items.__setitem__(2, 8),
    "dict static": lambda m: m.named.__setitem__("n", 8),
    "static below a List": lambda m: setattr(m.items[0], "name", "other"),
    "train": lambda m: m.set_attributes(name="all"),
    "set metadata": lambda m: m.layer.kernel.set_metadata(note="other"),
    "new metadata": lambda m: m.layer.kernel.set_metadata(more=1),
    "delete metadata": lambda m: m.layer.kernel.del_metadata("note"),
    "metadata of all": lambda m: nnx.set_metadata(m, note="all"),
    "static and metadata": write_statics,
}
VALUES: dict[str, Write] = {
    "variable value": lambda m: m.layer.kernel.__setitem__(..., jnp.zeros(2)),
    "variable part": lambda m: m.layer.kernel.__setitem__(0, 5.0),
    "variable of another shape": lambda m: m.layer.kernel.set_value(jnp.zeros((3, 3))),
    "array over array": lambda m: setattr(m.layer, "scale", jnp.zeros((4,), jnp.int32)),
    "numpy over array": lambda m: setattr(m.layer, "scale", np.zeros(2)),
    "number over array": lambda m: setattr(m.layer, "scale", 4),
    "update": lambda m: nnx.update(m, jax.tree.map(lambda x: x + 1, nnx.state(m, nnx.Variable))),
    "same object": lambda m: setattr(m, "layer", m.layer),
    "same static": lambda m: setattr(m, "flag", m.flag),
}
ROOTS: dict[str, tp.Callable[[tp.Any], tp.Any]] = {
    "root": lambda m: m,
    "submodule": lambda m: m.layer,
    "list": lambda m: m.items,
    "dict": lambda m: m.named,
    "object": lambda m: m.obj,
}


def of_values(state: tp.Any) -> list[tp.Any]:
    return [(path, id(leaf), value_view(leaf)) for path, leaf in nnx.to_flat_state(state)]


def assert_fresh(root: tp.Any) -> None:
    """Assert that everything that uses the record of `root` is as without a record."""
    traversal = Traversal().visit(root)
    structure = traversal.graphdef
    leaves = list(zip(structure.layout.paths, traversal.values(), strict=True))
    graphdef, state = nnx.split(root)
    assert graphdef == structure == nnx.graphdef(root)
    expected = [(path, id(leaf), value_view(leaf)) for path, leaf in leaves]
    by_path = sorted(expected, key=lambda entry: repr(entry[0]))
    for found in (state, nnx.state(root)):
        assert sorted(of_values(found), key=lambda entry: repr(entry[0])) == by_path
    pairs = zip(expected, leaves, strict=True)
    params = [entry for entry, (_, leaf) in pairs if isinstance(leaf, nnx.Param)]
    found = of_values(nnx.state(root, nnx.Param))
    assert sorted(found, key=repr) == sorted(params, key=repr)
    assert walk(nnx.clone(root)) == walk(root) == walk(nnx.merge(graphdef, state))


def warmed() -> tuple[tp.Any, dict[str, tp.Any]]:
    """Return a model all of whose parts have a record with plans, and the parts."""
    model = Model()
    roots = {name: find(model) for name, find in ROOTS.items()}
    for root in roots.values():
        assert_fresh(root)
    return model, roots


@pytest.mark.parametrize("write", STATIC.values(), ids=STATIC.keys())
def test_a_static_write_patches_the_record(write: Write) -> None:
    model, _ = warmed()
    record = record_of(model)
    before = record.graphdef
    write(model)
    assert record_of(model) is record
    assert record.graphdef != before


@pytest.mark.parametrize("write", VALUES.values(), ids=VALUES.keys())
def test_a_write_of_a_value_keeps_record_and_structure(write: Write) -> None:
    model, _ = warmed()
    record = record_of(model)
    before = record.graphdef
    write(model)
    assert record_of(model) is record
    assert record.graphdef is before


def test_a_write_in_one_part_keeps_the_records_of_the_others() -> None:
    model, roots = warmed()
    records = {name: record_of(root) for name, root in roots.items()}
    model.items.append(Layer())
    kept = {name for name, root in roots.items() if record_of(root) is records[name]}
    # The Dict, the Object and the layer do not hold the List.
    assert kept == {"submodule", "dict", "object"}


def test_writing_back_the_old_static_value_gives_the_old_structure() -> None:
    model, _ = warmed()
    before = nnx.graphdef(model)
    model.flag = True
    assert nnx.graphdef(model) != before
    model.flag = False
    assert nnx.graphdef(model) == before


@pytest.mark.thorough
def test_a_model_that_died_does_not_disturb_its_layer() -> None:
    shared: tp.Any = Layer()
    nnx.split(nnx.List([shared]))
    gc.collect()
    shared.name = "other"
    shared.bias = nnx.Param(jnp.ones(1))
    assert_fresh(shared)


def test_a_filter_that_depends_on_values_is_asked_every_time() -> None:
    model = nnx.Dict(a=nnx.Param(1.0), b=nnx.Param(-1.0))

    def positive(path: tp.Any, leaf: tp.Any) -> bool:
        return bool(leaf.get_value() > 0)

    assert list(nnx.state(model, positive)) == ["a"]
    model["b"].set_value(2.0)
    model["a"].set_value(-2.0)
    assert list(nnx.state(model, positive)) == ["b"]


SNEAKY: dict[str, Write] = {
    "structure": lambda m: vars(m.layer).__setitem__("kernel", nnx.Cache(jnp.zeros(1))),
    "static": lambda m: vars(m.layer).__setitem__("name", "sneaky"),
    "new": lambda m: vars(m.layer).__setitem__("bias", nnx.Param(jnp.ones(1))),
    "gone": lambda m: m.__dict__.pop("same"),
}


@pytest.mark.parametrize("write", SNEAKY.values(), ids=SNEAKY.keys())
def test_invalidate_makes_a_write_past_us_seen(write: Write) -> None:
    model, roots = warmed()
    write(model)
    nnx.invalidate(model)
    for root in roots.values():
        assert_fresh(root)


@pytest.mark.parametrize("write", SNEAKY.values(), ids=SNEAKY.keys())
def test_the_verifying_mode_finds_a_write_past_us(write: Write) -> None:
    model, _ = warmed()
    write(model)
    with nnx.set_verify_records(True), pytest.raises(nnx.errors.StaleRecordError) as caught:
        nnx.split(model)
    assert "Model" in str(caught.value)
    assert "Fix: call nnx.invalidate(model)" in str(caught.value)
    nnx.invalidate(model)
    with nnx.set_verify_records(True):
        nnx.split(model)


def test_the_verifying_mode_accepts_honest_writes() -> None:
    model, roots = warmed()
    with nnx.set_verify_records(True):
        for write in (*STATIC.values(), *VALUES.values()):
            write(model)
            for root in roots.values():
                nnx.split(root)
