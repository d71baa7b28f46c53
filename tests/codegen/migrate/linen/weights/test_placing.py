"""An entry of the map leads to its place: leaves, trees, stacks, other layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx
from tests.codegen.migrate.linen.weights.models import (
    MAP,
    classes,
    entries,
    linen_variables,
    model_with,
)
from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.weight_map import weight_map_from_json
from typed_nnx_codegen.verify.sides import import_side


def test_a_leaf_wins_over_the_tree_that_it_is_in(nnx: Any) -> None:
    model = model_with(
        nnx, a=nnx.Linear(2, 2, rngs=nnx.Rngs(0)), shift=nnx.Param(jnp.zeros(2)), rest=None
    )
    model.a.bias.set_value(jnp.full(2, 7.0))
    params = {"Dense_0": {"kernel": jnp.ones((2, 2)), "bias": jnp.full(2, 3.0)}}

    weights.load(
        {"params": params},
        model,
        entries(**{"params/Dense_0": "a", "params/Dense_0/bias": "shift"}),
        strict=False,
    )

    assert model.shift[...].tolist() == [3.0, 3.0]
    assert model.a.bias[...].tolist() == [7.0, 7.0]
    assert model.a.kernel[...].tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_null_drops_a_variable_and_a_tree(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros(2)))
    variables = {"params": {"x": jnp.ones(2), "y": {"z": jnp.ones(3), "w": jnp.ones(3)}}}

    loaded = weights.load(variables, model, entries(**{"params/x": "a", "params/y": None}))

    assert loaded.dropped == ("params/y/z", "params/y/w")


def test_a_stacked_axis_is_spread_over_a_list(nnx: Any) -> None:
    layers = nnx.List([nnx.Linear(2, 3, rngs=nnx.Rngs(0)) for _ in range(4)])
    model = model_with(nnx, layers=layers)
    kernel = jax.random.normal(jax.random.key(0), (2, 4, 3))
    bias = jax.random.normal(jax.random.key(1), (4, 3))

    weights.load(
        {"params": {"kernel": kernel, "bias": bias}},
        model,
        entries(
            **{
                "params/kernel": {"to": "layers.{i}.kernel", "unstack": 1},
                "params/bias": {"to": "layers.{i}.bias", "unstack": 0},
            }
        ),
    )

    for index in range(4):
        np.testing.assert_array_equal(model.layers[index].kernel[...], kernel[:, index])
        np.testing.assert_array_equal(model.layers[index].bias[...], bias[index])


def test_a_stack_of_another_size_than_the_list_is_told(nnx: Any) -> None:
    model = model_with(nnx, layers=nnx.List([nnx.Param(jnp.zeros(3)) for _ in range(2)]))

    with pytest.raises(weights.WeightsError, match=r"params/x\[2\].*List at layers has no '2'"):
        weights.load(
            {"params": {"x": jnp.ones((3, 3))}},
            model,
            entries(**{"params/x": {"to": "layers.{i}", "unstack": 0}}),
        )


def test_axes_are_transposed_and_then_reshaped(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros((3, 4))))
    value = jnp.arange(12.0).reshape(2, 2, 3)

    weights.load(
        {"params": {"x": value}},
        model,
        entries(**{"params/x": {"to": "a", "transpose": [2, 0, 1], "reshape": [3, -1]}}),
    )

    np.testing.assert_array_equal(model.a[...], np.asarray(value).transpose(2, 0, 1).reshape(3, 4))


def test_a_layout_that_does_not_fit_is_told(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros((3, 4))))

    with pytest.raises(weights.WeightsError, match="params/x float32.12. -> a"):
        weights.load(
            {"params": {"x": jnp.zeros(12)}},
            model,
            entries(**{"params/x": {"to": "a", "reshape": [5, -1]}}),
        )


def test_a_module_has_one_path_in_every_collection(nnx: Any) -> None:
    model = model_with(nnx, norm=nnx.BatchNorm(2, rngs=nnx.Rngs(0)))
    variables = {
        "params": {"bn": {"scale": jnp.full(2, 2.0), "bias": jnp.full(2, 3.0)}},
        "batch_stats": {"bn": {"mean": jnp.full(2, 4.0), "var": jnp.full(2, 5.0)}},
    }

    weights.load(variables, model, entries(**{"params/bn": "norm"}))

    assert model.norm.var[...].tolist() == [5.0, 5.0]


def test_entries_of_a_base_count_for_its_subclass(nnx: Any) -> None:
    base: Any = classes(nnx).Net

    class Net(base):
        pass

    Net.__name__ = "Finer"
    model = Net(in_features=5, rngs=nnx.Rngs(0))

    weights.load(linen_variables(), model, MAP)

    np.testing.assert_array_equal(model.gain[...], linen_variables()["params"]["gain"])


def test_an_entry_for_a_collection_is_for_a_module_that_shares_the_scope(nnx: Any) -> None:
    model = model_with(nnx, inner=nnx.Linear(2, 2, rngs=nnx.Rngs(0)), own=nnx.Param(jnp.zeros(2)))
    params = {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2), "own": jnp.full(2, 3.0)}

    weights.load({"params": params}, model, entries(**{"params": "inner", "params/own": "own"}))

    assert model.inner.bias[...].tolist() == [1.0, 1.0]
    assert model.own[...].tolist() == [3.0, 3.0]


def test_numbers_of_linen_may_be_computed_from_those_of_a_list(nnx: Any) -> None:
    model = model_with(
        nnx,
        first=nnx.Param(jnp.zeros(())),
        downs=nnx.List([nnx.Param(jnp.zeros(())) for _ in range(2)]),
        ups=nnx.List([nnx.Param(jnp.zeros(())) for _ in range(2)]),
    )
    params = {f"w_{number}": jnp.asarray(float(number)) for number in range(5)}

    weights.load(
        {"params": params},
        model,
        entries(
            **{
                "params/w_0": "first",
                "params/w_{2*i+1}": "downs.{i}",
                "params/w_{2*i+2}": "ups.{i}",
            }
        ),
    )

    assert [float(each[...]) for each in model.downs] == [1.0, 3.0]
    assert [float(each[...]) for each in model.ups] == [2.0, 4.0]


def test_the_map_beside_the_file_of_a_class_counts(tmp_path: Path) -> None:
    (tmp_path / "parts_of_models.py").write_text(
        "import typed_nnx as nnx\n"
        "class Part(nnx.Module):\n"
        "    def __init__(self, rngs):\n"
        "        self.dense = nnx.Linear(2, 2, rngs=rngs)\n"
    )
    beside = weight_map_from_json({"classes": {"Part": {"variables": {"params/D": "dense"}}}})
    (tmp_path / "parts_of_models.migration.json").write_text(beside.text())
    part = import_side(tmp_path / "parts_of_models.py").module.Part
    model = model_with(typed_nnx, part=part(typed_nnx.Rngs(0)))
    params = {"D": {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}}

    weights.load({"params": {"Part_0": params}}, model, entries(**{"params/Part_0": "part"}))
    alone = part(typed_nnx.Rngs(0))
    weights.load({"params": params}, alone)

    assert model.part.dense.bias[...].tolist() == [1.0, 1.0]
    assert alone.dense.bias[...].tolist() == [1.0, 1.0]


def test_a_key_with_dots_is_one_key(nnx: Any) -> None:
    blocks = nnx.Dict({"up_0.block_1": nnx.Linear(2, 2, rngs=nnx.Rngs(0))})
    model = model_with(nnx, blocks=blocks)
    params = {"up_0.block_1": {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}}

    weights.load(
        {"params": params},
        model,
        entries(**{"params/up_{i}.block_{j}": "blocks.up_{i}.block_{j}"}),
    )

    assert blocks["up_0.block_1"].bias[...].tolist() == [1.0, 1.0]
