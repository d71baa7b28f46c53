"""``--trace``: programs of users are run, and tell the sizes that their code does not."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.codegen.migrate.linen.command.running import run, written
from tests.support.processes import started_process
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.migrate.linen.trace.record import NAME
from typed_nnx_codegen.verify.command import verify

# `eval` is looked at while the program runs, so no analysis of the text knows the widths.
LAYERS = """import flax.linen as nn


def hidden(x, code):
    return eval(code)


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm()(nn.Dense(3)(hidden(x, "x[..., :4]")))
"""
MODEL = """import flax.linen as nn

from pkg.layers import Inner, hidden


class Outer(nn.Module):
    n: int = 2

    def setup(self):
        self.inner = Inner()
        self.last = nn.Dense(self.n)

    def __call__(self, x):
        return self.last(hidden(self.inner(x), "x[..., 1:]"))


class Unused(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(hidden(x, "x + 1"))
"""
TRAIN = """import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

from pkg.model import Outer

model = Outer(n=5)
x = jnp.ones((2, 6))
params = model.init(jax.random.key(0), x)
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def step(state):
    grads = jax.grad(lambda params: state.apply_fn(params, x).sum())(state.params)
    return state.apply_gradients(grads=grads)


"""
LOOP = "for number in range({steps}):\n    state = step(state)\n    print('step', number, flush=True)\n"
CALLS = """import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [
    Example(Build("Outer", n=3), jnp.ones((2, 5))),
    Example(Build("Outer", n=5), jnp.ones((1, 7))),
]
"""
PYTHON = sys.executable
MAIN = "from typed_nnx_codegen.cli import main; main()"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a package of two Linen files and a program that trains."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    files = {"__init__.py": "", "layers.py": LAYERS, "model.py": MODEL}
    written(tmp_path / "pkg", files)
    written(tmp_path, {"train.py": TRAIN + LOOP.format(steps=3), "calls.py": CALLS})
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    """Return the files of a package."""
    return {one.name: one.read_text() for one in sorted((folder / "pkg").glob("*.py"))}


def code_of(name: str, file: str = "model.py") -> str:
    """Return the text of a migrated class."""
    text = Path("pkg", file).read_text()
    return text.partition(f"class {name}(")[2].partition("\n\n\n")[0]


def check_outer_is_migrated() -> None:
    """Check that the sizes of the classes that the program calls are known, and say whence."""
    inner = code_of("Inner", "layers.py")
    assert "dense_0_in_features: int = 4,  # from trace\n" in inner
    assert "last_in_features: int = 2,  # from trace\n" in code_of("Outer")
    assert "TODO[typed-nnx]" not in inner + code_of("Outer")


def check_outputs_are_equal(before: Path) -> None:
    """Check what was migrated against Linen, with the weights of Linen in both."""
    arguments = [str(before / "pkg" / "model.py"), "pkg/model.py", "--example", "calls.py"]
    done = CliRunner().invoke(verify, arguments)
    assert done.exit_code == 0, done.output
    assert "2 of 2 examples are equal" in done.output


def copied(project: Path) -> Path:
    """Return a folder with a copy of the package."""
    before = project.with_name(f"{project.name}-before")
    written(before / "pkg", texts(project))
    return before


def traced(command: str, *more: str) -> Any:
    """Migrate the package with what a command tells, and write it."""
    return run("pkg", "--write", "--trace", command, *more)


def record() -> dict[str, Any]:
    """Return the record of the last run."""
    found: dict[str, Any] = json.loads(Path(NAME).read_text())
    return found


@pytest.mark.thorough
def test_a_training_script_tells_the_sizes_and_the_migrated_model_computes_the_same(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = copied(project)
    result = traced(f"{PYTHON} train.py")

    assert result.exit_code == 0, result.output
    assert capfd.readouterr().err.count("step") == 3
    assert re.search(r"it ended with status 0 after [\d.]+ s", result.output)
    check_outer_is_migrated()
    check_outputs_are_equal(before)
    # What no program called and no rule proves is left to a person, with the line to run.
    unused = code_of("Unused")
    assert "TN201: the size of its input is not known: give `dense_0_in_features`" in unused
    assert 'typed-nnx migrate --linen ... --trace "..."' in unused
    assert [one.name for one in project.iterdir() if "typed_nnx_trace" in one.name] == [NAME]


@pytest.mark.thorough
def test_the_record_has_classes_fields_calls_and_variables(project: Path) -> None:
    traced(f"{PYTHON} train.py")

    found = record()
    assert found["runs"] == [{"name": f"{PYTHON} train.py", "status": 0}]
    (outer,) = [one for one in found["classes"] if one["name"] == "Outer"]
    line = MODEL[: MODEL.index("class Outer")].count("\n") + 1
    assert (outer["module"], outer["file"], outer["line"]) == ("pkg.model", "pkg/model.py", line)
    root = found["modules"][0]
    assert (root["fields"], root["sizes"]) == ({"n": ["int", "5"]}, {"self.n": 5})
    last = next(one for one in found["modules"] if one["name"] == "last")
    call = next(one for one in found["calls"] if found["modules"][one["module"]] == last)
    assert call["arguments"]["inputs"] == {"shape": [2, 2], "dtype": "float32"}
    assert call["variables"]["params"]["kernel"]["shape"] == [2, 5]
    assert found["calls"][call["within"]]["arguments"]["x"]["shape"] == [2, 6]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pkg/train.py": TRAIN + LOOP.format(steps=1)}, f"{PYTHON} -m pkg.train"),
        (
            {
                "tests/test_model.py": "import jax, jax.numpy as jnp\nfrom pkg.model import Outer\n\n\n"
                "def test_shape():\n"
                "    out, _ = Outer().init_with_output(jax.random.key(0), jnp.ones((2, 6)))\n"
                "    assert out.shape == (2, 2)\n"
            },
            f"{PYTHON} -m pytest tests -q -p no:cacheprovider",
        ),
        (
            {
                "run.ipynb": json.dumps(
                    {
                        "cells": [
                            {"cell_type": "markdown", "source": ["# A model"]},
                            {"cell_type": "code", "source": ["%who\n", "!echo shell\n"]},
                            {"cell_type": "code", "source": TRAIN.splitlines(keepends=True)},
                        ]
                    }
                )
            },
            "run.ipynb",
        ),
        (
            {"start.py": f"import subprocess\nsubprocess.run([{PYTHON!r}, 'train.py'])\n"},
            f"{PYTHON} start.py",
        ),
        (
            {
                "start.py": "import multiprocessing, runpy\n\nif __name__ == '__main__':\n"
                "    context = multiprocessing.get_context('spawn')\n"
                "    process = context.Process(target=runpy.run_path, args=('train.py',))\n"
                "    process.start()\n    process.join()\n"
            },
            f"{PYTHON} start.py",
        ),
        (
            {
                "start.py": "import runpy, threading\n"
                "thread = threading.Thread(target=runpy.run_path, args=('train.py',))\n"
                "import flax.linen\nthread.start()\nthread.join()\n"
            },
            f"TRAIN=1 {PYTHON} start.py",
        ),
    ],
    ids=["-m", "pytest", "notebook", "subprocess", "spawned", "thread"],
)
def test_any_program_of_python_is_recorded(
    project: Path, files: dict[str, str], command: str
) -> None:
    if command == "run.ipynb":
        pytest.importorskip("IPython")
    written(project, files)
    result = traced(command)

    assert result.exit_code == 0, result.output
    check_outer_is_migrated()


@pytest.mark.thorough
def test_a_program_that_crashes_after_its_first_step_tells_what_it_did(project: Path) -> None:
    written(project, {"train.py": f"{TRAIN}{LOOP.format(steps=1)}raise SystemExit(7)\n"})
    result = traced(f"{PYTHON} train.py")

    assert result.exit_code == 0, result.output
    assert "it ended with status 7" in result.output
    assert record()["runs"][0]["status"] == 7
    check_outer_is_migrated()


@pytest.mark.thorough
def test_a_program_that_is_killed_tells_what_it_did_until_then(project: Path) -> None:
    kill = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    written(project, {"train.py": f"{TRAIN}{LOOP.format(steps=1)}{kill}"})
    result = traced(f"{PYTHON} train.py")

    assert "it was ended by signal 9 (SIGKILL)" in result.output
    assert record()["calls"]


@pytest.mark.thorough
def test_ctrl_c_ends_the_program_and_what_was_seen_counts(project: Path) -> None:
    endless = "import time\nwhile True:\n    state = step(state)\n    print('step', flush=True)\n    time.sleep(0.1)\n"
    written(project, {"train.py": TRAIN + endless})
    command = [PYTHON, "-c", MAIN, "migrate", "--linen", "pkg", "--write", "--trace"]
    with started_process(
        [*command, f"{PYTHON} train.py"], stdout=-1, stderr=-1, text=True
    ) as process:
        assert process.stderr is not None
        while "step" not in (line := process.stderr.readline()):
            assert line, "it ended before its first step"
        # As a terminal does: all processes of the group are told.
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate()

    assert process.returncode == 0, errors
    assert "--trace: Ctrl-C ended it" in output
    check_outer_is_migrated()


@pytest.mark.thorough
def test_trace_steps_ends_a_program_that_has_no_end(project: Path) -> None:
    endless = (
        "while True:\n    state = state.apply_fn(state.params, x), state\n    state = state[1]\n"
    )
    written(project, {"train.py": TRAIN + endless})
    began = time.monotonic()
    result = traced(f"{PYTHON} train.py", "--trace-steps", "3")

    assert result.exit_code == 0, result.output
    assert time.monotonic() - began < 120
    check_outer_is_migrated()


@pytest.mark.thorough
def test_the_program_runs_as_it_does_alone(project: Path) -> None:
    written(
        project,
        {
            "site/sitecustomize.py": "import os\nos.environ['SEEN'] = 'yes'\n",
            "train.py": "import os, sys\n"
            "assert os.environ['SEEN'] == 'yes'\n"
            "assert not any('typed_nnx_trace' in one for one in sys.path), sys.path\n"
            "assert 'jax' not in sys.modules and 'flax' not in sys.modules\n"
            "import flax.linen as nn\n"
            "assert type(nn.__loader__).__name__ == type(nn.__spec__.loader).__name__\n"
            f"{TRAIN}print(sys.argv)\n",
        },
    )
    command = f"PYTHONPATH=site {PYTHON} train.py --steps '1 2'"
    result = traced(command)

    assert result.exit_code == 0, result.output
    assert record()["runs"] == [{"name": command, "status": 0}]


# -- sizes that differ, and records that are used again ---------------------------------------------

WIDE = """import flax.linen as nn


def hidden(x, code):
    return eval(code)


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return nn.Dense(2)(hidden(x, "x * 2"))
"""
BUILD = """import sys

import jax
import jax.numpy as jnp

from net import Net

Net(int(sys.argv[1])).init(jax.random.key(0), jnp.ones((2, int(sys.argv[2]))))
"""


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a model and a program that builds it in a width."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {"net.py": WIDE, "build.py": BUILD})
    return tmp_path


@pytest.mark.thorough
def test_sizes_that_differ_between_runs_are_the_expression_that_agrees_in_all(wide: Path) -> None:
    commands = [f"{PYTHON} build.py {width} {size}" for width, size in ((3, 5), (4, 5))]
    result = run("net.py", "-o", "one.py", "--trace", commands[0])
    assert result.exit_code == 0, result.output
    assert "dense_1_in_features: int = 3,  # from trace" in Path("one.py").read_text()

    # The record of one run, and another run.
    result = run("net.py", "-o", "both.py", "--trace", NAME, "--trace", commands[1])
    assert result.exit_code == 0, result.output
    assert [one["name"] for one in record()["runs"]] == commands
    text = Path("both.py").read_text()
    assert "self.dense_1 = nnx.Linear(self.width, 2, rngs=rngs)" in text
    assert "TODO" not in text

    # The record of both, and no run.
    Path(NAME).rename("both.json")
    result = run("net.py", "-o", "again.py", "--trace", "both.json")
    assert result.exit_code == 0, result.output
    assert Path("again.py").read_text() == text
    assert not Path(NAME).exists()


BRANCHES = """import flax.linen as nn


class Net(nn.Module):
    width: int
    hidden: int = 12

    @nn.compact
    def __call__(self, x, wide=False):
        if wide:
            x = nn.Dense(self.hidden, name="wide")(x)
        else:
            x = nn.Dense(self.width, name="narrow")(x)
        return nn.Dense(2, name="last")(x)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("width", "code"),
    [
        pytest.param(6, "nnx.Linear(self.width, 2, rngs=rngs)", id="one of them agrees"),
        pytest.param(12, "last_in_features: int = 12,  # from trace", id="both agree"),
    ],
)
def test_a_trace_decides_between_the_sizes_that_the_code_may_mean(
    wide: Path, width: int, code: str
) -> None:
    (wide / "net.py").write_text(BRANCHES)
    run("net.py", "-o", "new.py", "--trace", f"{PYTHON} build.py {width} 5")
    text = Path("new.py").read_text()
    assert code in text
    assert "TODO" not in text
    head = CALLS.partition("EXAMPLES")[0]
    Path("calls.py").write_text(
        f'{head}EXAMPLES = [Example(Build("Net", {width}), jnp.ones((2, 5)))]\n'
    )
    done = CliRunner().invoke(verify, ["net.py", "new.py", "--example", "calls.py"])
    assert "1 of 1 examples are equal" in done.output, done.output


