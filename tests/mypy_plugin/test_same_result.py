"""What the plugin reports does not depend on how mypy came to check a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mypy_plugin.run import Report
from tests.mypy_plugin.same_project import (
    FILES,
    FOR_DAEMON,
    NAMES,
    OTHER_PARSER,
    WITH_JAX,
    Project,
    Said,
    edited,
    for_flax,
    in_namespace,
    without_jax,
)
from tests.support.once import once
from typed_nnx_mypy.errorcodes import ALL

# An attribute of a model is renamed two files away from what uses it, and another one is added.
RENAMED = edited(
    "models.py",
    lambda text: text.replace("self.linear", "self.lineer").replace(
        "= width\n", "= width\n        self.rate = nnx.Param(1.0)\n"
    ),
)


@pytest.fixture(scope="session")
def expected(shared_folder: Path) -> Said:
    """What mypy says in a run that knows nothing of the project."""

    def work() -> Said:
        return Project(shared_folder / "same_result").check()

    return [(file, Report(*report)) for file, report in once("same_result", shared_folder, work)]


@pytest.fixture(scope="session")
def expected_renamed(shared_folder: Path) -> Said:
    """The same of the project with a renamed attribute."""

    def work() -> Said:
        project = Project(shared_folder / "same_result_renamed")
        project.write(RENAMED)
        return project.check()

    loaded = once("same_result_renamed", shared_folder, work)
    return [(file, Report(*report)) for file, report in loaded]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The project in a folder of the test."""
    return Project(tmp_path)


@pytest.mark.thorough
def test_the_project_has_a_report_of_every_check(expected: Said) -> None:
    codes = {report.code for _, report in expected if report.code.startswith("nnx-")}
    assert codes == {code.code for code in ALL}


@pytest.mark.thorough
def test_the_edit_changes_reports_two_files_away(expected: Said, expected_renamed: Said) -> None:
    changed = {(file, report.code) for file, report in {*expected} ^ {*expected_renamed}}
    assert ("train.py", "nnx-state-key") in changed


def test_from_the_cache(project: Project, expected: Said) -> None:
    assert project.check() == expected
    assert project.check() == expected


@pytest.mark.thorough
def test_from_the_cache_of_the_files_that_are_imported(project: Project, expected: Said) -> None:
    project.check("models.py")
    project.check("shared.py")
    assert project.check() == expected


def test_files_in_another_order(project: Project, expected: Said) -> None:
    assert project.check(*reversed(NAMES)) == expected


@pytest.mark.thorough
def test_after_an_edit_in_an_indirectly_imported_file_and_back(
    project: Project, expected: Said, expected_renamed: Said
) -> None:
    assert project.check() == expected
    project.write(RENAMED)
    assert project.check() == expected_renamed
    project.write(FILES)
    assert project.check() == expected


@pytest.mark.thorough
def test_after_an_edit_that_changes_no_type(project: Project, expected: Said) -> None:
    project.check()
    project.write(edited("models.py", lambda text: text + "\n# the end\n"))
    assert project.check() == expected


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [("--num-workers", "2"), (OTHER_PARSER,)], ids=["workers", "other-parser"]
)
def test_with_other_machinery(tmp_path: Path, options: tuple[str, ...], expected: Said) -> None:
    project = Project(tmp_path, *options)
    assert project.check() == expected
    assert project.check() == expected


def test_with_imports_followed_in_silence(tmp_path: Path, expected: Said) -> None:
    project = Project(tmp_path, config=WITH_JAX + "[mypy-models,shared]\nfollow_imports = silent\n")
    assert project.check("train.py") == [one for one in expected if one[0] == "train.py"]


def test_in_a_package_without_init(project: Project, expected: Said) -> None:
    for name in FILES:
        (project.folder / name).unlink()
    files = in_namespace("space.deep")
    project.write(files)
    assert project.check("--explicit-package-bases", *files) == expected


def test_with_the_line_ends_of_windows(project: Project, expected: Said) -> None:
    project.write(FILES, newline="\r\n")
    assert b"\r\n" in (project.folder / "models.py").read_bytes()
    assert project.check() == expected


@pytest.mark.slow
def test_from_nothing_at_all(tmp_path: Path, expected: Said) -> None:
    assert Project(tmp_path, libraries=False).check() == expected


@pytest.mark.slow
def test_for_flax_from_nothing_from_the_cache_after_an_edit_and_with_workers(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path / "one", libraries=False)
    project.write(for_flax(FILES))
    expected = project.check()
    assert len({report.code for _, report in expected if report.code.startswith("nnx-")}) >= 15
    assert project.check() == expected
    project.write(for_flax(RENAMED))
    assert project.check() != expected
    project.write(for_flax(FILES))
    assert project.check() == expected
    project = Project(tmp_path / "two", "--num-workers", "2", libraries=False)
    project.write(for_flax(FILES))
    assert project.check() == expected


# -- the daemon ---------------------------------------------------------------------------------


def says_the_same_by_the_daemon(project: Project, expected: Said, expected_renamed: Said) -> None:
    """Have the daemon check the project at its start, after edits, and after edits back."""
    try:
        assert project.check_by_daemon() == expected
        assert project.check_by_daemon() == expected
        project.write(RENAMED)
        assert project.check_by_daemon() == expected_renamed
        project.write(edited("train.py", lambda text: text + "\n# the end\n"))
        assert project.check_by_daemon() == expected_renamed
        project.write(FILES)
        assert project.check_by_daemon() == expected
    finally:
        project.stop_daemon()


@pytest.mark.slow
def test_by_the_daemon(tmp_path: Path, expected: Said, expected_renamed: Said) -> None:
    project = Project(tmp_path, libraries=False, config=FOR_DAEMON)
    says_the_same_by_the_daemon(project, expected, expected_renamed)


@pytest.mark.thorough
def test_by_the_daemon_where_jax_is_not_installed(tmp_path: Path) -> None:
    # The daemon uses no cache of ours, and without jax there is little that it has to check.
    config = without_jax(tmp_path / "sources")
    reference = Project(tmp_path / "reference", libraries=False, config=config)
    expected = reference.check()
    assert len({report.code for _, report in expected if report.code.startswith("nnx-")}) >= 9
    reference.write(RENAMED)
    expected_renamed = reference.check()
    assert expected_renamed != expected
    project = Project(tmp_path / "daemon", libraries=False, config=config)
    says_the_same_by_the_daemon(project, expected, expected_renamed)
