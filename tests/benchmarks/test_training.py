"""The subjects of the training benchmark do the same work: the same losses, step by step."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from benchmarks.case import PEERS
from benchmarks.training import hand_arguments, linen_loop, looped, nnx_loop, pure_step
from benchmarks.training_functional import FUNCTIONS
from benchmarks.training_models import Task, tasks
from benchmarks.training_table import Figures

TASKS = {task.name: task for task in tasks()}
STEPS = 3


def losses(task: Task) -> dict[str, list[float]]:
    """Return the losses of the first steps by subject."""
    acts = {label: nnx_loop(api, task) for label, api in PEERS}
    acts["linen"] = linen_loop(task)
    by_hand = jax.jit(pure_step(task, FUNCTIONS[task.name]))
    acts["by hand"] = looped(by_hand, *hand_arguments(task), task.batch)
    return {label: [float(act()) for _ in range(STEPS)] for label, act in acts.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["MLP", pytest.param("decoder", marks=pytest.mark.slow), "ViT"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # flax announces its own changes
def test_all_take_the_same_steps(name: str) -> None:
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        found = losses(TASKS[name])
    ours = found.pop("ours")
    assert ours[0] > ours[-1]
    for label, theirs in found.items():
        np.testing.assert_allclose(theirs, ours, rtol=2e-4, err_msg=label)


def test_the_table_has_a_ratio_for_each_other_subject_and_marks_a_goal_that_is_missed() -> None:
    figures = Figures({"date": "2026-01-02"})
    figures.add("step", {"ours": 0.002, "flax": 0.004, "linen": 0.001}, {"flax": 1.0})
    figures.add("trace", {"ours": 0.003, "flax": 0.002}, {"flax": 1.0})
    text = figures.as_markdown()
    assert text.startswith("date 2026-01-02\n\n| ")
    assert "| step | 2 | 4 | 1 |  |  | 0.50 | 2.00 |  |  |\n" in text
    assert [row.is_missed for row in figures.rows] == [False, True]
