"""``--example``: sizes that only running the old code tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.command.running import run, written
from typed_nnx_codegen.verify.command import verify

# `sizes` is looked up while the program runs, so no analysis of the text knows the widths.
MODEL = """import flax.linen as nn


def cut(x, sizes):
    return eval("x[..., :sizes[0]]")


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x, sizes):
        x = nn.Dense(3)(cut(x, sizes))
        return nn.LayerNorm()(cut(x, (2,)))


class Outer(nn.Module):
    n: int = 2

    def setup(self):
        self.inner = Inner()
        self.last = nn.Dense(self.n)

    def __call__(self, x, width=4):
        return self.last(cut(self.inner(x, (width,)), (1,)))
"""
EXAMPLES = """import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Outer", n=3), jnp.ones((2, 5))),
    Example(Build("Outer", n=5), jnp.ones((1, 7)), width={width}),
]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(MODEL)
    return tmp_path


def with_examples(width: int) -> tuple[str, ...]:
    """Write the examples; return the arguments of the command."""
    Path("calls.py").write_text(EXAMPLES.format(width=width))
    return "old.py", "-o", "new.py", "--example", "calls.py"


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_sizes_that_all_examples_share_are_defaults_that_say_where_they_come_from() -> None:
    result = run(*with_examples(4))
    assert result.exit_code == 0
    assert "--example runs the code of old.py and calls.py" in result.output
    text = Path("new.py").read_text()
    assert "dense_0_in_features: int = 4,  # from trace\n" in text
    assert "layer_norm_0_num_features: int = 2,  # from trace\n" in text
    assert "last_in_features: int = 1,  # from trace\n" in text
    assert "TODO[typed-nnx]" not in text
    # The one that contains it leaves the choice to it.
    assert "self.inner = Inner(rngs=rngs)" in text
    found = json.loads(Path("new.migration.json").read_text())["classes"]["Inner"]["lifted"]
    assert {"name": "dense_0_in_features", "expr": "4"} in found


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_what_is_migrated_with_examples_gives_equal_outputs() -> None:
    run(*with_examples(4))
    done = CliRunner().invoke(verify, ["old.py", "new.py", "--example", "calls.py"])
    assert done.exit_code == 0, done.output
    assert "2 of 2 examples are equal" in done.output


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_a_size_that_differs_stays_required_and_the_marker_has_the_values() -> None:
    run(*with_examples(5))
    text = Path("new.py").read_text()
    assert "dense_0_in_features: int,\n" in text
    assert "give `dense_0_in_features`; in the trace it is 4, 5" in text
    assert "layer_norm_0_num_features: int = 2,  # from trace\n" in text


PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/inner.py": MODEL.partition("class Outer")[0].rstrip() + "\n",
    "pkg/outer.py": "import flax.linen as nn\n\nfrom pkg.inner import Inner, cut\n\n\nclass Outer"
    + MODEL.partition("class Outer")[2],
}


@pytest.mark.thorough
def test_the_examples_of_a_project_tell_the_sizes_in_all_its_files(folder: Path) -> None:
    written(folder, PACKAGE)
    written(folder / "before", PACKAGE)
    Path("calls.py").write_text(EXAMPLES.format(width=4))
    result = run("pkg", "--write", "--example", "calls.py")
    assert result.exit_code == 0, result.output
    assert "dense_0_in_features: int = 4,  # from trace\n" in Path("pkg/inner.py").read_text()
    assert "last_in_features: int = 1,  # from trace\n" in Path("pkg/outer.py").read_text()
    files = ["before/pkg/outer.py", "pkg/outer.py"]
    done = CliRunner().invoke(verify, [*files, "--example", "calls.py"])
    assert done.exit_code == 0, done.output
    assert "2 of 2 examples are equal" in done.output


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 3\n", "it has no EXAMPLES"),
        ("import not_there\n", "not_there"),
        (EXAMPLES.format(width=4).replace("jnp.ones((2, 5))", "None"), "Linen itself fails"),
    ],
    ids=["none", "import", "call"],
)
def test_examples_that_cannot_be_run_are_refused(text: str, says: str) -> None:
    Path("calls.py").write_text(text)
    result = run("old.py", "-o", "new.py", "--example", "calls.py")
    assert result.exit_code == 2
    assert says in result.stderr
    assert not Path("new.py").exists()
