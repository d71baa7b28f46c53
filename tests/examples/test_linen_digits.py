"""The demo from flax.linen to typed_nnx: what each step leaves is what it says."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import orbax.checkpoint as ocp
import pytest

import typed_nnx as nnx
from examples.linen_digits import planted
from examples.linen_digits.__main__ import STEPS
from examples.linen_digits.checking import BY_HAND
from examples.linen_digits.original import ORIGINAL
from examples.linen_digits.stage import TYPED
from examples.linen_digits.training import imported, new_model, restored, with_linen_weights
from tests.examples.linen_digits_run import Page, Run, run_demo
from tests.support.processes import run_process


@pytest.mark.thorough
def test_the_demo_succeeds_and_says_how_long_each_step_took(demo: Run) -> None:
    assert demo.code == 0, demo.said
    places = [demo.said.index(f"{number}. {step.title}") for number, step in enumerate(STEPS)]
    assert places == sorted(places)
    assert demo.said.count("done in") == len(STEPS) + 1  # and the report
    assert str(demo.out / "report.html") in demo.said


@pytest.mark.thorough
def test_the_commands_that_it_shows_are_those_to_repeat(demo: Run) -> None:
    # The codemod has nothing left to do, and the overlay is current.
    for line in (
        "typed-nnx migrate --linen digit_reader --check",
        "typed-nnx stubs digit_reader --check",
    ):
        assert line.removesuffix(" --check") in demo.said
        command = [str(Path(sys.executable).with_name("typed-nnx")), *line.split()[1:]]
        done = run_process(command, cwd=demo.out / "project")
        assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_the_diff_leads_from_the_linen_project_to_the_migrated_one(
    demo: Run, tmp_path: Path
) -> None:
    shutil.copytree(ORIGINAL, tmp_path / "digit_reader")
    diff = str(demo.out / "migrate.diff")
    run_process(["git", "apply", diff], cwd=tmp_path, check=True)
    for name in ("models.py", "train.py"):
        before, after = ORIGINAL / name, demo.out / "project" / "digit_reader" / name
        assert (tmp_path / "digit_reader" / name).read_text() == after.read_text()
        assert "flax.linen" in before.read_text() or "model.init" in before.read_text()
        assert "flax.linen" not in after.read_text()
        assert "model.init" not in after.read_text()


def test_the_migrated_loop_keeps_its_form_and_the_typed_one_is_written_by_hand(demo: Run) -> None:
    package = demo.out / "project/digit_reader"
    before, after = ((where / "train.py").read_text() for where in (ORIGINAL, package))
    assert "apply_fn=apply_of(model)" in after
    assert before[before.index("@jax.jit") :] == after[after.index("@jax.jit") :]
    assert (package / TYPED).read_text() == BY_HAND.read_text()
    assert f"{TYPED}, written by hand" in " ".join(demo.said.split())
    assert "training.update(grads)" in demo.said


def test_mypy_reports_the_planted_mistakes_at_their_lines(demo: Run) -> None:
    lines = planted.planted_text().splitlines()
    expected = {
        (next(n for n, line in enumerate(lines, 1) if mistake.wrong in line), mistake.code)
        for mistake in planted.MISTAKES
    }
    reports = (demo.out / "mypy-planted.txt").read_text().splitlines()[:-1]
    found = {(int(one.split(":")[1]), one.rpartition("[")[2].rstrip("]")) for one in reports}
    assert found == expected
    assert len(expected) == 2


def test_an_editor_completes_what_states_have_when_the_program_runs(demo: Run) -> None:
    page = Page((demo.out / "report.html").read_text())
    with imported(demo.out / "project") as project:
        model: Any = new_model(project, seed=0)
        names = {"state": nnx.state(model), "params": nnx.split(model, nnx.Param, ...)[1]}
        assert len(page.popups) == 5
        for code, fields in page.popups.items():
            value = eval(code.removesuffix("."), dict(names))
            assert {name for name, _ in fields} == set(value)
            for name, kind in fields:
                if isinstance(value[name], nnx.Variable):
                    assert kind == f"{type(value[name]).__name__}[Array]"


@pytest.mark.thorough
def test_the_checkpoint_has_what_the_migrated_program_trained(demo: Run) -> None:
    images = np.zeros((1, 8, 8, 1), np.float32)
    with imported(demo.out / "project") as project:
        fresh: Any = new_model(project, seed=7)
        model: Any = restored(project, demo.out / "checkpoints/digit_reader")
        assert not np.allclose(fresh(images), model(images))
        # Statistics, too: they begin at 0.
        assert np.abs(model.conv_blocks[0].batch_norm_0.mean[...]).max() > 0


def test_the_linen_checkpoint_is_in_the_migrated_model(demo: Run) -> None:
    with ocp.StandardCheckpointer() as checkpointer:
        linen = checkpointer.restore(demo.out / "linen/variables")
    with imported(demo.out / "project") as project:
        model: Any = with_linen_weights(demo.stage, project)[0]
    pairs = [
        (linen["params"]["ConvBlock_1"]["Conv_0"]["kernel"], model.conv_blocks[1].conv_0.kernel),
        (linen["params"]["head"]["logits"]["bias"], model.head.logits.bias),
        (linen["batch_stats"]["ConvBlock_2"]["BatchNorm_0"]["var"], model.conv_blocks[2].batch_norm_0.var),
    ]  # fmt: skip
    for theirs, ours in pairs:
        np.testing.assert_array_equal(np.asarray(theirs), np.asarray(ours[...]))


def test_both_trainings_have_curves_of_the_same_length(demo: Run) -> None:
    linen = json.loads((demo.out / "linen/curves.json").read_text())
    ours = json.loads((demo.out / "curves.json").read_text())
    assert {name: len(values) for name, values in linen.items()} == {
        "losses": 1437 // 48,
        "train_accuracies": 1,
        "test_accuracies": 1,
    }
    for name, values in ours.items():
        assert len(values) == len(linen[name])
    assert np.mean(ours["losses"][-5:]) < 0.8 * ours["losses"][0]


@pytest.mark.slow
def test_the_whole_demo_reads_97_percent_and_keeps_its_time(tmp_path: Path) -> None:
    run = run_demo(tmp_path / "demo")
    assert run.code == 0, run.said
    curves = json.loads((tmp_path / "demo/curves.json").read_text())
    assert curves["test_accuracies"][-1] >= 0.97
    seconds = int(run.said.partition("All of it took ")[2].partition(" ")[0])
    assert seconds < 225  # of five minutes, without the installation
