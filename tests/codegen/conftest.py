"""What tests of several commands need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from typed_nnx_codegen.model_stubs import generation
from typed_nnx_codegen.model_stubs.models import Models


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Callable[[Models], None]:
    """Let the sources have these models."""

    def have(found: Models) -> None:
        monkeypatch.setattr(generation, "read", lambda *given, **more: found)

    return have
