"""What is in the sdist, and that both archives can be built again byte for byte."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]
VERSION: str = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]["version"]
# The digest of the text that the Apache Software Foundation publishes as LICENSE-2.0.txt.
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the sdist by their paths in it."""
    folder = tmp_path_factory.mktemp("sdist")
    run_process(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder],
        cwd=REPOSITORY,
        check=True,
    )
    (path,) = folder.glob("*.tar.gz")
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None, f"{member.name} is no plain file"
            found[member.name.partition("/")[2]] = content.read()
    return found


@pytest.mark.thorough
def test_the_sdist_has_every_file_of_the_project_and_no_other(files: dict[str, bytes]) -> None:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("no git repository to ask for the files")
    done = run_process(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        check=True,
    )
    listed = {name for name in done.stdout.split("\0") if name and (REPOSITORY / name).is_file()}
    assert set(files) - listed == {"PKG-INFO"}
    assert listed - set(files) == set()


def test_no_file_has_a_path_of_the_machine_that_built_it(files: dict[str, bytes]) -> None:
    for place in {str(REPOSITORY), str(Path.home()), sys.prefix}:
        # `/root` and the like may stand in a text as an example; a path goes on.
        assert not [name for name, text in files.items() if f"{place}/".encode() in text]


def test_the_license_is_the_published_text(files: dict[str, bytes]) -> None:
    assert hashlib.sha256(files["LICENSE"]).hexdigest() == APACHE_2


def test_the_page_of_a_package_index_has_absolute_links_to_files_that_exist(tmp_path: Path) -> None:
    address = "https://host.example/owner/typed-nnx"
    run_process(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path],
        cwd=REPOSITORY,
        env={**os.environ, "PROJECT_URL": address},
        check=True,
    )
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        (member,) = (one for one in archive if one.name.endswith("/PKG-INFO"))
        content = archive.extractfile(member)
        assert content is not None
        page = content.read().decode()
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    of_the_tag = re.compile(
        rf"{re.escape(address)}/(?:blob|raw)/v{re.escape(VERSION)}/(?P<path>[^#]+)"
    )
    files = [
        of_the_tag.match(link) for link in links if not link.startswith(("#", "https://github"))
    ]
    assert len(files) > 40
    assert not [one for one in files if one is None or not (REPOSITORY / one["path"]).exists()]
    assert f"Project-URL: Source, {address}" in page


def test_the_newest_entry_of_the_changelog_is_of_this_version() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[:2] == ["Unreleased", VERSION]


@pytest.mark.slow
def test_both_archives_come_out_the_same_again_and_from_the_sdist(tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / ".ci" / "dist.py"), str(tmp_path)]
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": "1700000000",
        "PROJECT_URL": "https://host.example/owner/typed-nnx",
    }
    done = run_process(command, env=environment, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.suffix for path in tmp_path.iterdir()} == {".whl", ".gz"}
