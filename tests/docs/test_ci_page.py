"""docs/ci.md: its files are valid, and its steps do what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project.hook_project import assert_pre_commit_reads
from tests.support.processes import run_process
from tests.support.type_checkers import REPOSITORY
from typed_nnx_mypy.config import read_config

PAGE = (REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
FILES = [
    (re.sub("# ", "", text.splitlines()[0]), text)
    for language, text in BLOCKS
    if language in ("yaml", "toml")
]
WORKFLOWS = {name: text for name, text in FILES if name.startswith(".github/workflows/")}
HOOKS = [text for name, text in FILES if name == ".pre-commit-config.yaml"]


def jobs_of(workflow: str) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    return yaml.safe_load(workflow)["jobs"]


def steps_of(workflow: str) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    return [step for job in jobs_of(workflow).values() for step in job["steps"]]


def test_the_page_has_three_workflows_four_hooks_and_settings() -> None:
    assert len(WORKFLOWS) == 3
    assert len(HOOKS) == 4
    assert FILES[0][0] == "pyproject.toml"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_what_github_reads(name: str) -> None:
    workflow = yaml.safe_load(WORKFLOWS[name])
    assert workflow["permissions"] == {"contents": "read"}
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML 1.1 takes `on` for true
    for job in jobs_of(WORKFLOWS[name]).values():
        assert job["runs-on"] == "ubuntu-latest"
        assert job["timeout-minutes"] > 0
    for step in steps_of(WORKFLOWS[name]):
        assert ("uses" in step) != ("run" in step)
        assert re.fullmatch(r"[\w-]+/[\w./-]+@v\d+", step.get("uses", "a/b@v1"))


def test_the_workflow_keeps_the_cache_of_mypy() -> None:
    (cache,) = [
        step["with"]
        for step in steps_of(WORKFLOWS[".github/workflows/types.yml"])
        if step.get("uses", "").startswith("actions/cache@")
    ]
    assert cache["path"] == ".mypy_cache"
    assert cache["key"].startswith(cache["restore-keys"].strip())


def test_the_workflow_with_an_upload_may_write_what_it_uploads() -> None:
    workflow = WORKFLOWS[".github/workflows/code-scanning.yml"]
    (job,) = jobs_of(workflow).values()
    assert job["permissions"]["security-events"] == "write"
    (upload,) = [each for each in job["steps"] if "upload-sarif" in each.get("uses", "")]
    assert upload["with"]["sarif_file"] in PAGE.partition("upload-sarif")[0]


@pytest.mark.parametrize("number", range(len(HOOKS)))
def test_a_hook_is_what_pre_commit_reads(number: int, tmp_path: Path) -> None:
    assert_pre_commit_reads(HOOKS[number], tmp_path)


def test_the_settings_are_settings_of_the_plugin_and_of_mypy(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(FILES[0][1], encoding="utf-8")
    assert read_config(path).runtimes == ("flax.nnx",)
    assert tomllib.loads(FILES[0][1])["tool"]["mypy"]["plugins"] == ["typed_nnx_mypy"]


def test_the_action_that_the_page_uses_is_ours_and_takes_what_it_is_given() -> None:
    (step,) = [
        each
        for each in steps_of(WORKFLOWS[".github/workflows/check.yml"])
        if each["uses"].startswith("OWNER/typed-nnx/")
    ]
    folder = step["uses"].removeprefix("OWNER/typed-nnx/").partition("@")[0]
    action = yaml.safe_load((REPOSITORY / folder / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    listed = re.findall(r"^\| `([\w-]+)` \|", PAGE.partition("| input |")[2], flags=re.MULTILINE)
    assert set(action["inputs"]) <= set(listed)


def test_the_hooks_of_the_page_are_those_that_the_repository_offers() -> None:
    offered = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    used = {
        hook["id"]
        for text in HOOKS
        for repository in yaml.safe_load(text)["repos"]
        if repository["repo"].endswith("OWNER/typed-nnx")
        for hook in repository["hooks"]
    }
    assert used == {hook["id"] for hook in offered}


# -- the step that makes the log ----------------------------------------------------------------


def run_step(folder: Path, source: str, plugin: str = "typed_nnx_mypy") -> int:
    """Run the step that checks and converts in a project, as GitHub does; return its status."""
    (step,) = [
        each
        for each in steps_of(WORKFLOWS[".github/workflows/code-scanning.yml"])
        if "typed-nnx sarif" in each.get("run", "")
    ]
    (folder / "src").mkdir()
    (folder / "src" / "app.py").write_text(source, encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        FILES[0][1].replace("typed_nnx_mypy", plugin), encoding="utf-8"
    )
    tools = Path(sys.executable).parent
    done = run_process(
        [shutil.which("bash") or "bash", "-e", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
    )
    return done.returncode


def test_the_step_writes_a_log_of_what_mypy_reports_and_goes_on(tmp_path: Path) -> None:
    assert run_step(tmp_path, 'x: int = ""\n') == 0
    log = json.loads((tmp_path / "mypy.sarif").read_text(encoding="utf-8"))
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (result["ruleId"], place["uri"]) == ("assignment", "src/app.py")


def test_the_step_writes_an_empty_log_for_correct_code(tmp_path: Path) -> None:
    assert run_step(tmp_path, "import optax\n\nx: int = 1\n") == 0
    log = json.loads((tmp_path / "mypy.sarif").read_text(encoding="utf-8"))
    assert log["runs"][0]["results"] == []


def test_the_step_fails_where_mypy_cannot_run(tmp_path: Path) -> None:
    assert run_step(tmp_path, "x = 1\n", plugin="no_such_plugin") != 0
    assert not (tmp_path / "mypy.sarif").exists()
