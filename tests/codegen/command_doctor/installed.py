"""Packages that a test lets the environment have, or not have."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import pytest


def install(folder: Path, name: str, version: str, *requirements: str) -> None:
    """Make the metadata of a package in a folder; the code of it stays what it is."""
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    lines = [f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requirements]
    (place / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let packages be absent, for metadata and for imports."""
    version, find_spec = importlib.metadata.version, importlib.util.find_spec

    def hidden_version(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    def hidden_spec(name: str, package: str | None = None) -> object:
        return None if name.partition(".")[0] in names else find_spec(name, package)

    monkeypatch.setattr(importlib.metadata, "version", hidden_version)
    monkeypatch.setattr(importlib.util, "find_spec", hidden_spec)
    for name in names:
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        # An import of it fails.
        monkeypatch.setitem(sys.modules, name, None)
