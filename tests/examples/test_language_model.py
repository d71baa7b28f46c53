"""The language model learns its text, and samples the same with a cache as without."""

from __future__ import annotations

from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from examples import language_model
from examples.language_model import LanguageModel, generate, sample, sample_slowly, with_cache

TEXT = language_model.TEXT


@pytest.fixture(scope="module")
def trained() -> tuple[LanguageModel, list[float]]:
    return language_model.train(40)


def test_the_text_is_the_zen_of_python() -> None:
    assert TEXT.startswith("The Zen of Python, by Tim Peters\n\nBeautiful is better than ugly.\n")


@pytest.mark.thorough
def test_forty_steps_beat_the_frequencies_of_single_characters(
    trained: tuple[LanguageModel, list[float]],
) -> None:
    _, losses = trained
    _, counts = np.unique(list(TEXT), return_counts=True)
    shares = counts / counts.sum()
    entropy = -(shares * np.log(shares)).sum()  # in nats
    assert losses[0] > entropy
    assert np.mean(losses[-5:]) < 0.9 * entropy


@pytest.mark.thorough
def test_a_character_does_not_see_those_after_it(
    trained: tuple[LanguageModel, list[float]],
) -> None:
    model, _ = trained
    window = np.array(language_model.encode(TEXT[: language_model.WINDOW]))[None]
    changed = window.copy()
    changed[0, 20] = (changed[0, 20] + 1) % len(language_model.CHARACTERS)
    one, other = np.asarray(model(jnp.asarray(window))), np.asarray(model(jnp.asarray(changed)))
    np.testing.assert_array_equal(one[0, :20], other[0, :20])
    assert (one[0, 20:] != other[0, 20:]).any(axis=-1).all()


@pytest.mark.thorough
def test_logits_with_a_cache_are_those_of_a_whole_pass(
    trained: tuple[LanguageModel, list[float]],
) -> None:
    model, _ = trained
    text = language_model.encode("Errors should never pass silently.")
    whole = np.asarray(model(jnp.asarray(text)[None])[0])
    decoder = with_cache(model)
    decode_step = nnx.jit(LanguageModel.__call__)
    for position, character in enumerate(text):
        logits = decode_step(decoder, jnp.asarray(character)[None, None], jnp.asarray(position))[
            0, 0
        ]
        np.testing.assert_allclose(np.asarray(logits), whole[position], rtol=1e-4, atol=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("prompt", ["T", "Beautiful is"])
def test_samples_are_the_same_with_a_cache_as_without(
    trained: tuple[LanguageModel, list[float]], prompt: str
) -> None:
    model, _ = trained
    found = sample(model, prompt, temperature=1.0, seed=3)
    assert found == sample_slowly(model, prompt, temperature=1.0, seed=3)
    assert found != sample(model, prompt, temperature=1.0, seed=4)
    assert found.startswith(prompt)


@pytest.mark.thorough
def test_a_sample_ends_with_its_line_or_the_window(
    trained: tuple[LanguageModel, list[float]],
) -> None:
    model, _ = trained
    found = [sample(model, "T", temperature=2.0, seed=seed) for seed in range(8)]
    for text in found:
        assert text.endswith("\n") or len(text) == language_model.WINDOW
        assert "\n" not in text[:-1]
    assert len({len(text) for text in found}) > 1
    assert sample(model, "\nT", temperature=2.0).startswith("\nT")


@pytest.mark.thorough
def test_samples_of_all_lengths_are_one_program(
    trained: tuple[LanguageModel, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Traces are counted: what jax says of its cache depends on what else ran in the process.
    model, _ = trained
    draw = Mock(wraps=language_model.draw)
    monkeypatch.setattr(language_model, "draw", draw)
    generate.clear_cache()
    sample(model, "Now is")
    traces = draw.call_count
    assert traces > 0
    sample(model, "Beautiful", seed=5)
    assert draw.call_count == traces


def test_sampling_leaves_the_model_without_a_cache(
    trained: tuple[LanguageModel, list[float]],
) -> None:
    model, _ = trained
    before = [path for path, _ in nnx.to_flat_state(nnx.state(model))]
    sample(model, "Now")
    assert [path for path, _ in nnx.to_flat_state(nnx.state(model))] == before
    assert not jax.tree.leaves(nnx.state(model, nnx.Cache))


@pytest.mark.slow
def test_the_whole_run_knows_its_text_by_heart(capsys: pytest.CaptureFixture[str]) -> None:
    language_model.main([])
    said = capsys.readouterr().out
    assert "'Beautiful is better than ugly." in said
    assert float(said.split(" at last")[0].split()[-1]) < 0.2


@pytest.mark.thorough
def test_the_program_says_what_it_learned(capsys: pytest.CaptureFixture[str]) -> None:
    language_model.main(["--steps", "2"])
    said = capsys.readouterr().out
    assert "loss in nats per character" in said
    assert said.count("\n") == 4
