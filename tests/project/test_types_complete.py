from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent

SUBJECT = """
import jax

class Known(jax.Array): ...

guessed = max([1], default=None)
"""


def types_of(package: str, folder: Path, cwd: Path) -> dict[str, Any]:
    """Return what pyright says of the types of the public names of a package in `folder`."""
    pyright = PROGRAMS / "pyright"
    if not pyright.exists():
        pytest.skip("pyright is not installed beside this Python")
    # With --verifytypes it ignores --pythonpath: it looks for packages where the first `python` of
    # PATH does, and what it does not find there it cannot check.
    path = os.pathsep.join([str(PROGRAMS), os.environ.get("PATH", os.defpath)])
    done = run_process(
        [str(pyright), "--verifytypes", package, "--ignoreexternal", "--outputjson"],
        cwd=cwd,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(folder)},
        timeout=900,
    )
    found: dict[str, Any] = json.loads(done.stdout)["typeCompleteness"]
    return found


def problems(found: dict[str, Any]) -> dict[str, str]:
    return {
        symbol["name"]: problem["message"]
        for symbol in found["symbols"]
        for problem in symbol["diagnostics"]
        if problem["severity"] == "error"
    }


@pytest.mark.slow
def test_a_type_checker_knows_the_type_of_every_public_name(tmp_path: Path) -> None:
    found = types_of("typed_nnx", REPOSITORY / "src", tmp_path)
    assert not problems(found)
    assert found["completenessScore"] == 1.0


@pytest.mark.slow
def test_a_type_that_has_to_be_guessed_is_seen_and_types_of_jax_are_known(tmp_path: Path) -> None:
    package = tmp_path / "subject"
    package.mkdir()
    (package / "py.typed").touch()
    (package / "__init__.py").write_text(SUBJECT, encoding="utf-8")
    found = types_of("subject", tmp_path, tmp_path)
    assert list(problems(found)) == ["subject.guessed"]
    assert found["completenessScore"] < 1.0
