"""What every test runs under: jax's strict promotion rules, so that no test passes by accident."""

from __future__ import annotations

import os
from pathlib import Path

import jax
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# More than half of the time of the tests was XLA's: it optimises programs that run once, on a few
# numbers. Both sides of a comparison are compiled with the same flags.
QUICK_COMPILER = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)


def pytest_configure(config: pytest.Config) -> None:
    """Have XLA compile quickly; `make test-all` runs what users run, its optimised programs."""
    on_cpu = os.environ.get("JAX_PLATFORMS") == "cpu"
    if on_cpu and config.option.markexpr == "not slow" and "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = " ".join(QUICK_COMPILER)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that the workers of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent
