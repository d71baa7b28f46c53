"""`load` fills a model so that it computes what Linen does, or says all that is in the way."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax.core import freeze

from tests.codegen.migrate.linen.weights.models import (
    MAP,
    ROWS,
    LinenNet,
    entries,
    linen_variables,
    model_with,
    new_net,
)
from typed_nnx_codegen.migrate import weights
from typed_nnx_codegen.migrate.weight_map import WeightMap, weight_map_from_json


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
