"""Answer with a model that was exported: this program needs jax, flatbuffers, safetensors and numpy.

Run ``python serve.py FOLDER [IMAGES.npy]``: images are float32 [n, 64] from 0 to 1. It prints a line of
JSON for each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jax.export
import numpy as np
from safetensors.numpy import load_file


def main(folder: Path, images: np.ndarray) -> None:
    """Load the program and the weights, and answer."""
    program = jax.export.deserialize(bytearray((folder / "program.bin").read_bytes()))
    weights = jax.device_put(load_file(folder / "weights.safetensors"))
    answer = jax.jit(program.call)  # compiled once for each size of a batch
    found = answer(weights, images)
    for digit, probability in zip(found["digit"], found["probability"], strict=True):
        print(json.dumps({"digit": int(digit), "probability": round(float(probability), 4)}))


if __name__ == "__main__":
    given = sys.argv[2:]
    main(Path(sys.argv[1]), np.load(given[0]) if given else np.zeros((1, 64), np.float32))
