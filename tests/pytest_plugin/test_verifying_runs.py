"""The pytest plugin, in runs of pytest on small projects."""

from __future__ import annotations

import importlib.metadata
import os
import sys

import pytest

import typed_nnx as nnx
from typed_nnx_pytest import plugin
from typed_nnx_pytest.mode import VARIABLE, VerifyingMode
from typed_nnx_pytest.plugin import MARKER, OPTION, SETTING

pytest_plugins = ["pytester"]

# A write past the runtime, whose record is then used: only the verifying mode sees it.
SNEAKY = """\
import jax.numpy as jnp
import pytest
import typed_nnx as nnx


def use_after_a_sneaky_write():
    model = nnx.Dict(weight=nnx.Param(jnp.ones(2)))
    nnx.split(model)
    vars(model)["weight"] = nnx.Param(jnp.zeros(2))
    nnx.split(model)


def test_sneaky():
    use_after_a_sneaky_write()
"""
MARKED = f"""\

@pytest.mark.{MARKER}
def test_left_out():
    use_after_a_sneaky_write()


def test_sneaky_too():
    use_after_a_sneaky_write()
"""


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the mode of this run, other plugins and options out of the runs inside."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def outcomes(
    pytester: pytest.Pytester, *options: str, own_process: bool = False
) -> tuple[dict[str, int], str]:
    """Run pytest, here or in a process of its own; return its outcomes and its output."""
    run = pytester.runpytest_subprocess if own_process else pytester.runpytest_inprocess
    result = run("-p", "no:cacheprovider", "-p", "typed_nnx_pytest.plugin", *options)
    return result.parseoutcomes(), result.stdout.str()


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    (entry,) = importlib.metadata.entry_points(group="pytest11", name="typed_nnx")
    assert entry.load() is plugin


def test_the_option_finds_a_write_that_went_past_the_runtime(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SNEAKY)
    assert outcomes(pytester)[0] == {"passed": 1}
    found, output = outcomes(pytester, OPTION)
    assert found == {"failed": 1}
    assert "StaleRecordError" in output
    assert "Fix: call nnx.invalidate(model)" in output


def test_the_setting_does_what_the_option_does(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SNEAKY)
    pytester.makeini(f"[pytest]\n{SETTING} = true\n")
    found, output = outcomes(pytester)
    assert found == {"failed": 1}
    assert f"({SETTING} in the settings of pytest)" in output
    assert outcomes(pytester, "-o", f"{SETTING}=false")[0] == {"passed": 1}


def test_the_variable_of_the_runtime_does_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(SNEAKY + MARKED)
    monkeypatch.setenv(VARIABLE, "1")
    found, output = outcomes(pytester)
    assert found == {"failed": 2, "passed": 1}
    assert f"({VARIABLE} in the environment)" in output


def test_the_header_says_that_records_are_verified_only_when_they_are(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    line = f"typed-nnx: each use of a cached record is verified ({OPTION})"
    assert line in outcomes(pytester, OPTION)[1].splitlines()
    assert "typed-nnx: " not in outcomes(pytester)[1]


def test_a_marked_test_is_left_out_and_the_one_after_it_is_not(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SNEAKY + MARKED)
    found, output = outcomes(pytester, OPTION, "-rA", "--strict-markers")
    assert found == {"failed": 2, "passed": 1}
    assert (
        "PASSED test_a_marked_test_is_left_out_and_the_one_after_it_is_not.py::test_left_out"
        in (output)
    )


def test_each_test_starts_in_the_mode_whatever_the_one_before_did(
    pytester: pytest.Pytester,
) -> None:
    switching = "\ndef test_a_switch():\n    nnx.set_verify_records(False)\n"
    pytester.makepyfile(SNEAKY.replace("\ndef test_sneaky", f"{switching}\n\ndef test_sneaky"))
    assert outcomes(pytester, OPTION)[0] == {"failed": 1, "passed": 1}


@pytest.mark.thorough
@pytest.mark.parametrize("mark", ["", f"@pytest.mark.{MARKER}\n"], ids=["in it", "left out"])
def test_a_process_that_a_test_starts_has_the_mode_of_the_test(
    pytester: pytest.Pytester, mark: str
) -> None:
    pytester.makepyfile(
        app=SNEAKY + "\nuse_after_a_sneaky_write()\n",
        test_it="import subprocess, sys\nimport pytest\n\n"
        f"{mark}def test_app():\n"
        "    assert subprocess.run([sys.executable, 'app.py'], timeout=120).returncode == 0\n",
    )
    assert outcomes(pytester, OPTION)[0] == ({"passed": 1} if mark else {"failed": 1})


@pytest.mark.thorough
def test_the_workers_of_xdist_verify_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_a=SNEAKY + MARKED, test_b=SNEAKY)
    found, output = outcomes(pytester, OPTION, "-p", "xdist", "-n", "2", own_process=True)
    assert found == {"failed": 3, "passed": 1}
    assert f"is verified ({OPTION})" in output


@pytest.mark.parametrize("options", [[], [OPTION]], ids=["off", "on"])
def test_the_plugin_imports_neither_jax_nor_the_runtime(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_modules():
            assert "typed_nnx_pytest.plugin" in sys.modules
            ours = {name for name in sys.modules if name.startswith("typed_nnx")}
            allowed = {"typed_nnx_pytest", "typed_nnx_pytest.mode", "typed_nnx_pytest.plugin"}
            assert ours == allowed
            assert not {"jax", "jaxlib", "numpy", "optax"} & set(sys.modules)
        """
    )
    assert outcomes(pytester, *options, own_process=True)[0] == {"passed": 1}


def test_a_run_without_the_mode_has_none_of_its_hooks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_hooks(request):
            hooks = request.config.hook.pytest_runtest_protocol.get_hookimpls()
            assert not [one for one in hooks if "typed_nnx" in str(one.plugin_name)]
            assert "TYPED_NNX_VERIFY" not in __import__("os").environ
        """
    )
    assert outcomes(pytester)[0] == {"passed": 1}


# -- what it leaves behind ----------------------------------------------------------------------


def records_are_verified() -> bool:
    """Tell whether the mode is on in this process."""
    model = nnx.Dict(a=1)
    nnx.split(model)
    vars(model)["a"] = 2
    try:
        nnx.split(model)
    except nnx.errors.StaleRecordError:
        return True
    return False


@pytest.mark.parametrize("before", [False, True])
def test_a_run_inside_this_process_leaves_the_mode_as_it_was(
    pytester: pytest.Pytester, before: bool
) -> None:
    pytester.makepyfile(SNEAKY)
    with nnx.set_verify_records(before):
        assert outcomes(pytester, OPTION)[0] == {"failed": 1}
        assert records_are_verified() is before
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_variable_of_the_environment_comes_back(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with nnx.set_verify_records(False):
        mode = VerifyingMode()
        assert os.environ[VARIABLE] == "1"
        assert records_are_verified()
        mode.restore()
        assert os.environ[VARIABLE] == value
        assert not records_are_verified()


def test_a_runtime_that_came_during_the_run_gets_the_mode_it_would_have_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with nnx.set_verify_records(True), monkeypatch.context() as patch:
        patch.delitem(sys.modules, "typed_nnx")
        mode = VerifyingMode()
        patch.setitem(sys.modules, "typed_nnx", nnx)
        mode.restore()
        assert not records_are_verified()
