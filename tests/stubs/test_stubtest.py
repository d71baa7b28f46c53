"""The stubs say what the modules are: same names, same parameters, same defaults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stubs.modules import MODULES

ALLOWED = Path(__file__).with_name("allowlist.txt")
# stubtest compares names, kinds and defaults of parameters, for which the types of other packages
# do not matter. The overloads of the stubs overlap on purpose: the first that fits counts.
STUBTEST = [
    sys.executable,
    "-m",
    "mypy.stubtest",
    "--concise",
    "--mypy-config-file",
    "mypy.ini",
]
SETTINGS = """\
[mypy]
disable_error_code = overload-overlap

[mypy-flax.*,jax.*,jaxlib.*,numpy.*,optax.*,orbax.*,rich.*,safetensors.*,treescope.*]
follow_imports = skip
ignore_missing_imports = true
"""


def stubtest(folder: Path, *words: str, paths: tuple[Path, ...] = ()) -> tuple[int, list[str]]:
    """Run stubtest outside the repository; return its exit status and what it reports."""
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    environment["PYTHONPATH"] = environment["MYPYPATH"] = os.pathsep.join(map(str, paths))
    done = subprocess.run(
        [*STUBTEST, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.slow
def test_the_stubs_agree_with_the_modules_but_for_what_is_allowed(tmp_path: Path) -> None:
    status, reports = stubtest(tmp_path, *MODULES, "--allowlist", str(ALLOWED))
    assert "\n".join(reports[:-1]) == ""
    assert status == 0


def test_a_stub_that_disagrees_with_its_module_is_found(tmp_path: Path) -> None:
    package = tmp_path / "source" / "subject"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def f(x, *, scale=1): return x\n", encoding="utf-8")
    (package / "__init__.pyi").write_text("def f(x, *, factor=1): ...\n", encoding="utf-8")
    status, reports = stubtest(tmp_path, "subject", paths=(tmp_path / "source",))
    assert status == 1
    assert any('runtime does not have parameter "factor"' in report for report in reports), reports


def test_every_allowed_difference_has_a_reason() -> None:
    entries = ALLOWED.read_text(encoding="utf-8").split("\n\n")[1:]
    assert entries
    for entry in entries:
        reason, *lines = entry.strip().splitlines()
        assert reason.startswith("# "), entry
        assert lines, entry
