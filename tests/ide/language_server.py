"""`LanguageServer`: what an editor asks of pyright-langserver, as plain Python calls.

A text has ``$0`` where the cursor is: ``server.complete(file, server.show(file, "state.$0")[0])``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from tests.ide.json_rpc import Connection, ServerError

CURSOR = "$0"
CREATED, CHANGED, DELETED = 1, 2, 3
_CAPABILITIES = {
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "textDocument": {
        "synchronization": {},
        "publishDiagnostics": {"versionSupport": True},
        "completion": {"completionItem": {"documentationFormat": ["plaintext"]}},
        "hover": {"contentFormat": ["plaintext"]},
        "signatureHelp": {"signatureInformation": {"documentationFormat": ["plaintext"]}},
        "definition": {"linkSupport": False},
    },
}


@dataclasses.dataclass(frozen=True)
class Place:
    """A place of the cursor; both numbers count from zero."""

    line: int
    character: int


@dataclasses.dataclass(frozen=True)
class Target:
    """A place that go-to-definition leads to; the line counts from one."""

    path: Path
    line: int

    @property
    def text(self) -> str:
        """The line."""
        return self.path.read_text().splitlines()[self.line - 1].strip()


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message about a line, which counts from one."""

    line: int
    rule: str
    message: str


class LanguageServer:
    """pyright-langserver on a project folder, as an editor starts it; for a ``with``.

    Args:
        folder: The project, as an absolute path without links.
        python: The interpreter whose packages the project uses.
        timeout: Seconds that an answer may take.

    Raises:
        ServerError: From each question: the server died, or did not answer in time.
    """

    def __init__(
        self, folder: Path, *, python: str = sys.executable, timeout: float = 240.0
    ) -> None:
        self._folder = folder
        self._python = python
        self._versions: dict[Path, int] = {}
        self._connection = Connection(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            answers={
                "workspace/configuration": self._configuration,
                "workspace/workspaceFolders": lambda params: [self._workspace()],
            },
            timeout=timeout,
            environment={"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
            folder=folder,
        )

    def __enter__(self) -> Self:
        try:
            self._initialize()
        except ServerError:
            self._connection.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def _initialize(self) -> None:
        parameters = {
            "processId": None,
            "rootUri": self._folder.as_uri(),
            "workspaceFolders": [self._workspace()],
            "capabilities": _CAPABILITIES,
        }
        self._connection.request("initialize", parameters)
        self._connection.notify("initialized", {})

    def _workspace(self) -> dict[str, str]:
        return {"uri": self._folder.as_uri(), "name": self._folder.name}

    def _configuration(self, params: Any) -> list[Any]:
        sections = {
            "python": {"pythonPath": self._python},
            "python.analysis": {"autoSearchPaths": True, "useLibraryCodeForTypes": True},
        }
        return [sections.get(item.get("section")) for item in params["items"]]

    # -- files ----------------------------------------------------------------------------------

    def show(self, file: Path, text: str) -> list[Place]:
        """Make the text what the editor shows of the file, unsaved; return where cursors are."""
        version = self._versions.get(file, 0) + 1
        self._versions[file] = version
        document = {"uri": file.as_uri(), "version": version}
        text, places = _without_cursors(text)
        if version == 1:
            document = {**document, "languageId": "python", "text": text}
            self._connection.notify("textDocument/didOpen", {"textDocument": document})
        else:
            changes = {"textDocument": document, "contentChanges": [{"text": text}]}
            self._connection.notify("textDocument/didChange", changes)
        return places

    def files_changed(self, *files: Path, kind: int = CHANGED) -> None:
        """Tell the server that files were changed on disk by another program."""
        changes = [{"uri": file.as_uri(), "type": kind} for file in files]
        self._connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    # -- questions ------------------------------------------------------------------------------

    def complete(self, file: Path, place: Place) -> list[str]:
        """Return the labels that completion offers at the cursor, in the order of the editor."""
        found = self._ask("textDocument/completion", file, place)
        items = found["items"] if isinstance(found, dict) else found or []
        ordered = sorted(items, key=lambda item: item.get("sortText") or item["label"])
        return [item["label"] for item in ordered]

    def hover(self, file: Path, place: Place) -> str:
        """Return what is shown for the name before or around the cursor, or ''."""
        found = self._ask("textDocument/hover", file, place)
        return "" if found is None else found["contents"]["value"]

    def signatures(self, file: Path, place: Place) -> list[str]:
        """Return the signatures that are shown for the call around the cursor."""
        found = self._ask("textDocument/signatureHelp", file, place)
        return [] if found is None else [item["label"] for item in found["signatures"]]

    def definition(self, file: Path, place: Place) -> list[Target]:
        """Return where the name at the cursor is defined."""
        found = self._ask("textDocument/definition", file, place) or []
        places: Sequence[Any] = [found] if isinstance(found, dict) else found
        return [
            Target(_path(place["uri"]), place["range"]["start"]["line"] + 1) for place in places
        ]

    def diagnostics(self, file: Path) -> list[Diagnostic]:
        """Return the messages about the text that the file shows."""
        version = self._versions[file]
        published = self._connection.notification(
            "textDocument/publishDiagnostics",
            lambda params: _path(params["uri"]) == file and params.get("version") == version,
        )
        return [
            Diagnostic(
                item["range"]["start"]["line"] + 1, str(item.get("code", "")), item["message"]
            )
            for item in published["diagnostics"]
        ]

    def _ask(self, method: str, file: Path, place: Place) -> Any:
        params = {
            "textDocument": {"uri": file.as_uri()},
            "position": dataclasses.asdict(place),
        }
        return self._connection.request(method, params)


def _without_cursors(text: str) -> tuple[str, list[Place]]:
    places = []
    before = ""
    *parts, rest = text.split(CURSOR)
    for part in parts:
        before += part
        places.append(Place(before.count("\n"), len(before.rpartition("\n")[2])))
    return before + rest, places


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
