"""Hypothesis budgets: small by default, large where the run asks for slow tests."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.examples import share

# No explain phase: it re-runs a failing example for half a minute to say what the shrunk example says.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink]
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# The small budget draws the same examples on every run; the large one explores.
settings.register_profile(
    "graph",
    derandomize=True,
    max_examples=100,
    deadline=None,
    phases=PHASES,
    suppress_health_check=CHECKS,
)
settings.register_profile(
    "graph-slow", settings.get_profile("graph"), derandomize=False, max_examples=500
)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the budget before the property tests are imported."""
    wants_slow = not config.getoption("markexpr").startswith("not slow")
    settings.register_profile("graph-quick", settings.get_profile("graph"), max_examples=share(100))
    settings.load_profile("graph-slow" if wants_slow else "graph-quick")
