"""NNX's optimizer, under the name that the seed documents' programs use."""

from __future__ import annotations

from typed_nnx.training.optimizer import Optimizer as Optimizer
