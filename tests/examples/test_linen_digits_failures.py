"""A step of the demo that fails says what failed, and the demo ends with status 1."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from examples.linen_digits import __main__ as program
from examples.linen_digits import commands, completion, migration, original
from examples.linen_digits.checking import reports_of
from examples.linen_digits.stage import Stage, StepFailedError, Told
from examples.linen_digits.training import Same, imported, judge, with_linen_weights
from tests.examples.linen_digits_run import Run, stage_in

SAME = Same(0.0, 360, 360)


def test_a_step_that_fails_is_named_and_ends_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(stage: Stage) -> Told:
        raise StepFailedError("the [cat] sat on it.")

    steps = (program.Step("Begin", lambda stage: Told()), program.Step("Go on", fail))
    monkeypatch.setattr(program, "STEPS", steps)
    assert program.main(["--out", str(tmp_path / "new" / "folder")]) == 1
    said = capsys.readouterr().out
    assert "Step 1, 'Go on', failed: the [cat] sat on it." in said
    assert said.count("done in") == 1


@pytest.mark.parametrize("epochs", ["0", "-1", "many"])
def test_a_number_of_epochs_that_is_none_is_refused(
    epochs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        program.main(["--epochs", epochs])
    assert f"argument --epochs: got '{epochs}', expected a number from 1" in capsys.readouterr().err


def test_a_folder_with_files_of_somebody_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "project" / "mine.txt"
    mine.parent.mkdir()
    mine.touch()
    assert program.main(["--out", str(tmp_path)]) == 1
    assert program.main(["--out", str(mine)]) == 1
    said = capsys.readouterr().out
    assert "has files that are not the demo's" in said
    assert "is no folder to write to" in said
    assert [*tmp_path.rglob("*")] == [mine.parent, mine]


def test_a_folder_of_the_demo_is_used_again(tmp_path: Path) -> None:
    out = program.prepared(tmp_path / "new")
    (out / "report.html").touch()
    assert program.prepared(out) == out


def run(tmp_path: Path, *command: str) -> commands.Ran:
    return commands.run(stage_in(tmp_path), Told(), command, tmp_path)


def test_a_command_that_fails_is_shown_with_what_it_said(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('no disk'); sys.exit(3)"
    with pytest.raises(StepFailedError, match=r"ended with status 3, expected 0, .*:\nno disk"):
        run(tmp_path, "python", "-c", code)


def test_a_command_that_is_not_installed_is_one(tmp_path: Path) -> None:
    with pytest.raises(StepFailedError, match=r"there is no .*no-such-command.\n  Fix: make ins"):
        run(tmp_path, "no-such-command")


def test_a_command_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "TIMEOUT", 0.2)
    with pytest.raises(StepFailedError, match=r"`python -c .*` did not end within 0.2 s"):
        run(tmp_path, "python", "-c", "import time; time.sleep(30)")


@pytest.mark.thorough
def test_a_migration_that_leaves_a_marker_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "before"
    shutil.copytree(original.ORIGINAL, project)
    models = project / "models.py"
    # The values of an argument decide about a size.
    models.write_text(models.read_text().replace("nn.Conv(self.features", "nn.Conv(int(x.sum())"))
    monkeypatch.setattr(original, "ORIGINAL", project)
    with pytest.raises(StepFailedError, match=r"left something to a person in .*models.py"):
        migration.migrate(stage_in(tmp_path))


def test_a_part_that_the_diff_does_not_have_is_missed() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- a/y.py\n+++ b/y.py\n@@ @@\n+c\n"
    assert migration.part_of(diff, "x.py", "a", 2) == "--- a/x.py\n+++ b/x.py\n-a\n+b"
    for file, start in (("x.py", "c"), ("z.py", "a")):
        with pytest.raises(StepFailedError, match=f"the diff of {file} has no line with '{start}'"):
            migration.part_of(diff, file, start, 2)


def test_words_of_mypy_that_are_no_reports_are_none(tmp_path: Path) -> None:
    assert reports_of(stage_in(tmp_path), "Success: no issues found in 4 source files\n") == []


def test_a_language_server_that_does_not_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(StepFailedError, match="the language server failed: "):
        completion.answers(tmp_path)


def test_a_linen_checkpoint_that_does_not_fit_is_refused(demo: Run, tmp_path: Path) -> None:
    stage = stage_in(tmp_path)
    shutil.copytree(demo.stage.project, stage.project)
    shutil.copytree(demo.stage.linen, stage.linen)
    path = stage.package / "models.migration.json"
    found = json.loads(path.read_text())
    del found["classes"]["DigitReader"]["variables"]["params/ConvBlock_{i}/Conv_0/kernel"]
    del found["classes"]["ConvBlock"]["variables"]["params/Conv_0/kernel"]
    path.write_text(json.dumps(found))
    with (
        imported(stage.project) as project,
        pytest.raises(StepFailedError, match=r"(?s)does not fit.*conv_0.kernel"),
    ):
        with_linen_weights(stage, project)


@pytest.mark.parametrize(
    ("accuracy", "ours", "theirs", "apart", "said"),
    [
        (0.5, SAME, SAME, 0.0, "reads 50.00% of the unseen images, which is less than 97.00%"),
        (0.98, Same(1e-9, 360, 360), SAME, 0.0, "the restored model answers otherwise"),
        (0.98, SAME, Same(1e-3, 360, 360), 0.0, "the Linen weights give other answers"),
        (0.98, SAME, Same(1e-7, 359, 360), 0.0, "359 of 360 labels equal"),
        (0.98, SAME, SAME, 0.5, "the losses of both loops differ by up to 0.5"),
    ],
)
def test_answers_that_are_not_as_they_have_to_be_fail_the_step(
    accuracy: float, ours: Same, theirs: Same, apart: float, said: str
) -> None:
    with pytest.raises(StepFailedError, match=said):
        judge(0.97, accuracy, ours, theirs, apart)


def test_roundings_of_logits_do_not_fail_the_step() -> None:
    judge(0.97, 0.97, SAME, Same(1e-6, 360, 360), 1e-7)


def test_a_project_is_forgotten_after_its_use(demo: Run) -> None:
    with imported(demo.stage.project) as project:
        assert sys.modules[project.models.__name__] is project.models
    assert "digit_reader" not in sys.modules
    assert str(demo.stage.project) not in sys.path
