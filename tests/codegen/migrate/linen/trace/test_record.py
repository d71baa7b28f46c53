"""A record is bounded, however long a program runs, and records merge."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest

from tests.support.processes import run_process
from typed_nnx_codegen.migrate.linen.trace import recording
from typed_nnx_codegen.migrate.linen.trace.record import merged, read_record, write_record
from typed_nnx_codegen.migrate.linen.trace.recording import Recorder, definitions_in


class Net(nn.Module):
    """A model with a layer."""

    width: int

    @nn.compact
    def __call__(self, x: jax.Array, step: int = 0) -> Any:
        return nn.Dense(self.width)(x) + step

    def halved(self, x: jax.Array) -> Any:
        return self(x / 2)


class Pair(nn.Module):
    """A model that calls another model by its own `apply`."""

    @nn.compact
    def __call__(self, x: jax.Array, inner: Any) -> Any:
        other = Net(5).apply(inner, x)
        return nn.Dense(2)(other) + nn.Dense(2)(x)


def recorded(*calls: Any) -> Recorder:
    """Record what functions call."""
    recorder = Recorder()
    with nn.intercept_methods(recorder.intercept):
        for call in calls:
            call()
    assert recorder.problem == ""
    return recorder


def init(width: int, size: int, **more: Any) -> Any:
    """Return a function that initialises the model."""
    return lambda: Net(width).init(jax.random.key(0), jnp.ones((2, size)), **more)


def test_what_is_called_again_is_recorded_once() -> None:
    once = recorded(init(3, 5)).tables.as_json()
    assert recorded(*[init(3, 5)] * 4).tables.as_json() == once
    assert [one["method"] for one in once["calls"]] == ["__call__", "__call__"]


def test_a_number_that_changes_at_each_step_does_not_fill_the_record() -> None:
    variables = init(3, 5)()
    steps = [lambda n=n: Net(3).apply(variables, jnp.ones((2, 5)), n) for n in range(500)]
    tables = recorded(*steps).tables
    assert len(tables.calls) <= 2 * recording._MOST_ROOTS
    assert tables.dropped == 500 - recording._MOST_ROOTS


def test_calls_within_a_model_that_is_called_within_another_are_its_own() -> None:
    inner = init(5, 3)()
    tables = recorded(lambda: Pair().init(jax.random.key(0), jnp.ones((2, 3)), inner)).tables
    names = [tables.classes[one["class"]]["name"] for one in tables.modules]
    owners = [
        one["parent"] if one["parent"] is None else names[one["parent"]] for one in tables.modules
    ]
    assert list(zip(names, owners, strict=True)) == [
        ("Pair", None),
        ("Net", None),
        ("Dense", "Net"),
        ("Dense", "Pair"),
        ("Dense", "Pair"),
    ]


def test_which_methods_ran_is_recorded_with_the_call_around_each() -> None:
    tables = recorded(
        lambda: Net(3).init(jax.random.key(0), jnp.ones((2, 5)), method="halved")
    ).tables
    assert [(one["method"], one["within"]) for one in tables.calls] == [
        ("halved", None),
        ("__call__", 0),
        ("__call__", 1),
    ]


def test_what_fails_is_recorded_up_to_there_and_fails_as_before() -> None:
    def wrong() -> None:
        Net(3).init(jax.random.key(0), jnp.ones((2, 5)), step="no number")

    recorder = Recorder()
    with nn.intercept_methods(recorder.intercept), pytest.raises(TypeError):
        wrong()
    assert ["outputs" in one for one in recorder.tables.calls] == [False, True]
    with nn.intercept_methods(recorder.intercept):
        init(4, 5)()
    assert recorder.tables.calls[2]["within"] is None


def test_a_call_that_cannot_be_described_is_passed_over_and_the_others_are_there() -> None:
    class Odd(Exception):
        @property
        def shape(self) -> Any:
            raise RuntimeError("no shape")

    class Takes(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array, odd: Any) -> Any:
            return nn.Dense(3)(x)

    recorder = Recorder()
    with nn.intercept_methods(recorder.intercept):
        outputs, _ = Takes().init_with_output(jax.random.key(0), jnp.ones((2, 4)), Odd())
        init(3, 5)()
    assert outputs.shape == (2, 3)
    assert recorder.problem == "RuntimeError: no shape"
    assert [one["method"] for one in recorder.tables.calls] == ["__call__", "__call__"]


def test_records_merge_without_what_is_equal(tmp_path: Path) -> None:
    one, two, both = (
        recorded(*calls).tables.as_json()
        for calls in ([init(3, 5)], [init(3, 5), init(4, 6)], [init(3, 5), init(4, 6)])
    )
    for number, record in enumerate((one, two)):
        record["runs"] = [{"name": f"run {number}"}]
    tables = merged([one, two])
    assert len(tables.calls) == len(both["calls"])
    assert [call["run"] for call in tables.calls if call["within"] is None] == [0, 1]
    assert merged([tables.as_json()]).as_json() == tables.as_json()

    path = tmp_path / "trace.json"
    write_record(path, tables)
    assert read_record(path) == {**tables.as_json(), "classes": read_record(path)["classes"]}
    files = [each["file"] for each in read_record(path)["classes"] if not each["library"]]
    assert files == [str(Path(__file__).resolve())]


def test_the_digest_of_a_class_is_that_of_its_code(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        path = tmp_path / "code.py"
        path.write_text(text)
        (one,) = definitions_in(path)
        return one.digest

    code = "class A:\n    x = 1\n\n    def f(self): return 2\n"
    assert digest(f"import os\n\n# A class\n{code}y = 3\n") == digest(code)
    assert digest(code.replace("\n\n", "\n    # It returns.\n")) == digest(code)
    assert digest(code.replace("2", "3")) != digest(code)


def test_the_recorder_of_programs_imports_the_standard_library_alone(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_bytes(Path(recording.__file__).read_bytes())
    code = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    variables = {"PYTHONPATH": str(tmp_path), "TYPED_NNX_TRACE": str(tmp_path)}
    done = run_process(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "sitecustomize" in loaded
    assert not loaded & {"jax", "flax", "numpy", "typed_nnx", "typed_nnx_codegen", "libcst"}
