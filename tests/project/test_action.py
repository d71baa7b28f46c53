"""The action that checks a project on GitHub: its definition, and what its scripts do."""

from __future__ import annotations

import json
import os
import sys
import venv
from pathlib import Path

import pytest

from tests.project.action_runner import ACTION, DEFINITION, REPOSITORY, STEPS, Job
from tests.support.processes import run_process

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
OLD = "from flax import nnx\n\nVariableState = nnx.VariableState\n"
NEW = "import typed_nnx as nnx\n\nkind = nnx.Param\n"
# mypy takes half a minute where it has no cache; the command's own tests run it.
WITHOUT_MYPY = "--skip\nmypy\n"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job with an empty checkout."""
    workspace, temporary = tmp_path / "workspace", tmp_path / "temporary"
    workspace.mkdir()
    temporary.mkdir()
    return Job(workspace, temporary, inputs={"args": WITHOUT_MYPY})


@pytest.mark.parametrize(
    ("schema", "path"),
    [("github-actions", ACTION), *(("github-workflows", path) for path in WORKFLOWS)],
    ids=["action", *(path.stem for path in WORKFLOWS)],
)
def test_a_definition_is_what_the_published_schema_asks_for(schema: str, path: Path) -> None:
    done = run_process(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", path]
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_script_has_an_expression_in_its_text() -> None:
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert len(scripts) == 3
    assert not [text for text in scripts if "${{" in text]


def test_every_output_is_one_that_a_step_writes(job: Job) -> None:
    (job.workspace / "app.py").write_text(NEW, encoding="utf-8")
    job.run("Check")
    for output in DEFINITION["outputs"].values():
        assert job.filled(output["value"])


def test_a_project_without_findings_passes(job: Job) -> None:
    (job.workspace / "app.py").write_text(NEW, encoding="utf-8")
    done = job.run("Check")
    assert done.returncode == 0, done.stderr
    assert job.outputs["steps.check.outputs.status"] == "0"
    assert job.run("Verdict").returncode == 0
    assert "Nothing found." in job.summary()


def test_findings_are_logged_before_they_stop_the_job(job: Job) -> None:
    package = job.workspace / "sub" / "src"
    package.mkdir(parents=True)
    (package / "old.py").write_text(OLD, encoding="utf-8")
    (package / "new.py").write_text(NEW, encoding="utf-8")
    job.inputs |= {"working-directory": "sub", "paths": "src\n"}
    done = job.run("Check")
    assert done.returncode == 0, done.stderr
    log = json.loads(Path(job.outputs["steps.check.outputs.sarif"]).read_text(encoding="utf-8"))
    places = {
        location["physicalLocation"]["artifactLocation"]["uri"]
        for run in log["runs"]
        for result in run["results"]
        for location in result["locations"]
    }
    assert places == {"sub/src/old.py"}  # from the root of the repository, as GitHub wants it
    assert job.run("Verdict").returncode == 1
    assert "Something was found." in job.summary()
    assert "old.py" in job.summary()


def test_a_check_that_cannot_run_has_nothing_to_upload_and_fails(job: Job) -> None:
    job.inputs["paths"] = "no-such-folder"
    assert job.run("Check").returncode == 0
    assert "steps.check.outputs.sarif" not in job.outputs
    assert job.run("Verdict").returncode == 2
    assert "could not run" in job.summary()


@pytest.mark.parametrize("name", ["paths", "args"])
def test_an_input_is_never_run_as_code(job: Job, name: str) -> None:
    job.inputs[name] = "$(touch pwned)\n`touch pwned`\n; touch pwned #\n'; touch pwned; '"
    job.run("Check")
    assert job.run("Verdict").returncode == 2
    assert os.listdir(job.workspace) == []


def test_a_path_with_a_blank_is_one_path(job: Job) -> None:
    folder = job.workspace / "my code"
    folder.mkdir()
    (folder / "old.py").write_text(OLD, encoding="utf-8")
    job.inputs["paths"] = "my code\n"
    job.run("Check")
    assert job.outputs["steps.check.outputs.status"] == "1"


@pytest.mark.slow
def test_the_action_installs_the_project_and_the_command_of_its_own_release(job: Job) -> None:
    programs = job.temporary / "venv"
    venv.create(programs, with_pip=True)
    (job.workspace / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        '[project]\nname = "their-app"\nversion = "1"\n',
        encoding="utf-8",
    )
    (job.workspace / "their_app.py").touch()
    # Without the packages that they need: what is asked here is what pip is told to install.
    job.inputs["install"] = "--no-deps\n."
    job.programs = programs / ("Scripts" if os.name == "nt" else "bin")
    done = job.run("Install")
    assert done.returncode == 0, done.stdout + done.stderr
    listed = run_process(
        [job.programs / "python", "-m", "pip", "list", "--format", "json"], check=True
    )
    assert {"their-app", "typed-nnx"} <= {one["name"] for one in json.loads(listed.stdout)}
    assert (job.programs / "typed-nnx").exists()