CALLED = """import flax.linen as nn


def code(x, text):
    return eval(text)


def sizes(x):
    return [*map(int, str(x.shape)[1:-1].split(", "))]


class Place(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + self.param("place", nn.initializers.normal(0.1), sizes(x)[1:])[None]


class Flat(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.normal(0.1), (x.shape[3],))
        return x * scale[None, None, None]


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(Place()(x))
        y = nn.Dense(sizes(x)[-1] + 1)(x)
        for _ in range(2):
            y = Flat()(code(y, "x[None, None] if x.ndim < 4 else x[..., 1:]"))
        return y
"""


@pytest.mark.thorough
def test_fields_shapes_of_variables_and_lists_of_shapes_come_from_a_trace(wide: Path) -> None:
    (wide / "net.py").write_text(CALLED)
    result = run("net.py", "-o", "new.py", "--trace", f"{PYTHON} build.py 4 5")
    text = Path("new.py").read_text()
    assert result.exit_code == 0, result.output
    assert "place_shape: tuple[int, ...] = (5,),  # from trace" in text
    assert "features: int = 5,  # from trace" in text
    assert "((None,None,None,5),(None,None,None,4),),#fromtrace" in "".join(text.split())
    assert "TODO" not in text
    head = CALLS.partition("EXAMPLES")[0]
    Path("calls.py").write_text(f'{head}EXAMPLES = [Example(Build("Net", 4), jnp.ones((2, 5)))]\n')
    done = CliRunner().invoke(verify, ["net.py", "new.py", "--example", "calls.py"])
    assert "1 of 1 examples are equal" in done.output, done.output


