"""Fills a migrated model with the variables of its Linen original. It imports jax.

from typed_nnx_codegen.migrate import weights

weights.load(linen_variables, model, "models.migration.json")
"""

from __future__ import annotations

from typed_nnx_codegen.migrate.weights.haiku_parameters import haiku_variables as haiku_variables
from typed_nnx_codegen.migrate.weights.loading import Loaded as Loaded
from typed_nnx_codegen.migrate.weights.loading import load as load
from typed_nnx_codegen.migrate.weights.problems import WeightsError as WeightsError
from typed_nnx_codegen.migrate.weights.sources import read as read
