"""The project folder that tests of the reader write into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.model_stubs.reading_project import Project, library_cache


@pytest.fixture
def project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A folder for source of typed_nnx models; it is the current directory."""
    shared = tmp_path_factory.getbasetemp().parent
    libraries = library_cache(shared)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, libraries)