@pytest.mark.thorough
def test_a_class_that_was_changed_after_its_record_was_made_is_told(wide: Path) -> None:
    run("net.py", "-o", "new.py", "--trace", f"{PYTHON} build.py 3 5")
    # A comment changes nothing.
    (wide / "net.py").write_text(WIDE.replace("class Net", "# A model.\n\n\nclass Net"))
    result = run("net.py", "-o", "new.py", "--trace", NAME)
    assert "# from trace" in Path("new.py").read_text()
    assert "the trace is older" not in result.output

    (wide / "net.py").write_text(WIDE.replace("nn.Dense(2)", "nn.Dense(7)"))
    result = run("net.py", "-o", "new.py", "--trace", NAME)
    assert result.exit_code == 0
    assert "the trace is older than Net (net.py): what it says of that is not used" in result.output
    assert "Fix: run --trace with a command again" in result.output
    text = Path("new.py").read_text()
    assert "# from trace" not in text
    assert "give `dense_1_in_features`; the trace is older than `Net`: typed-nnx" in text


@pytest.mark.thorough
def test_a_record_that_was_made_elsewhere_is_of_the_same_code(wide: Path) -> None:
    run("net.py", "-o", "new.py", "--trace", f"{PYTHON} build.py 3 5")
    elsewhere = wide / "elsewhere"
    written(elsewhere, {"net.py": WIDE})
    (wide / NAME).rename(elsewhere / "trace.json")
    (wide / "net.py").unlink()
    result = run("elsewhere/net.py", "-o", "new.py", "--trace", "elsewhere/trace.json")
    assert result.exit_code == 0
    assert "dense_1_in_features: int = 3,  # from trace" in Path("new.py").read_text()


