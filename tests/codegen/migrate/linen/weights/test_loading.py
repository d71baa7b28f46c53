"""`load` fills a model so that it computes what Linen does, or says all that is in the way."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx
from flax.core import freeze

import typed_nnx
from tests.codegen.migrate.linen.weights.models import MAP, LinenNet, classes
from tests.codegen.migrate.linen.weights.perturbed import perturbed
from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.weight_map import WeightMap, weight_map_from_json

ROWS = jax.random.normal(jax.random.key(1), (2, 5))


@pytest.fixture(params=[typed_nnx, flax_nnx], ids=["typed_nnx", "flax.nnx"])
def nnx(request: pytest.FixtureRequest) -> Any:
    return request.param


def linen_variables() -> dict[str, Any]:
    return dict(perturbed(LinenNet().init(jax.random.key(0), ROWS)))


def new_net(nnx: Any, width: int = 5) -> Any:
    return classes(nnx).Net(in_features=width, rngs=nnx.Rngs(0))


def entries(**variables: Any) -> dict[str, Any]:
    """Return a map for a class `Model` with one entry per keyword; `__` stands for a slash."""
    return {"classes": {"Model": {"variables": variables}}}


def model_with(nnx: Any, **attributes: Any) -> Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

    return Model()


def test_a_filled_model_computes_what_linen_does(nnx: Any) -> None:
    variables = linen_variables()
    model = new_net(nnx)

    weights.load(variables, model, MAP)

    expected = LinenNet().apply(variables, ROWS)
    np.testing.assert_allclose(model(ROWS), expected, rtol=1e-5, atol=1e-5)


def test_frozen_variables_and_a_read_map_do_as_well(nnx: Any) -> None:
    model = new_net(nnx)

    weights.load(freeze(linen_variables()), model, weight_map_from_json(MAP))

    np.testing.assert_array_equal(model.gain[...], linen_variables()["params"]["gain"])


def test_the_map_may_be_a_path_or_several_maps(nnx: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.migration.json"
    both = weight_map_from_json(MAP)
    path.write_text(WeightMap({"Net": both.classes["Net"]}).text())
    model = new_net(nnx)

    weights.load(linen_variables(), model, [path, WeightMap({"Block": both.classes["Block"]})])

    np.testing.assert_array_equal(model.gain[...], linen_variables()["params"]["gain"])


def test_a_model_may_be_abstract(nnx: Any) -> None:
    model = nnx.eval_shape(lambda: new_net(nnx))

    weights.load(linen_variables(), model, MAP)

    np.testing.assert_array_equal(model.gain.get_value(), linen_variables()["params"]["gain"])


def test_the_class_may_have_another_name_in_the_map(nnx: Any) -> None:
    renamed = {"classes": {"Block": MAP["classes"]["Block"], "Old": MAP["classes"]["Net"]}}
    model = new_net(nnx)

    weights.load(linen_variables(), model, renamed, class_name="Old")

    np.testing.assert_array_equal(model.gain[...], linen_variables()["params"]["gain"])


# -- what is wrong is listed, and nothing is changed ---------------------------------------------


def snapshot(nnx: Any, model: Any) -> Any:
    state = nnx.state(model, nnx.Not(nnx.RngState))
    return jax.tree.map(np.asarray, nnx.to_pure_dict(state))


def test_all_problems_are_listed_at_once_and_nothing_is_changed(nnx: Any) -> None:
    variables = copy.deepcopy(linen_variables())
    params = variables["params"]
    params["more"] = {"kernel": jnp.ones((2, 2))}
    del params["gain"]
    params["head"]["kernel"] = jnp.ones((3, 5))
    params["head"]["bias"] = jnp.ones((4,), jnp.int32)
    model = new_net(nnx)
    before = snapshot(nnx, model)

    with pytest.raises(weights.WeightsError) as error:
        weights.load(variables, model, MAP)

    text = str(error.value)
    assert "gain Param float32[3]" in text
    assert "params/more/kernel float32[2, 2]: no entry of Net is for params/more/kernel" in text
    assert "params/head/kernel -> head.kernel: found float32[3, 5], expected float32[3, 4]" in text
    assert "params/head/bias -> head.bias: found int32[4], expected float32[4]" in text
    assert "RngKey" not in text
    assert text.count("Fix: ") == 4
    jax.tree.map(np.testing.assert_array_equal, before, snapshot(nnx, model))


def test_what_is_missing_or_extra_may_be_ignored(nnx: Any) -> None:
    variables = copy.deepcopy(linen_variables())
    variables["params"]["more"] = jnp.ones(2)
    del variables["params"]["gain"]
    model = new_net(nnx)

    loaded = weights.load(variables, model, MAP, strict=False)

    assert loaded.missing == ("gain Param float32[3]",)
    assert loaded.extra == ("params/more float32[2]: no entry of Net is for params/more",)
    np.testing.assert_array_equal(
        model.head.kernel[...], linen_variables()["params"]["head"]["kernel"]
    )


def test_a_wrong_shape_cannot_be_ignored(nnx: Any) -> None:
    with pytest.raises(weights.WeightsError, match="wrong shapes"):
        weights.load(linen_variables(), new_net(nnx, width=6), MAP, strict=False)


def test_the_content_of_params_is_not_taken_for_variables(nnx: Any) -> None:
    with pytest.raises(weights.WeightsError, match=r'load\(\{"params": params\}'):
        weights.load(linen_variables()["params"], new_net(nnx), MAP)


def test_a_target_that_leads_nowhere_is_told(nnx: Any) -> None:
    wrong = copy.deepcopy(MAP)
    wrong["classes"]["Net"]["variables"]["params/gain"] = "gains"

    with pytest.raises(weights.WeightsError, match=r"gains: Net has no 'gains'"):
        weights.load(linen_variables(), new_net(nnx), wrong)


def test_a_target_that_is_no_variable_is_told(nnx: Any) -> None:
    wrong = copy.deepcopy(MAP)
    wrong["classes"]["Net"]["variables"]["params/gain"] = "head"

    with pytest.raises(weights.WeightsError, match="params/gain"):
        weights.load(linen_variables(), new_net(nnx), wrong)


def test_more_items_than_the_list_has_are_told(nnx: Any) -> None:
    variables = copy.deepcopy(linen_variables())
    variables["params"]["LinenBlock_2"] = variables["params"]["LinenBlock_1"]

    with pytest.raises(weights.WeightsError, match=r"blocks.\{i\}: List at blocks has no '2'"):
        weights.load(variables, new_net(nnx), MAP)


def test_a_class_without_entries_is_told(nnx: Any) -> None:
    only = {"classes": {"Net": MAP["classes"]["Net"]}}

    with pytest.raises(weights.WeightsError, match="says nothing of the class Block"):
        weights.load(linen_variables(), new_net(nnx), only)


def test_two_values_for_one_place_are_told(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros(2)))
    wrong = entries(**{"params/x": "a", "params/y": "a"})

    with pytest.raises(weights.WeightsError, match="a: params/x and params/y"):
        weights.load({"params": {"x": jnp.ones(2), "y": jnp.zeros(2)}}, model, wrong)


def test_something_that_is_no_model_is_told() -> None:
    with pytest.raises(weights.WeightsError, match="the model is a dict"):
        weights.load(linen_variables(), {}, MAP)


# -- entries -------------------------------------------------------------------------------------


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
    class Net(classes(nnx).Net):
        pass

    Net.__name__ = "Finer"
    model = Net(in_features=5, rngs=nnx.Rngs(0))

    weights.load(linen_variables(), model, MAP)

    np.testing.assert_array_equal(model.gain[...], linen_variables()["params"]["gain"])


# -- values --------------------------------------------------------------------------------------


def test_floats_are_cast_to_other_floats_and_that_is_said(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros(2, jnp.bfloat16)))

    loaded = weights.load({"params": {"x": jnp.ones(2)}}, model, entries(**{"params/x": "a"}))

    assert loaded.cast == ("params/x -> a: float32 cast to bfloat16",)
    assert model.a[...].dtype == jnp.bfloat16


def test_boxes_are_opened(nnx: Any) -> None:
    dense = nn.Dense(3, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "model")))
    variables = dense.init(jax.random.key(0), ROWS)
    layer = nnx.Linear(5, 3, rngs=nnx.Rngs(0))

    weights.load(variables, layer, {})

    np.testing.assert_array_equal(layer.kernel[...], np.ones((5, 3)))


def test_a_variable_may_hold_a_tree_of_arrays(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param({"w": jnp.zeros(2), "v": {"u": jnp.zeros(3)}}))
    tree = {"w": jnp.ones(2), "v": {"u": jnp.full(3, 2.0)}}

    weights.load({"params": {"x": tree}}, model, entries(**{"params/x": "a"}))

    assert jax.tree.map(lambda x: x.tolist(), model.a.get_value()) == {
        "w": [1.0, 1.0],
        "v": {"u": [2.0, 2.0, 2.0]},
    }


def test_a_tree_of_another_form_is_told(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param({"w": jnp.zeros(2)}))

    with pytest.raises(weights.WeightsError, match=r"found values at \['v'\], expected \['w'\]"):
        weights.load({"params": {"x": {"v": jnp.ones(2)}}}, model, entries(**{"params/x": "a"}))


def test_keys_of_random_numbers_are_values_too(nnx: Any) -> None:
    kind = type("Noise", (nnx.Variable,), {})
    model = model_with(nnx, a=kind(jax.random.key(0)))

    weights.load({"noise": {"x": jax.random.key(5)}}, model, entries(**{"noise/x": "a"}))
    assert jnp.array_equal(
        jax.random.key_data(model.a.get_value()), jax.random.key_data(jax.random.key(5))
    )

    weights.load({"noise": {"x": jax.random.PRNGKey(6)}}, model, entries(**{"noise/x": "a"}))
    assert jnp.array_equal(jax.random.key_data(model.a.get_value()), jax.random.PRNGKey(6))


def test_a_plain_array_attribute_is_filled(nnx: Any) -> None:
    model = model_with(nnx, table=jnp.zeros(2))

    weights.load({"constants": {"t": jnp.ones(2)}}, model, entries(**{"constants/t": "table"}))

    assert model.table.tolist() == [1.0, 1.0]
