"""A model is exported, and a process that has neither typed_nnx nor flax answers with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from examples.serving import __main__ as program
from tests.support.processes import Command, run_process

SERVER = Path(program.__file__).with_name("serve.py")

# Refuses what a server does not have, then runs the server.
ALONE = """
import runpy, sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("typed_nnx", "flax", "optax", "tensorflow", "examples"):
            raise ImportError(f"{name} is refused")

sys.meta_path.insert(0, Refusal())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.thorough
def test_a_process_without_the_library_answers_as_the_model_does(tmp_path: Path) -> None:
    model = program.train(60)
    program.write(model, tmp_path / "served")
    images, labels = (part[-program.TESTED :] for part in program.data())
    np.save(tmp_path / "images.npy", images)
    command: Command = [
        sys.executable,
        "-c",
        ALONE,
        SERVER,
        tmp_path / "served",
        tmp_path / "images.npy",
    ]
    done = run_process(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    model.eval()
    logits = np.asarray(model(jnp.asarray(images)))
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    digits = [answer["digit"] for answer in answers]
    assert digits == logits.argmax(-1).tolist()
    probabilities = [answer["probability"] for answer in answers]
    np.testing.assert_allclose(probabilities, chances.max(-1), atol=1e-4)
    assert np.mean(digits == labels) > 0.8


@pytest.mark.thorough
def test_the_program_is_for_every_platform_and_any_batch(tmp_path: Path) -> None:
    program.write(program.Classifier(rngs=nnx.Rngs(0)), tmp_path)
    found = jax.export.deserialize(bytearray((tmp_path / "program.bin").read_bytes()))
    assert found.platforms == program.PLATFORMS
    assert [str(aval.shape[0]) for aval in found.out_avals] == ["batch", "batch"]


@pytest.mark.thorough
def test_the_program_writes_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program.main(["--out", str(tmp_path), "--steps", "1"])
    said = capsys.readouterr().out
    assert "program.bin: " in said
    assert "weights.safetensors: " in said