def test_a_size_that_a_trace_contradicts_gets_a_marker_with_both(wide: Path) -> None:
    run("net.py", "-o", "new.py", "--trace", f"{PYTHON} build.py 3 5")
    found = record()
    for call in found["calls"]:
        module = found["modules"][call["module"]]
        if module["name"] == "Dense_0":
            call["arguments"]["inputs"]["shape"] = [2, 9]
    Path("wrong.json").write_text(json.dumps(found))
    run("net.py", "-o", "new.py", "--trace", "wrong.json")
    text = Path("new.py").read_text()
    said = "TN207: the code says that a size is `x.shape[-1]`, 5, in the trace of"
    assert f"{said} `{PYTHON} build.py 3 5` it is 9\n" in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it cannot be read as JSON"),
        ("{}", "it is no record of --trace: no `typed_nnx_trace`"),
        ('{"typed_nnx_trace": 99}', "it is a record of version 99, this command reads version 1"),
        ('{"typed_nnx_trace": 1}', "it lacks one of the tables"),
    ],
    ids=["no JSON", "another file", "another version", "incomplete"],
)
def test_a_file_that_is_no_record_is_refused(wide: Path, text: str, says: str) -> None:
    Path("trace.json").write_text(text)
    result = run("net.py", "-o", "new.py", "--trace", "trace.json")
    assert result.exit_code == 2
    assert says in result.stderr
    assert "Fix: " in result.stderr
    assert not (wide / "new.py").exists()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("not-a-program --steps 1", "'not-a-program' cannot be started"),
        ('python "train.py', "it is no command: No closing quotation"),
        (f"{PYTHON} -c 'print(1)'", "it ended with status 0, and called no module of flax.linen"),
        ("nothing.ipynb", "there is no such notebook"),
        ("nothing.json", "it cannot be read as JSON"),
    ],
)
@pytest.mark.usefixtures("wide")
def test_a_command_that_tells_nothing_is_refused(command: str, says: str) -> None:
    result = run("net.py", "-o", "new.py", "--trace", command)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not Path("new.py").exists()
    assert not list(Path().glob(".typed_nnx_trace*"))


def test_the_codemod_of_older_code_traces_nothing(wide: Path) -> None:
    arguments = ["migrate", "net.py", "--trace", "python train.py"]
    done = CliRunner().invoke(typed_nnx, arguments)
    assert done.exit_code == 2
    assert "--trace is for code of flax.linen" in done.output
    assert not (wide / NAME).exists()
