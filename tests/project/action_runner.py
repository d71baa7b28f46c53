"""The scripts of the steps of our action, run by bash with the environment that GitHub gives them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]
ACTION = REPOSITORY / ".github" / "actions" / "check" / "action.yml"
DEFINITION: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in DEFINITION["runs"]["steps"]}


@dataclass
class Job:
    """A job of GitHub that uses the action.

    Attributes:
        workspace: The checkout of the user's repository.
        temporary: What GitHub calls ``runner.temp``.
        programs: A folder before all others on the PATH.
        inputs: What the workflow writes under ``with:``.
        outputs: What the steps have put out, by their names in expressions.
    """

    workspace: Path
    temporary: Path
    programs: Path = Path(sys.executable).parent
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def value(self, expression: str) -> str:
        """Return the value of an expression, such as ``inputs.paths``."""
        contexts = {"github.workspace": str(self.workspace), "runner.temp": str(self.temporary)}
        defaults = {name: given["default"] for name, given in DEFINITION["inputs"].items()}
        for name, given in {**defaults, **self.inputs}.items():
            contexts[f"inputs.{name}"] = given
        # As on GitHub, an output that no step has written is empty.
        if expression.startswith("steps."):
            return self.outputs.get(expression, "")
        return contexts[expression]

    def filled(self, text: str) -> str:
        """Return a text of the definition with its expressions replaced."""
        return re.sub(r"\$\{\{ *(.+?) *\}\}", lambda found: self.value(found[1]), text)

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the script of the step of this name, and take up its outputs."""
        step = STEPS[name]
        script, outputs = self.temporary / "script.sh", self.temporary / "outputs"
        script.write_text(step["run"], encoding="utf-8")
        outputs.write_text("", encoding="utf-8")
        done = run_process(
            [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            timeout=900,
            cwd=self.workspace / self.filled(step.get("working-directory", ".")),
            env={
                **os.environ,
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTION_PATH": str(ACTION.parent),
                "GITHUB_OUTPUT": str(outputs),
                "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
                **{key: self.filled(text) for key, text in step.get("env", {}).items()},
            },
        )
        for line in outputs.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            self.outputs[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def summary(self) -> str:
        """Return what stands on the page of the job."""
        return (self.temporary / "summary.md").read_text(encoding="utf-8")
