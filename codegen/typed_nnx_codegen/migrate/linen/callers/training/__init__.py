"""Training code with flax's TrainState: it becomes code with an NNX model and its optimizer."""

from __future__ import annotations

from typed_nnx_codegen.migrate.linen.callers.training.found import Found as Found
from typed_nnx_codegen.migrate.linen.callers.training.reading import training_in as training_in
from typed_nnx_codegen.migrate.linen.callers.training.writing import TrainingCode as TrainingCode
