"""The corpus of Linen modules is what it says: it runs in Linen, and there is enough of it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import jax
import pytest

from tests.codegen.migrate.linen.corpus_cases import (
    all_files,
    as_users_run,
    classes_of,
    examples_of,
    imported,
    in_time,
    linen_files,
    name_of,
)
from typed_nnx_codegen.verify.building import linen_model, mapped
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.inputs import keys
from typed_nnx_codegen.verify.sides import Side

# Constructs that the corpus must have, as one finds them in a file, and in how many files at least.
CONSTRUCTS = {
    "def setup(self)": 10,
    "@nn.compact": 20,
    'name=f"': 5,
    "self.param(": 10,
    "self.variable(": 4,
    "put_variable(": 1,
    "has_variable(": 1,
    "is_initializing()": 4,
    "is_mutable_collection(": 2,
    "make_rng(": 2,
    "has_rng(": 1,
    "merge_param(": 3,
    "self.sow(": 3,
    "nn.scan": 3,
    "nn.remat": 1,
    "nn.checkpoint": 1,
    "nn.vmap": 2,
    "nn.jit": 1,
    "nn.share_scope": 1,
    "nn.nowrap": 1,
    "compact_name_scope": 1,
    "nn.map_variables": 1,
    "nn.Sequential": 5,
    "nn.BatchNorm": 5,
    "nn.GroupNorm": 4,
    "nn.RMSNorm": 3,
    "nn.InstanceNorm": 1,
    "nn.WeightNorm": 1,
    "nn.SpectralNorm": 1,
    "nn.DenseGeneral": 3,
    "nn.Einsum": 1,
    "nn.ConvTranspose": 2,
    "nn.Embed": 5,
    "nn.MultiHeadDotProductAttention": 4,
    "nn.SelfAttention": 3,
    "OptimizedLSTMCell": 1,
    "nn.LSTMCell": 1,
    "nn.GRUCell": 2,
    "nn.RNN(": 1,
    "nn.Bidirectional(": 1,
    "nn.ConvLSTMCell": 1,
    "partial(nn.BatchNorm": 1,
    "with_logical_partitioning": 1,
    "with_partitioning": 1,
    "jax.image.resize": 2,
    "nn.avg_pool": 2,
    "nn.max_pool": 2,
    ".attend(": 2,
    ".apply(": 1,
    '.variables["params"]': 3,
    "__post_init__": 1,
    "super().setup()": 1,
    "super().__call__": 1,
    "setattr(self": 1,
    "parent=None": 2,
    ".copy()": 2,
    "jnp.bfloat16": 2,
    "param_dtype": 2,
    "use_bias=False": 10,
    "in enumerate(": 5,
    "zip(": 5,
    "NamedTuple": 4,
    "struct.dataclass": 2,
    "frozen=True": 3,
    "einsum(": 5,
    " is None:": 3,
    "is not None": 5,
    "match self.": 1,
    "@staticmethod": 2,
    "@property": 2,
    "@classmethod": 1,
}


@pytest.mark.filterwarnings("ignore:kwargs are not supported in vmap:RuntimeWarning")
@pytest.mark.parametrize("file", [in_time(file, file) for file in linen_files()], ids=name_of)
def test_each_example_of_the_corpus_runs_in_linen(file: Path) -> None:
    side, examples = imported(file), examples_of(file)
    for example in examples:
        with as_users_run(), side.active():
            assert jax.tree.leaves(outputs_of(example, side)), example.name
    assert len({example.name for example in examples}) == len(examples)


def outputs_of(example: Example, side: Side) -> Any:
    """Return the shapes of what the model of an example returns."""
    model = linen_model(example.build, side)
    args, kwargs = mapped(
        (example.args, example.kwargs), lambda build: linen_model(build, side), side.named
    )
    variables = jax.eval_shape(
        lambda: model.init(
            {"params": jax.random.key(0), **keys(example.rngs, 1)},
            *args,
            method=example.method,
            **kwargs,
        )
    )
    return jax.eval_shape(
        lambda given: model.apply(
            given,
            *args,
            rngs=keys(example.rngs, 2) or None,
            method=example.method,
            mutable=list(example.mutable) or False,
            **kwargs,
        ),
        variables,
    )


def test_the_corpus_has_more_than_a_hundred_classes() -> None:
    assert sum(len(classes_of(file)) for file in linen_files()) >= 100


@pytest.mark.parametrize("file", linen_files(), ids=name_of)
def test_each_class_of_the_corpus_is_built_by_an_example_or_used_by_another_class(
    file: Path,
) -> None:
    built = {example.build.class_name.partition(".")[0] for example in examples_of(file)}
    used = {node.id for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Name)}

    assert classes_of(file).keys() <= built | used


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_corpus_has_each_construct(construct: str) -> None:
    files = [file for file in all_files() if construct in file.read_text()]

    assert len(files) >= CONSTRUCTS[construct]


def test_each_file_of_the_corpus_has_examples() -> None:
    without = set(all_files()) - set(linen_files())

    assert {name_of(file) for file in without} == {
        "project_a/__init__",
        "project_b/flat_settings",
        *("project_c/__init__", "project_c/aliases", "project_c/sizes", "project_c/named_partials"),
        *("project_c/enc/__init__", "project_c/dec/__init__"),
        *("project_c/parts/__init__", "project_c/loose/nnx"),
    }
