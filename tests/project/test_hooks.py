"""The hooks that `.pre-commit-hooks.yaml` offers, run by pre-commit."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.project.hook_project import HERE, MANIFEST, HookProject, hooks_only, whole_tree
from tests.support.git import git
from tests.support.processes import run_process

TOOLS = Path(sys.executable).parent

OLD = "from flax import nnx\n\nstate = nnx.State.merge\nVariableState = nnx.VariableState\n"
NEW = "import typed_nnx as nnx\n\nkinds = (nnx.Param, nnx.BatchStat)\n"
MODEL = """\
import jax.numpy as jnp
import typed_nnx as nnx


class Net(nnx.Module):
    def __init__(self) -> None:
        self.{field} = nnx.Param(jnp.ones(2))
"""


@pytest.fixture
def project(tmp_path: Path) -> HookProject:
    """A project without files and hooks."""
    folder = tmp_path / "project"
    folder.mkdir()
    return HookProject(folder, tmp_path / "home")


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """A repository that offers the hooks."""
    return hooks_only(tmp_path / "hooks")


def test_pre_commit_takes_the_manifest() -> None:
    run_process([sys.executable, "-m", "pre_commit", "validate-manifest", MANIFEST], check=True)


@pytest.mark.thorough
def test_the_migrate_hook_stops_old_spellings_and_lets_new_ones_pass(
    project: HookProject, hooks: Path
) -> None:
    project.configure(hooks, {"id": "typed-nnx-migrate", **HERE})
    project.write("good.py", NEW)
    passed, output = project.run("typed-nnx-migrate")
    assert passed, output
    project.write("bad.py", OLD)
    passed, output = project.run("typed-nnx-migrate")
    assert not passed
    assert "-VariableState = nnx.VariableState" in output
    assert "good.py" not in output
    assert git(project.folder, "status", "--porcelain") == ""  # a check writes nothing


@pytest.mark.thorough
def test_the_migrate_hook_passes_arguments_on(project: HookProject, hooks: Path) -> None:
    project.configure(hooks, {"id": "typed-nnx-migrate", "args": ["--target", "flax.nnx"], **HERE})
    project.write("app.py", "from flax import nnx\n\nkind = nnx.Param\n")
    assert project.run("typed-nnx-migrate")[0]
    project.configure(hooks, {"id": "typed-nnx-migrate", **HERE})
    assert not project.run("typed-nnx-migrate")[0]


@pytest.mark.thorough
def test_the_check_hook_gives_the_verdict_of_the_command(project: HookProject, hooks: Path) -> None:
    project.configure(hooks, {"id": "typed-nnx-check", "args": ["--only", "migrate"]})
    project.write("good.py", NEW)
    passed, output = project.run("typed-nnx-check")
    assert passed, output
    project.write("bad.py", OLD)
    passed, output = project.run("typed-nnx-check")
    assert not passed
    assert "bad.py" in output


@pytest.mark.slow
def test_the_stubs_hook_stops_an_overlay_that_the_models_have_left_behind(
    project: HookProject, hooks: Path
) -> None:
    project.configure(hooks, {"id": "typed-nnx-stubs", "args": ["app.py"]})
    project.write(".gitignore", ".typed_nnx_cache/\n.mypy_cache/\n")
    project.write("app.py", MODEL.format(field="first"))
    overlay = [str(TOOLS / "typed-nnx"), "stubs", "app.py"]
    run_process(overlay, cwd=project.folder, check=True)
    passed, output = project.run("typed-nnx-stubs")
    assert passed, output
    project.write("app.py", MODEL.format(field="second"))
    assert not project.run("typed-nnx-stubs")[0]


@pytest.mark.slow
def test_the_migrate_hook_installs_into_an_environment_of_its_own(
    project: HookProject, tmp_path: Path
) -> None:
    project.configure(whole_tree(tmp_path / "tree"), {"id": "typed-nnx-migrate"})
    project.write("good.py", NEW)
    passed, output = project.run("typed-nnx-migrate")
    assert passed, output
    project.write("bad.py", OLD)
    passed, output = project.run("typed-nnx-migrate")
    assert not passed
    assert "-VariableState = nnx.VariableState" in output
    assert list(project.home.rglob("site-packages/typed_nnx_codegen/cli.py"))
