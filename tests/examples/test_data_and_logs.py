"""The loop logs what its steps computed, to any logger, and goes on where it was saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import data_and_logs
from examples.data_and_logs import (
    Batches,
    Run,
    ShuffledDigits,
    grain_digits,
    to_tensorboard,
    to_wandb,
)

Lines = list[tuple[int, dict[str, float]]]


def logged(lines: Lines) -> Callable[[int, Mapping[str, float]], None]:
    return lambda step, values: lines.append((step, dict(values)))


def run_of(steps: int, every: int) -> Lines:
    lines: Lines = []
    Run(ShuffledDigits(), logged(lines)).train(range(steps), every)
    return lines


@pytest.mark.thorough
def test_a_line_is_the_mean_of_its_steps() -> None:
    single, pairs = run_of(4, 1), run_of(4, 2)
    assert [step for step, _ in single] == [1, 2, 3, 4]
    assert [step for step, _ in pairs] == [2, 4]
    for number, (_, values) in enumerate(pairs):
        for name in ("loss", "accuracy"):
            two = [found[name] for _, found in single[2 * number : 2 * number + 2]]
            assert values[name] == pytest.approx(np.mean(two), rel=1e-5)


@pytest.mark.thorough
def test_a_line_is_read_when_the_next_one_is_computed() -> None:
    batches, taken = ShuffledDigits(), []
    run = Run(batches, lambda step, _: taken.append((step, batches.step)))
    run.train(range(6), 2)
    assert taken == [(2, 4), (4, 6), (6, 6)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "made",
    [ShuffledDigits, pytest.param(grain_digits, marks=pytest.mark.filterwarnings("ignore"))],
    ids=["our own", "grain"],
)
def test_a_run_goes_on_where_it_was_saved(made: Callable[[], Batches], tmp_path: Path) -> None:
    if made is grain_digits:
        pytest.importorskip("grain")
    whole: Lines = []
    Run(made(), logged(whole)).train(range(9), 3)
    parts: Lines = []
    first = Run(made(), logged(parts))
    first.train(range(4), 3)  # in the middle of a line: the metrics are saved too
    first.save(str(tmp_path / "run"))
    second = Run(made(), logged(parts))
    second.restore(str(tmp_path / "run"))
    second.train(range(4, 9), 3)
    assert parts == whole


def test_loggers_get_names_values_and_steps() -> None:
    class Fake:
        def __init__(self) -> None:
            self.calls: list[Any] = []

        def add_scalar(self, tag: str, value: float, step: int, /) -> None:
            self.calls.append((tag, value, step))

        def log(self, data: dict[str, Any], /, *, step: int) -> None:
            self.calls.append((data, step))

    fake = Fake()
    to_tensorboard(fake)(3, {"loss": 0.5, "accuracy": 1.0})
    to_wandb(fake)(4, {"loss": 0.25})
    assert fake.calls == [("loss", 0.5, 3), ("accuracy", 1.0, 3), ({"loss": 0.25}, 4)]


@pytest.mark.thorough
def test_the_program_prints_a_line_for_each_interval(capsys: pytest.CaptureFixture[str]) -> None:
    data_and_logs.main(["--steps", "4", "--every", "2"])
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["step 2", "step 4"]
