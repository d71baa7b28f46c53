"""``--verify``: what would be written is run first, and what fails is marked or not written."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.command.running import run, written
from typed_nnx_codegen.commands import typed_nnx

MODEL = """import flax.linen as nn
import jax.numpy as jnp


class Good(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return WRONG


class Around(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Other()(x) + 1
"""
# The analysis does not see that the object is one of Linen.
WRONG = "nn.Dense(3)(x) * (1.0 if hasattr(self, 'scope') else 2.0)"
EXAMPLES = """import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Good"), jnp.ones((2, 4))),
    Example(Build("Other"), jnp.ones((2, 4))),
]
"""
# Only classes of Linen have this attribute.
CHECKED = """from models import Good

if not hasattr(Good, "init_with_output"):
    raise RuntimeError("no module of flax.linen")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Other", "model.Other"])
def test_a_module_that_differs_gets_a_marker_in_the_same_run(folder: Path, name: str) -> None:
    examples = EXAMPLES.replace('"Other"', f'"{name}"')
    written(folder, {"model.py": MODEL.replace("WRONG", WRONG), "calls.py": examples})
    plain = run("model.py", "-o", "new.py", "--example", "calls.py")
    assert (plain.exit_code, "TODO" in Path("new.py").read_text()) == (0, False)

    result = run("model.py", "-o", "new.py", "--example", "calls.py", "--verify")

    assert result.exit_code == 0, result.output
    text = Path("new.py").read_text()
    assert f"TN207: in the example {name} it is not what Linen computes: outputs" in text
    assert text.index("TN207") > text.index("class Good") > 0
    assert text.index("TN207") < text.index("class Other(nnx.Module)")


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_the_error_of_a_module_names_the_file_that_it_comes_from(folder: Path) -> None:
    wrong = "nn.Dense(3)(x) + (0 if hasattr(self, 'scope') else 1 // 0)"
    written(folder, {"model.py": MODEL.replace("WRONG", wrong), "calls.py": EXAMPLES})

    result = run("model.py", "-o", "new.py", "--example", "calls.py", "--verify")

    assert result.exit_code == 0, result.output
    assert f"division or modulo by zero ({folder / 'model.py'}:" in Path("new.py").read_text()


@pytest.mark.thorough
def test_modules_that_are_equal_get_no_marker(folder: Path) -> None:
    written(folder, {"model.py": MODEL.replace("WRONG", "nn.Dense(3)(x)"), "calls.py": EXAMPLES})
    result = run("model.py", "-o", "new.py", "--example", "calls.py", "--verify")

    assert result.exit_code == 0, result.output
    assert "TODO" not in Path("new.py").read_text()


@pytest.mark.thorough
def test_files_that_would_not_import_are_not_written(folder: Path) -> None:
    model = MODEL.replace("WRONG", "nn.Dense(3)(x)")
    user = "import flax.linen as nn\nfrom models import Good\n\n\nclass User(nn.Module):\n    @nn.compact\n"
    user += "    def __call__(self, x):\n        return Good()(x)\n"
    files = {
        "models.py": model,
        "user.py": user + CHECKED.partition("\n")[2],
        "alone.py": model.replace("Good", "Alone"),
        "broken.py": "import flax.linen as nn\nimport not_there\n" + model,
    }
    written(folder, files)
    result = run(".", "--verify", "--write", "--allow-dirty")

    assert result.exit_code == 1
    assert "it would not import: RuntimeError: no module of flax.linen (line 13)" in " ".join(
        result.output.split()
    )
    assert Path("user.py").read_text() == files["user.py"]
    # What it holds stays with it; the others are written, also what did not import before.
    for name in ("alone.py", "broken.py"):
        assert "import typed_nnx as nnx" in Path(name).read_text()


def test_only_linen_code_can_be_verified(folder: Path) -> None:
    written(folder, {"model.py": "x = 1\n"})
    result = CliRunner().invoke(typed_nnx, ["migrate", "model.py", "--verify"])

    assert result.exit_code == 2
    assert "--verify is for code of flax.linen" in result.output
