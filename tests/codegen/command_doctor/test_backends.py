"""What ``typed-nnx doctor`` finds out of jax in another process, whatever happens there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import jax
import pytest

from tests.codegen.command.running import run
from typed_nnx_codegen.doctor import backends
from typed_nnx_codegen.doctor.backends import ask, backend_findings
from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding
from typed_nnx_codegen.doctor.probe import IMPORTS

FIRST = 'print(\'{"begins": "jax"}\', flush=True)\n'
DONE = 'print(\'{"step": "jax", "ok": true, "seconds": 1.5, "warnings": ["careful\\\\nmore"]}\')\n'


def found(limit: float = 60.0) -> dict[str, Finding]:
    return {each.name: each for each in backend_findings(limit)}


@pytest.mark.thorough
def test_here_all_imports_and_the_devices_are_those_of_jax() -> None:
    answers = found()
    for name in IMPORTS:
        assert answers[f"import {name}"].state == OK
    devices = answers["devices"]
    assert devices.state == OK
    kind = jax.devices()[0].device_kind
    assert devices.found == f"{jax.default_backend()}: {jax.device_count()} x {kind}"


@pytest.mark.thorough
def test_a_backend_that_is_not_there_is_told_with_the_variable_that_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "no_such_backend")
    answers = found()
    assert answers["JAX_PLATFORMS"].state == NOTE
    assert answers["import jax"].state == OK
    assert answers["devices"].state == FIX
    assert "no_such_backend" in answers["devices"].found
    assert "unset JAX_PLATFORMS" in answers["devices"].remedy


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        pytest.param("import time; time.sleep(600)", "no answer after 1 s", id="hangs"),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV", id="crashes"
        ),
        pytest.param("import os; os._exit(3)", "status 3", id="exits"),
        pytest.param(
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])",
            "no answer after 1 s",
            id="hangs in a process of its own",
        ),
    ],
)
def test_a_process_that_does_not_come_to_its_end_is_told_of_in_time(code: str, ending: str) -> None:
    began = time.monotonic()
    answer = ask(
        ["jax", "devices"], 1.0, ("-c", f"{FIRST}{DONE}{FIRST.replace('jax', 'devices')}{code}")
    )
    assert time.monotonic() - began < 30
    assert ending in answer.ending
    assert set(answer.steps) == {"jax"}
    assert answer.unfinished == "devices"


def test_the_step_that_did_not_end_is_to_be_fixed_and_later_ones_are_not_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = f"{FIRST}import sys; print('driver: no luck', file=sys.stderr); sys.exit(1)"
    monkeypatch.setattr(backends, "ask", lambda steps, limit: ask(steps, limit, ("-c", code)))
    answers = found(5.0)
    assert answers["import jax"].state == FIX
    assert answers["import jax"].found.endswith("status 1; it last said: driver: no luck")
    assert "--time-limit 10" in answers["import jax"].remedy
    assert answers["devices"].state == NOTE


def test_warnings_are_told_and_are_no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        backends, "ask", lambda steps, limit: ask(steps, limit, ("-c", FIRST + DONE))
    )
    told = [each for each in backend_findings(5.0) if each.name == "import jax"]
    assert [(each.state, each.found) for each in told] == [(OK, "1.5 s"), (NOTE, "careful")]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import time; time.sleep(600)", "no answer after 3 s"),
        ("raise RuntimeError('driver too old\\nsecond line')", "RuntimeError: driver too old"),
        ("import os; os.abort()", "killed by SIGABRT"),
        ("print('hello from a library')\nraise OSError(5, 'broken')", "broken"),
    ],
    ids=["hangs", "raises", "aborts", "prints"],
)
def test_a_jax_that_is_broken_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, said: str
) -> None:
    (tmp_path / "jax.py").write_text(module, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    finding = found(3.0)["import jax"]
    assert finding.state == FIX
    assert said in finding.found
    assert finding.remedy


@pytest.mark.thorough
def test_a_jax_that_hangs_does_not_take_the_command_down(tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    # Only jax is short of time; the command has more to look at.
    more = {"PYTHONPATH": str(tmp_path)}
    done = run("doctor", "--json", "--time-limit", "10", folder=tmp_path, more=more)
    assert done.returncode == 1
    assert done.stderr == ""
    said = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert said["import jax"]["found"] == "no answer after 10 s"
    assert said["loads in mypy"]["state"] == "ok"


def test_a_file_of_the_user_named_jax_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jax.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = ask(["jax"], 60)
    assert (answer.ending, answer.steps["jax"]["ok"]) == ("", True)
