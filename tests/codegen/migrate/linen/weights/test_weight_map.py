"""The map in a file: what is read is what was written, and a wrong file is told with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from typed_nnx_codegen.migrate.weight_map import (
    ClassMap,
    Lifted,
    Target,
    WeightMap,
    WeightMapError,
    map_path,
    read_weight_map,
    weight_map_from_json,
    weight_map_from_text,
)

FULL: dict[str, Any] = {
    "version": 1,
    "renamed": {"OldClass": "NewClass"},
    "classes": {
        "NewClass": {
            "lifted": [
                {"name": "in_features", "expr": "x.shape[-1]"},
                {"name": "ctx_features", "arg": "context", "axis": -1},
            ],
            "variables": {
                "params/encoder/Dense_{i}/kernel": "encoder.layers.{i}.kernel",
                "params/blocks/Dense_0/kernel": {"to": "blocks.{i}.dense.kernel", "unstack": 0},
                "params/attn/query/kernel": {"to": "attn.query.kernel", "reshape": [-1, 8, 64]},
                "params/out/kernel": {"to": "out.kernel", "transpose": [1, 0]},
                "params/unused": None,
            },
        }
    },
}


def test_every_key_of_the_format_is_read() -> None:
    read = weight_map_from_json(FULL)

    known = read.classes["NewClass"]
    assert read.new_name("OldClass") == "NewClass"
    assert [each.expression for each in known.lifted] == ["x.shape[-1]", "context.shape[-1]"]
    assert known.variables["params/blocks/Dense_0/kernel"] == Target(
        "blocks.{i}.dense.kernel", unstack=0
    )
    assert known.variables["params/attn/query/kernel"] == Target(
        "attn.query.kernel", reshape=(-1, 8, 64)
    )
    assert known.variables["params/out/kernel"] == Target("out.kernel", transpose=(1, 0))
    assert known.variables["params/unused"] is None


def test_what_is_written_is_read_again() -> None:
    assert json.loads(weight_map_from_json(FULL).text()) == FULL


def test_every_key_may_be_absent() -> None:
    assert weight_map_from_json({}) == WeightMap()
    assert weight_map_from_json({"classes": {"A": {}}}).classes["A"] == ClassMap()


def test_an_axis_that_is_absent_is_the_last() -> None:
    read = weight_map_from_json({"classes": {"A": {"lifted": [{"name": "n", "arg": "x"}]}}})

    assert read.classes["A"].lifted == (Lifted("n", arg="x", axis=-1),)


def test_the_map_is_beside_the_file(tmp_path: Path) -> None:
    assert map_path(tmp_path / "models.py") == tmp_path / "models.migration.json"


def test_of_two_maps_the_first_counts() -> None:
    one = WeightMap({"A": ClassMap((Lifted("n", expr="1"),))})
    other = WeightMap({"A": ClassMap(), "B": ClassMap()}, {"Old": "B"})

    merged = one.merged(other)

    assert merged.classes["A"].lifted == (Lifted("n", expr="1"),)
    assert set(merged.classes) == {"A", "B"}
    assert merged.new_name("Old") == "B"


def variables(entries: object) -> dict[str, Any]:
    return {"classes": {"A": {"variables": entries}}}


def lifted(*entries: object) -> dict[str, Any]:
    return {"classes": {"A": {"lifted": list(entries)}}}


WRONG: dict[str, tuple[object, str]] = {
    "a list": ([], "the map: it is \\[\\]"),
    "an unknown key": ({"vers": 1}, r"the map: \['vers'\] are not known"),
    "a later version": ({"version": 2}, "version: it is 2"),
    "a name that is a number": ({"renamed": {"A": 1}}, "renamed: A: it is 1"),
    "classes in a list": ({"classes": []}, "classes: it is"),
    "an unknown key of a class": ({"classes": {"A": {"vars": {}}}}, "A: .'vars'. are not known"),
    "lifted in an object": ({"classes": {"A": {"lifted": {}}}}, "A: lifted: it is"),
    "lifted without a name": (lifted({"expr": "1"}), "lifted: name: it is missing"),
    "lifted with neither": (lifted({"name": "n"}), "n: it has .'name'."),
    "lifted with both": (lifted({"name": "n", "expr": "1", "arg": "x"}), "either"),
    "an axis with expr": (lifted({"name": "n", "expr": "1", "axis": 0}), "says nothing"),
    "an axis that is none": (lifted({"name": "n", "arg": "x", "axis": "0"}), "axis: it is '0'"),
    "expr that is no Python": (lifted({"name": "n", "expr": "x["}), "is not Python"),
    "a target that is a number": (variables({"params/a": 1}), "params/a: it is 1"),
    "a target without to": (variables({"params/a": {"unstack": 0}}), "to: it is missing"),
    "an unknown key of a target": (variables({"params/a": {"to": "a", "x": 1}}), "not known"),
    "an empty part": (variables({"params//a": "a"}), "a part of it is empty"),
    "an empty part in the target": (variables({"params/a": "a..b"}), "a part of it is empty"),
    "a brace without partner": (variables({"params/{i": "a"}), "has no partner"),
    "braces with something else": (variables({"params/{i*i}": "a"}), "neither a name"),
    "a name from nowhere": (variables({"params/a": "a.{i}"}), r"\{i\} of 'a.\{i\}'"),
    "unstack without a name": (variables({"params/a": {"to": "a", "unstack": 0}}), "no name"),
    "unstack with two names": (
        variables({"params/a": {"to": "a.{i}.{j}", "unstack": 0}}),
        "one name in braces",
    ),
    "transpose that is no order": (
        variables({"params/a": {"to": "a", "transpose": [0, 2]}}),
        "each axis once",
    ),
    "a shape with text": (variables({"params/a": {"to": "a", "reshape": ["-1"]}}), "whole number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_map_is_told_with_its_place_and_a_remedy(name: str) -> None:
    said, message = WRONG[name]

    with pytest.raises(WeightMapError, match=message) as error:
        weight_map_from_json(said)

    assert "Fix: " in str(error.value)


def test_text_that_is_no_json_is_told_with_its_line() -> None:
    with pytest.raises(WeightMapError, match="models.migration.json:2: this is not JSON"):
        weight_map_from_text('{\n"a" 1}', "models.migration.json")


def test_a_path_that_stands_twice_is_told() -> None:
    text = '{"classes": {"A": {"variables": {"params/a": "a", "params/a": "b"}}}}'

    with pytest.raises(WeightMapError, match="'params/a'. stand twice"):
        weight_map_from_text(text)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WeightMapError, match="none.migration.json: the map cannot be read"):
        read_weight_map(tmp_path / "none.migration.json")
