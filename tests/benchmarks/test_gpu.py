"""The page on accelerators shows the kept figures, and without an accelerator nothing is written."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import jax
import pytest
from IPython.core.inputtransformer2 import TransformerManager

import typed_nnx as nnx
from benchmarks import gpu, gpu_page
from benchmarks.comparison_page import with_table
from benchmarks.dispatch_table import Row
from benchmarks.gpu_page import BEGIN, FIGURES, PAGE, Call, Figures, Return, Step

CONDITIONS = {
    "date": "2026-01-02",
    "device": "NVIDIA X",
    "python": "3.12.3",
    "jax": "1",
    "flax": "2",
    "equinox": "3",
    "optax": "4",
}
MADE = Figures(
    CONDITIONS,
    702,
    [Call("one read", 20e-6, {"ours": 1.054, "flax": 236.4}, 0.99)],
    "a decoder",
    1_200_000_000,
    [Step("`jax.jit`", 0.03, 1.0), Step("typed-nnx", 0.0312, 1.04, 9_870_000_000)],
    0.5,
    [Return("`nnx.update`", 0.0001, True), Return("`float(x)`", 0.5, False)],
)


def test_the_page_shows_the_figures_that_were_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text, Figures.read().tables(), BEGIN) == text


def test_the_tables_have_the_libraries_that_were_measured_and_the_conditions() -> None:
    assert MADE.tables() == (
        "| a compiled call with 702 Variables | `jax.jit` | typed-nnx | flax.nnx | `jax.jit` again |\n"
        "|---|---:|---:|---:|---:|\n"
        "| one read | 20 µs | 1.05 | 236 | 0.99 |\n\n"
        "| a step of a decoder; with adam's, its arrays take 1.20 GB | time | of `jax.jit` | peak memory |\n"
        "|---|---:|---:|---:|\n"
        "| `jax.jit` | 30.0 ms | 1.00 |  |\n"
        "| typed-nnx | 31.2 ms | 1.04 | 9.87 GB |\n\n"
        "| a call while the device computes, for 500 ms | returns after | waits |\n"
        "|---|---:|---:|\n"
        "| `nnx.update` | 0.10 ms | no |\n"
        "| `float(x)` | 500 ms | yes |\n\n"
        "Measured on 2026-01-02: NVIDIA X; Python 3.12.3, jax 1, flax 2, equinox 3, optax 4."
    )


def test_figures_are_read_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gpu.json"
    file.write_text(MADE.as_json(), encoding="utf-8")
    monkeypatch.setattr(gpu_page, "FIGURES", file)
    assert Figures.read() == MADE


def test_a_call_has_the_medians_of_its_turns() -> None:
    rows = [
        Row("x", 2, {"flat": floor}, {"ours": ours, "flat": 1.0}, again, "", None)
        for floor, ours, again in [(1.0, 1.5, 0.9), (2.0, 1.1, 1.0), (9.0, 1.2, 1.1)]
    ]
    assert gpu.call("a call", rows) == Call("a call", 2.0, {"ours": 1.2}, 1.0)


@pytest.mark.thorough
def test_the_state_of_a_task_is_its_parameters_three_times_and_two_counts() -> None:
    task = gpu.large_task(gpu.SMALL)
    leaves = jax.tree.leaves(nnx.state(task.make(nnx, nnx.Rngs(0)), nnx.Param))
    assert gpu.state_size(task) == 3 * sum(leaf.nbytes for leaf in leaves) + 8


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="there is an accelerator")
def test_without_an_accelerator_nothing_is_measured_or_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu", "--write"])
    monkeypatch.setattr(gpu, "measured", dataclasses.asdict)  # would fail
    before = FIGURES.read_bytes()
    gpu.main()
    assert FIGURES.read_bytes() == before
    assert capsys.readouterr().out.startswith("No accelerator: ")


def test_the_notebook_for_colab_installs_and_runs_what_the_page_says() -> None:
    page, notebook = (
        PAGE.read_text(encoding="utf-8"),
        PAGE.parents[1] / "examples/accelerator.ipynb",
    )
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for text in texts:
        compile(TransformerManager().transform_cell(text), str(notebook), "exec")
    (install,) = [text for text in texts if "%pip install" in text]
    for package in ("jax", "flax", "equinox", "pytest", "pytest-timeout", "hypothesis"):
        assert package in install
        assert package in page.rpartition("## Measure your own")[2]
    command = "make gpu PYTHON=python3"
    assert f"!{command}" in texts
    assert command in page
