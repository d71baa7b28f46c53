"""What every test runs under: jax's strict promotion rules, so that no test passes by accident."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from tests.support import examples
from tests.support.processes import accept_interrupts

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# More than half of the time of the tests was XLA's: it optimises programs that run once, on a few
# numbers. Both sides of a comparison are compiled with the same flags.
QUICK_COMPILER = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_parallel_codegen_split_count=1",
    # A flag that XLA does not know ends the process.
    *(["--xla_cpu_use_fusion_emitters=false"] if jax.__version_info__ < (0, 11) else []),
)


# Seconds that a test may take, its fixtures too: many times what the longest takes on an idle machine.
LIMIT, LIMIT_OF_SLOW = 300, 1200

# How many cases of one parametrized test `make test` runs; spread over all, so that each kind is met.
CASES = 2
_FLAX = re.compile(r"(?<=[\[-])flax(?=[\]-])")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test a limit of time, and mark as `thorough` all but some cases of each that has many."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    names = {(item.path, item.name) for item in items}
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_OF_SLOW if is_slow else LIMIT))
        # That a law holds in flax.nnx says that it is the law there too, and nothing of us.
        is_oracle = (item.path, _FLAX.sub("ours", item.name)) in names and _FLAX.search(item.name)
        if is_oracle:
            item.add_marker("thorough")
        elif not is_slow and item.get_closest_marker("every_case") is None:
            function = item.name.partition("[")[0]
            cases.setdefault((item.path, function), []).append(item)
    for group in cases.values():
        step = -(-len(group) // CASES)
        for number, item in enumerate(group):
            if number % step:
                item.add_marker("thorough")


def pytest_configure(config: pytest.Config) -> None:
    """Have XLA compile quickly; `make test-all` runs what users run, its optimised programs.

    Also runs that are started with SIGINT ignored, as `nohup make test &` does, test what Ctrl-C does.
    """
    accept_interrupts()
    examples.quick = "not thorough" in config.option.markexpr
    examples.many = not config.option.markexpr.startswith("not slow")
    on_cpu = os.environ.get("JAX_PLATFORMS") == "cpu"
    is_quick = config.option.markexpr.startswith("not slow")
    if on_cpu and is_quick and "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = " ".join(QUICK_COMPILER)


@pytest.fixture
def default_promotion() -> Iterator[None]:
    """Undo the strict rules of promotion for tests of what users run and of what optax computes."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that the workers of a test run share."""
    folder = tmp_path_factory.getbasetemp()
    return folder if worker_id == "master" else folder.parent
