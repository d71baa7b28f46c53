"""Facts of modules kept between runs, valid exactly as long as mypy finds the module unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mypy.build import State
from mypy.version import __version__ as mypy_version

from typed_nnx_codegen.model_stubs.reading.facts import (
    Json,
    ModuleFacts,
    facts_from_json,
    facts_to_json,
)


def digest(data: bytes) -> str:
    """Return a short text that stands for data."""
    return hashlib.sha256(data).hexdigest()[:32]


def _version(runtime: str) -> str:
    """Return what changes when facts are found in another way: a digest of this code."""
    folder = Path(__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return digest(code + f"{mypy_version} {runtime}".encode())


def validity(module: str, graph: Mapping[str, State]) -> str:
    """Return a text that changes with all that the facts of a module depend on but its source.

    These are the interfaces of the modules that it uses, directly or not, as mypy compares them.
    """
    state = graph[module]
    known = sorted({module, *state.dependencies})
    parts = [f"{name} {graph[name].interface_hash.hex()}" for name in known if name in graph]
    return digest("\n".join(parts).encode())


class Memory:
    """The facts of modules, in a file.

    Args:
        folder: Where the file is; None to remember nothing.
        runtime: The package that the models are made with.
    """

    def __init__(self, folder: Path | None, runtime: str) -> None:
        self._path = None if folder is None else folder / "facts.json"
        self._version = _version(runtime)
        self._entries: dict[str, Json] = self._read()
        self._changed = False

    def _read(self) -> dict[str, Json]:
        if self._path is None:
            return {}
        try:
            data = json.loads(self._path.read_bytes())
            return dict(data["modules"]) if data["version"] == self._version else {}
        except (OSError, ValueError, LookupError, TypeError):
            return {}  # damaged or not there: all is found out again

    def has(self, module: str, source: str) -> bool:
        """Tell whether there are facts of a module with this source."""
        entry = self._entries.get(module)
        return isinstance(entry, list) and len(entry) == 3 and entry[0] == source

    def recall(self, module: str, source: str, valid: str) -> ModuleFacts | None:
        """Return the facts of a module, or None where they do not hold any more.

        Args:
            module: Its name.
            source: The digest of its source.
            valid: Its `validity`.
        """
        if not self.has(module, source) or self._entries[module][1] != valid:
            return None
        try:
            return facts_from_json(self._entries[module][2])
        except (ValueError, TypeError, AttributeError):
            return None

    def keep(self, module: str, source: str, valid: str, facts: ModuleFacts) -> None:
        """Remember the facts of a module."""
        self._entries[module] = [source, valid, facts_to_json(facts)]
        self._changed = True

    def save(self) -> None:
        """Write the file, all or nothing; a folder that cannot be written to is left alone."""
        if self._path is None or not self._changed:
            return
        text = json.dumps({"version": self._version, "modules": self._entries})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self._path.parent, delete=False
            ) as file:
                file.write(text)
            os.replace(file.name, self._path)
        except OSError:
            return
