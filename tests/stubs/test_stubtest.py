"""The overloads say what the functions are: same parameters, same defaults.

There are no modules for stubtest to compare them with: it gets some with the functions of the source
under the names of the overloads.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.stubs.modules import MODULES, typed_functions
from tests.support.processes import run_process

ALLOWED = Path(__file__).with_name("allowlist.txt")
# stubtest compares names, kinds and defaults of parameters, for which the types of other packages
# do not matter; without them overloads look alike. Others overlap on purpose: the first that fits
# counts.
COUNT = re.compile(r"(Found \d+ error|Success)")
STUBTEST = [sys.executable, "-m", "mypy.stubtest", "--concise", "--mypy-config-file", "mypy.ini"]
SETTINGS = """\
[mypy]
disable_error_code = overload-overlap, overload-cannot-match

[mypy-flax.*,jax.*,jaxlib.*,numpy.*,optax.*,orbax.*,rich.*,safetensors.*,treescope.*]
follow_imports = skip
ignore_missing_imports = true
"""


def stubtest(folder: Path, *words: str, paths: tuple[Path, ...] = ()) -> list[str]:
    """Run stubtest outside the repository and return the lines of its report."""
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    environment["PYTHONPATH"] = environment["MYPYPATH"] = os.pathsep.join(map(str, paths))
    done = run_process([*STUBTEST, *words], timeout=900, cwd=folder, env=environment)
    return (done.stdout + done.stderr).splitlines()


def allowed() -> dict[str, str]:
    """Return the allowed reports, as regular expressions, with the reason of each."""
    text = ALLOWED.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for entry in text.split("\n\n")[1:]:
        reason, *patterns = entry.strip().splitlines()
        found |= dict.fromkeys(patterns, reason)
    return found


def write_modules(package: Path) -> None:
    """Write a package with the stubs, each beside a module of the functions that it is about."""
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for module, stub in MODULES.items():
        place = package / stub.name
        place.write_text(stub.read_text(encoding="utf-8"), encoding="utf-8")
        lines = []
        for typed in typed_functions():
            if typed.overloads == module:
                outer, *inner = typed.name.split(".")
                lines += [
                    f"from {typed.module} import {outer}",
                    f"{typed.overload} = {'.'.join([outer, *inner])}",
                ]
        place.with_suffix(".py").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.slow
def test_the_overloads_agree_with_the_functions_but_for_what_is_allowed(tmp_path: Path) -> None:
    write_modules(tmp_path / "source" / "checked")
    found = stubtest(tmp_path, "checked", paths=(tmp_path / "source",))
    reports = [one for one in found if not COUNT.match(one)]
    patterns = [re.compile(pattern) for pattern in allowed()]
    found = [one for one in reports if not any(p.fullmatch(one) for p in patterns)]
    assert "\n".join(found) == ""
    unused = [p.pattern for p in patterns if not any(p.fullmatch(one) for one in reports)]
    assert unused == []


@pytest.mark.thorough
def test_a_stub_that_disagrees_with_its_module_is_found(tmp_path: Path) -> None:
    package = tmp_path / "source" / "subject"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def f(x, *, scale=1): return x\n", encoding="utf-8")
    (package / "__init__.pyi").write_text("def f(x, *, factor=1): ...\n", encoding="utf-8")
    reports = stubtest(tmp_path, "subject", paths=(tmp_path / "source",))
    assert any('runtime does not have parameter "factor"' in report for report in reports), reports


def test_every_allowed_difference_has_a_reason() -> None:
    assert allowed()
    assert all(reason.startswith("# ") for reason in allowed().values())
    assert not any(pattern.startswith("#") for pattern in allowed())
