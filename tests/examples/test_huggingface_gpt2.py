"""A file with the names of transformers gives the model whose logits numpy computes from it."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import typed_nnx as nnx
from examples import huggingface_gpt2
from examples.huggingface_gpt2 import GPT2, SMALL, load, reference, third, weights, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    write(path, SMALL)
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("prefix", ["", "transformer."], ids=["body", "with a head"])
def test_the_logits_are_those_of_the_reference(file: Path, prefix: str) -> None:
    tensors = load_file(file)
    save_file({prefix + name: tensor for name, tensor in tensors.items()}, file)
    model = load(file, SMALL)
    tokens = np.random.default_rng(1).integers(0, SMALL.kinds, 11)
    found = np.asarray(model(jnp.asarray(tokens)[None])[0])
    np.testing.assert_allclose(found, reference(tensors, tokens, SMALL.heads), atol=1e-5)
    assert np.ptp(found) > 0.1


def test_each_variable_has_one_source_and_each_tensor_but_the_masks_is_used(file: Path) -> None:
    model = GPT2(SMALL, rngs=nnx.Rngs(0))
    sources = list(weights(model))
    variables = [id(leaf) for _, leaf in nnx.to_flat_state(nnx.state(model))]
    assert sorted(variables) == sorted(id(source.variable) for source in sources)
    unused = set(load_file(file)) - {source.tensor for source in sources}
    assert unused == {"h.0.attn.bias", "h.1.attn.bias"}


@pytest.mark.thorough
def test_query_key_and_value_are_parts_also_of_a_transposed_matrix(file: Path) -> None:
    attention = load(file, SMALL).blocks[1].attention
    linear = load_file(file)["h.1.attn.c_attn.weight"].T  # [out, in], as of torch.nn.Linear
    for number, projection in enumerate((attention.query, attention.key, attention.value)):
        part = third(number)(linear.T).reshape(projection.kernel.shape)
        np.testing.assert_array_equal(projection.kernel[...], part)
        np.testing.assert_array_equal(
            projection.kernel[:, 2, 3], linear[number * SMALL.width + 2 * 8 + 3]
        )


def test_a_missing_tensor_is_an_error_that_names_each_leaf(file: Path) -> None:
    tensors = load_file(file)
    del tensors["h.0.attn.c_attn.weight"]
    save_file(tensors, file)
    with pytest.raises(nnx.errors.CheckpointMismatchError) as caught:
        load(file, SMALL)
    paths = [path for path, _ in caught.value.missing]
    assert paths == [
        ("blocks", 0, "attention", name, "kernel") for name in ("key", "query", "value")
    ]


@pytest.mark.thorough
def test_the_program_says_how_far_it_is_from_the_reference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    huggingface_gpt2.main([])
    said = capsys.readouterr().out
    assert said.startswith("30 tensors")
    assert float(said.split()[-1]) < 1e-5
