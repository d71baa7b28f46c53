"""``--example``: sizes that differ between examples are fields, arguments, or one for each layer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.command.running import run
from typed_nnx_codegen.verify.command import verify

# What `eval` gives is found while the program runs, so no analysis of the text knows the widths.
MODEL = """import flax.linen as nn


def hidden(x, code):
    return eval(code)


class OfField(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return nn.Dense(2)(hidden(x, "x * 2"))


class OfProduct(nn.Module):
    width: int
    times: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return nn.Dense(2)(hidden(x, f"x.repeat({self.times}, -1)"))


class OfHeads(nn.Module):
    width: int
    heads: int

    @nn.compact
    def __call__(self, x):
        x = nn.DenseGeneral((self.heads, self.width // self.heads))(x)
        return nn.DenseGeneral(2, axis=(-2, -1))(hidden(x, "x + 1"))


class OfArgument(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x, y):
        return nn.Dense(self.width)(hidden(y, "x + 1")) + nn.Dense(self.width)(x)


class Ambiguous(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(hidden(x, "x + 1"))


class Each(nn.Module):
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        for number in range(self.depth):
            x = nn.Dense(4)(hidden(x, f"x[..., : 4 - {number}]"))
        return x


class Outer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return Inner()(nn.Dense(self.width)(x))


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(hidden(x, "x.repeat(x.shape[-1] - 3, -1)"))


class Flat(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x.reshape(-1))


class OfShape(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Flat()(hidden(x, "x * 2"))


class Two(nn.Module):
    def setup(self):
        self.flat = Flat()

    def __call__(self, x):
        return self.first(x)

    def first(self, x):
        return self.flat(x)


class OfMethod(nn.Module):
    def setup(self):
        self.two = Two()

    def __call__(self, x):
        return self.two.first(hidden(x, "x * 2"))


class Changed(nn.Module):
    def setup(self):
        self.dense = nn.Dense(8)
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.first(self.dense(x))

    def first(self, x):
        return self.head(x)


class OfChanged(nn.Module):
    def setup(self):
        self.changed = Changed()

    def __call__(self, x):
        return self.changed.first(hidden(x, "x.repeat(2, -1)"))


class Part(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class OfPart(nn.Module):
    part: nn.Module

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(hidden(self.part(x), "x * 2"))
"""
EXAMPLES = """import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("OfField", 3), jnp.ones((2, 5))),
    Example(Build("OfField", 4), jnp.ones((2, 5))),
    Example(Build("OfProduct", 3), jnp.ones((2, 5))),
    Example(Build("OfProduct", 4, 5), jnp.ones((5, 7))),
    Example(Build("OfHeads", 8, 2), jnp.ones((3, 5, 8))),
    Example(Build("OfHeads", 12, 4), jnp.ones((3, 5, 8))),
    Example(Build("OfArgument"), jnp.ones((2, 5)), jnp.ones((2, 8))),
    Example(Build("OfArgument"), jnp.ones((2, 6)), jnp.ones((2, 7))),
    Example(Build("Ambiguous", 6), jnp.ones((2, 6))),
    Example(Build("Ambiguous", 7), jnp.ones((2, 7))),
    Example(Build("Each"), jnp.ones((2, 6))),
    Example(Build("Outer", 6), jnp.ones((1, 6))),
    Example(Build("Outer", 7), jnp.ones((1, 6))),
    Example(Build("OfShape"), jnp.ones((3, 5))),
    Example(Build("OfShape"), jnp.ones((4, 6))),
    Example(Build("OfMethod"), jnp.ones((3, 5))),
    Example(Build("OfMethod"), jnp.ones((4, 6))),
    Example(Build("OfChanged"), jnp.ones((2, 4))),
    Example(Build("OfPart", Build("Part", 7)), jnp.ones((2, 5))),
    Example(Build("OfPart", Build("Part", 8)), jnp.ones((2, 5))),
]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model, the examples, and what the command wrote."""
    made = tmp_path_factory.mktemp("fitted")
    (made / "old.py").write_text(MODEL)
    (made / "calls.py").write_text(EXAMPLES)
    before = Path.cwd()
    os.chdir(made)
    try:
        result = run("old.py", "-o", "new.py", "--example", "calls.py")
    finally:
        os.chdir(before)
    assert result.exit_code == 0, result.output
    return made


def code_of(folder: Path, name: str) -> str:
    """Return the text of a migrated class."""
    text = (folder / "new.py").read_text()
    return text.partition(f"class {name}(")[2].partition("\n\n\n")[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("OfField", "self.dense_1 = nnx.Linear(self.width, 2, rngs=rngs)"),
        ("OfProduct", "self.dense_1 = nnx.Linear(self.times * self.width, 2, rngs=rngs)"),
        (
            "OfHeads",
            "self.dense_general_1 = nnx.LinearGeneral(\n            (self.heads, self.width // "
            "self.heads), 2, axis=(-2, -1), rngs=rngs\n        )",
        ),
        ("OfArgument", "self.dense_0 = nnx.Linear(y_features, self.width, rngs=rngs)"),
        ("OfShape", "self.flat_0 = Flat(in_shape=(in_shape[-2], in_shape[-1]), rngs=rngs)"),
        ("OfMethod", "self.two = Two(in_shape=(in_shape[-2], in_shape[-1]), rngs=rngs)"),
        ("OfPart", "self.dense_0 = nnx.Linear(self.part.width, 2, rngs=rngs)"),
    ],
)
def test_a_size_that_one_expression_gives_in_all_examples_is_it(
    folder: Path, name: str, code: str
) -> None:
    text = code_of(folder, name)
    assert code in text
    assert "TODO" not in text


@pytest.mark.thorough
def test_an_argument_of_another_method_is_no_size_where_that_gets_something_else(
    folder: Path,
) -> None:
    assert "give `changed_in_features`" in code_of(folder, "OfChanged")


@pytest.mark.thorough
def test_expressions_that_the_examples_do_not_tell_apart_are_named(folder: Path) -> None:
    text = code_of(folder, "Ambiguous")
    assert "dense_0_in_features: int," in text
    marker = next(line for line in text.splitlines() if "TODO[typed-nnx] TN201" in line)
    assert (
        "it is 6, 7, as are `self.width` and `x.shape[-1]`: trace a run in which they differ"
        in marker
    )


def test_each_layer_of_a_list_has_its_own_size(folder: Path) -> None:
    text = code_of(folder, "Each")
    assert "dense_layers_in_features: tuple[int, ...] = (4, 3, 2),  # from trace" in text
    assert "dense_layers_in_features[len(self.dense_layers)], 4, rngs=rngs" in text


def test_a_size_that_nothing_fits_stays_required_in_all_that_contain_the_module(
    folder: Path,
) -> None:
    for name, parameter in (
        ("Inner", "dense_0_in_features"),
        ("Outer", "inner_0_dense_0_in_features"),
    ):
        text = code_of(folder, name)
        assert f" {parameter}: int," in text
        assert f"give `{parameter}`; in the trace it is 18, 28" in text


@pytest.mark.thorough
def test_what_is_migrated_gives_equal_outputs(folder: Path) -> None:
    names = ("OfField", "OfProduct", "OfArgument", "Each", "OfShape", "OfMethod", "OfPart")
    files = [str(folder / name) for name in ("old.py", "new.py")]
    chosen = [part for name in names for part in ("--only", name)]
    done = CliRunner().invoke(verify, [*files, "--example", str(folder / "calls.py"), *chosen])
    assert done.exit_code == 0, done.output
    assert "13 of 13 examples are equal" in done.output
