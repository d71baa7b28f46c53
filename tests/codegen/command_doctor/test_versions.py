"""The versions that ``typed-nnx doctor`` looks at."""

from __future__ import annotations

import importlib.metadata
import shlex
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.codegen.command_doctor.installed import hide, install
from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding
from typed_nnx_codegen.doctor.versions import CLASHES, version_findings


def found() -> dict[str, Finding]:
    """Return the findings by their names."""
    return {each.name: each for each in version_findings()}


def to_install(remedy: str) -> Requirement:
    """Return what the last command of a remedy installs."""
    return Requirement(shlex.split(remedy.partition(" where ")[0])[-1])


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose packages come before all others."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_here_all_fits_and_versions_are_those_that_are_installed() -> None:
    for name, finding in found().items():
        assert finding.state == OK, finding
        if name not in ("Python", "requirements"):
            assert finding.found == importlib.metadata.version(name)


def test_all_that_our_metadata_names_for_users_is_looked_at() -> None:
    named = [Requirement(text) for text in importlib.metadata.requires("typed-nnx") or ()]
    for_users = {
        each.name
        for each in named
        for extra in ("", "tools", "checkpoint", "notebook")
        if each.marker is None or each.marker.evaluate({"extra": extra})
    }
    assert {"jax", "optax", "click", "mypy", "orbax-checkpoint", "treescope"} <= for_users
    assert for_users <= found().keys()
    assert {"hypothesis", "pytest-xdist"} & found().keys() == set()


def test_a_version_that_is_too_old_is_to_be_fixed_by_one_that_fits(packages: Path) -> None:
    install(packages, "jax", "0.4.30")
    finding = found()["jax"]
    assert finding.state == FIX
    assert "0.4.30" in finding.found
    wanted = to_install(finding.remedy)
    assert wanted.name == "jax"
    assert wanted.specifier
    assert "0.4.30" not in wanted.specifier


@pytest.mark.parametrize(
    ("name", "state"),
    [("jax", FIX), ("optax", FIX), ("mypy", NOTE), ("flax", NOTE), ("rich", NOTE)],
)
def test_what_is_missing_is_a_mistake_only_where_the_runtime_needs_it(
    name: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, name)
    finding = found()[name]
    assert finding.state == state
    assert "not installed: needed for " in finding.found
    assert to_install(finding.remedy).name == name


def test_without_metadata_of_our_own_the_remedy_installs_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide(monkeypatch, "typed-nnx")
    finding = found()["typed-nnx"]
    assert finding.state == FIX
    assert "pip install 'typed-nnx[tools]'" in finding.remedy


def test_what_a_package_asks_for_and_does_not_get_is_named(packages: Path) -> None:
    install(packages, "optax", "99.0", "numpy>=99", "no-such-package>=1", 'other; extra == "x"')
    unmet = [each for each in version_findings() if each.name == "requirements"]
    assert [each.state for each in unmet] == [FIX, FIX]
    numpy = importlib.metadata.version("numpy")
    assert {each.found for each in unmet} == {
        f"optax 99.0 needs numpy>=99, found {numpy}",
        "optax 99.0 needs no-such-package>=1, which is not installed",
    }
    assert {to_install(each.remedy).name for each in unmet} == {"numpy", "no-such-package"}


def test_a_known_clash_is_told_where_both_versions_are_affected_and_only_there(
    packages: Path,
) -> None:
    (clash,) = CLASHES
    assert (clash.name, clash.other) == ("flax", "jax")
    assert "flax with jax" not in found()
    install(packages, "jax", "0.12.1")
    finding = found()["flax with jax"]
    assert finding.state == FIX
    assert "jax 0.12.1: flax cannot be imported" in finding.found
    assert "0.12.1" not in to_install(finding.remedy).specifier


def test_a_clash_is_not_told_of_newer_versions(packages: Path) -> None:
    install(packages, "jax", "0.12.1")
    install(packages, "flax", "0.13.0")
    assert "flax with jax" not in found()


@pytest.mark.parametrize(("version", "state"), [("same", OK), ("0.0.1", FIX)])
def test_a_plugin_of_jax_must_have_the_version_of_jaxlib(
    packages: Path, version: str, state: str
) -> None:
    jaxlib = importlib.metadata.version("jaxlib")
    install(packages, "jax-cuda13-plugin", jaxlib if version == "same" else version)
    finding = found()["jax-cuda13-plugin"]
    assert finding.state == state
    if state == FIX:
        assert jaxlib in to_install(finding.remedy).specifier
