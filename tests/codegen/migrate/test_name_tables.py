"""The table of public names is what the runtimes offer, and questions about names are answered."""

from __future__ import annotations

from pathlib import Path

import flax
import pytest

from typed_nnx_codegen.migrate import name_tables
from typed_nnx_codegen.migrate.analysis.name_lookup import TABLE, canonical, has_module, has_name

WRITTEN_FROM = f"from flax {flax.__version__}."

of_this_flax = pytest.mark.skipif(
    WRITTEN_FROM not in TABLE.read_text(encoding="utf-8"),
    reason=f"the committed file was not written from flax {flax.__version__}",
)


@of_this_flax
def test_the_committed_file_is_what_the_generator_writes() -> None:
    assert name_tables.main(["--check"]) == 0, f"Fix: {name_tables.COMMAND}"


def test_check_refuses_a_changed_file_and_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "nnx_names.txt"
    changed.write_text(name_tables.render() + "\n", encoding="utf-8")
    monkeypatch.setattr(name_tables, "TABLE", changed)
    assert name_tables.main(["--check"]) == 1
    assert f"Fix: {name_tables.COMMAND}" in capsys.readouterr().err
    assert name_tables.main(["--write"]) == 0
    assert name_tables.main(["--check"]) == 0


@pytest.mark.parametrize("runtime", ["flax.nnx", "typed_nnx"])
@pytest.mark.parametrize(
    "name",
    [
        *("Linear", "split", "nn.linear.Linear", "graph.split", "statelib.State", "compat.jit"),
        *("metrics.Average", "training.optimizer.Optimizer", "initializers.zeros", "bridge.ToNNX"),
        *("nn.activations.relu", "filterlib.Filter", "metrics", "spmd.PARTITION_NAME", "nn.linear"),
    ],
)
def test_both_runtimes_have_what_programs_import(runtime: str, name: str) -> None:
    assert has_name(runtime, name)


@pytest.mark.parametrize(
    ("name", "runtimes"),
    [
        ("errors.NnxError", set()),
        ("GraphNode", set()),
        ("Sequence", set()),
        ("split.Linear", set()),
        ("array_ref", {"typed_nnx"}),
        ("extract.to_tree", {"flax.nnx"}),
        ("bridge.ToLinen", {"flax.nnx", "typed_nnx"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_one_runtime_has_need_not_be_in_the_other(name: str, runtimes: set[str]) -> None:
    assert {each for each in ("flax.nnx", "typed_nnx") if has_name(each, name)} == runtimes


def test_an_attribute_may_be_a_module_that_import_does_not_find() -> None:
    assert has_module("flax.nnx", "training.metrics")
    assert not has_module("flax.nnx", "metrics")
    assert has_module("flax.nnx", "extract")
    assert not has_module("typed_nnx", "extract")


@pytest.mark.parametrize(
    ("name", "shortest"),
    [
        ("Linear", "Linear"),
        ("nn.linear.Linear", "Linear"),
        ("metrics.MultiMetric", "MultiMetric"),
        ("training.metrics.Average", "training.metrics.Average"),
        ("object.Object", "Object"),
        ("bridge.Module", "bridge.Module"),
        ("compat.split", "compat.split"),
        ("mine.Linear", "mine.Linear"),
    ],
)
def test_a_name_of_a_module_is_shortened_where_it_is_the_same_object(
    name: str, shortest: str
) -> None:
    assert canonical(name) == shortest
