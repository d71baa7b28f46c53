"""The folders that tests of the reader use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.model_stubs.reading_project import Project, library_cache


@pytest.fixture
def project(tmp_path: Path, shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder for source of typed_nnx models; it is the current directory."""
    libraries = library_cache(shared_folder)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, libraries)
