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


# How many cases of one parametrized test `make test` runs; spread over all, so that each kind is met.
CASES = 5


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `thorough` all but some cases of each test that has many."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        function = item.name.partition("[")[0]
        cases.setdefault((item.path, function), []).append(item)
    for group in cases.values():
        step = -(-len(group) // CASES)
        for number, item in enumerate(group):
            if number % step:
                item.add_marker("thorough")


def pytest_configure(config: pytest.Config) -> None:
    """Have XLA compile quickly; `make test-all` runs what users run, its optimised programs."""
    on_cpu = os.environ.get("JAX_PLATFORMS") == "cpu"
    is_quick = config.option.markexpr.startswith("not slow")
    if on_cpu and is_quick and "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = " ".join(QUICK_COMPILER)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that the workers of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent
