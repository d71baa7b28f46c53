"""`Editor`: what an editor asks of a language server, as plain Python calls; pygls's client does the talking.

A text has ``$0`` where the cursor is: ``editor.complete(file, editor.show(file, "state.$0")[0])``.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

CURSOR = "$0"
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
_PATIENCE = 240.0  # seconds: far more than an answer takes on a busy machine
R = TypeVar("R")


class ServerError(Exception):
    """The server died, took too long or answered with an error."""


@dataclass(frozen=True)
class Target:
    """A place that go-to-definition leads to; the line counts from one."""

    path: Path
    line: int

    @property
    def text(self) -> str:
        """The line."""
        return self.path.read_text().splitlines()[self.line - 1].strip()


class Editor:
    """A language server on a project, as an editor starts it; for a ``with``.

    Args:
        folder: The project, as an absolute path without links. Files are named from it on.
        command: The program of the server and its arguments.
        settings: What the server is told of a section of the editor's settings.
        environment: Variables of the environment for it.
        timeout: Seconds that an answer may take.

    Attributes:
        messages: What the server showed or logged.

    Raises:
        ServerError: From each question: the server died, did not answer in time or refused.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        *,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = _PATIENCE,
    ) -> None:
        self.messages: list[str] = []
        self._folder = folder
        self._command = command
        self._settings = settings or {}
        self._environment = {**os.environ, **(environment or {})}
        self._timeout = timeout
        self._versions: dict[Path, int] = {}
        self._shown: dict[Path, types.PublishDiagnosticsParams] = {}
        self._runner = asyncio.Runner()
        self._client = LanguageClient("editor", "1")
        answers: dict[str, Callable[[Any], Any]] = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._publish,
            types.WINDOW_SHOW_MESSAGE: self._tell,
            types.WINDOW_LOG_MESSAGE: self._tell,
            types.WORKSPACE_CONFIGURATION: self._configuration,
            types.WORKSPACE_WORKSPACE_FOLDERS: lambda params: [self._workspace()],
            types.CLIENT_REGISTER_CAPABILITY: lambda params: None,
            types.CLIENT_UNREGISTER_CAPABILITY: lambda params: None,
            types.WINDOW_WORK_DONE_PROGRESS_CREATE: lambda params: None,
        }
        for method, answer in answers.items():
            self._client.feature(method)(partial(answer))  # pygls writes attributes on it

    def __enter__(self) -> Self:
        try:
            self._run(self._start())
        except ServerError:
            self._end()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if error == (None, None, None):
                self._run(self._shut_down())
        finally:
            self._end()

    # -- files ----------------------------------------------------------------------------------

    def open(self, file: str | Path) -> str:
        """Open a file and return its text."""
        text = (self._folder / file).read_text(encoding="utf-8")
        self.show(file, text)
        return text

    def show(self, file: str | Path, text: str) -> list[types.Position]:
        """Make the text what the editor shows of a file, unsaved; return where cursors are."""
        version = self._versions.get(self._folder / file, 0) + 1
        self._versions[self._folder / file] = version
        text, places = _without_cursors(text)
        uri = self._uri(file)
        if version == 1:
            item = types.TextDocumentItem(uri, "python", version, text)
            self._client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        else:
            document = types.VersionedTextDocumentIdentifier(version, uri)
            change = types.TextDocumentContentChangeWholeDocument(text)
            self._client.text_document_did_change(
                types.DidChangeTextDocumentParams(document, [change])
            )
        return places

    def save(self, file: str | Path, text: str) -> None:
        """Change an open file and save it."""
        self.show(file, text)
        (self._folder / file).write_text(text, encoding="utf-8")
        self._client.text_document_did_save(types.DidSaveTextDocumentParams(self._document(file)))

    def files_changed(self, *files: Path) -> None:
        """Tell the server that files were changed on disk by another program."""
        kind = types.FileChangeType.Changed
        changes = [types.FileEvent(self._uri(file), kind) for file in files]
        self._client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    # -- questions ------------------------------------------------------------------------------

    def complete(self, file: str | Path, place: types.Position) -> list[str]:
        """Return the labels that completion offers at the cursor, in the order of the editor."""
        params = types.CompletionParams(self._document(file), place)
        found = self._run(self._client.text_document_completion_async(params))
        items = found.items if isinstance(found, types.CompletionList) else found or []
        return [item.label for item in sorted(items, key=lambda item: item.sort_text or item.label)]

    def hover(self, file: str | Path, place: types.Position) -> str:
        """Return what is shown for the name before or around the cursor, or ''."""
        params = types.HoverParams(self._document(file), place)
        found = self._run(self._client.text_document_hover_async(params))
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def signatures(self, file: str | Path, place: types.Position) -> list[str]:
        """Return the signatures that are shown for the call around the cursor."""
        params = types.SignatureHelpParams(self._document(file), place)
        found = self._run(self._client.text_document_signature_help_async(params))
        return [] if found is None else [item.label for item in found.signatures]

    def definition(self, file: str | Path, place: types.Position) -> list[Target]:
        """Return where the name at the cursor is defined."""
        params = types.DefinitionParams(self._document(file), place)
        found: Any = self._run(self._client.text_document_definition_async(params)) or []
        places = found if isinstance(found, Sequence) else [found]
        return [Target(_path(one.uri), one.range.start.line + 1) for one in places]

    def actions(self, file: str | Path) -> list[types.CodeAction]:
        """Return the quick fixes for what is shown first in a file."""
        first = self.shown(file)[0]
        context = types.CodeActionContext([first])
        params = types.CodeActionParams(self._document(file), first.range, context)
        found = self._run(self._client.text_document_code_action_async(params))
        return [each for each in found or () if isinstance(each, types.CodeAction)]

    def shown(self, file: str | Path) -> list[types.Diagnostic]:
        """Return what is shown in a file."""
        published = self._shown.get(self._folder / file)
        return [] if published is None else list(published.diagnostics)

    def is_checked(self, file: str | Path) -> bool:
        """Tell whether the server has said something of a file, be it that it is clean."""
        return self._folder / file in self._shown

    def codes(self, file: str | Path) -> list[object]:
        """Return the codes of what is shown in a file."""
        return [each.code for each in self.shown(file)]

    def diagnostics(self, file: str | Path) -> list[types.Diagnostic]:
        """Return what the server says of the text that a file shows."""
        path = self._folder / file
        self.until(
            lambda: path in self._shown and self._shown[path].version == self._versions[path]
        )
        return self.shown(file)

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so."""

        async def wait() -> None:
            while not holds():
                await asyncio.sleep(0.05)

        self._run(wait())

    # -- the server -----------------------------------------------------------------------------

    async def _start(self) -> None:
        # A session of its own: the command may be a wrapper, and all of it has to end in the end.
        await self._client.start_io(
            *self._command, env=self._environment, cwd=self._folder, start_new_session=True
        )
        parameters = {
            "processId": None,
            "rootUri": self._folder.as_uri(),
            "capabilities": _CAPABILITIES,
        }
        params = get_converter().structure(parameters, types.InitializeParams)
        params.workspace_folders = [self._workspace()]
        await self._client.initialize_async(params)
        self._client.initialized(types.InitializedParams())

    async def _shut_down(self) -> None:
        await self._client.shutdown_async(None)
        self._client.exit(None)
        process = self._client._server
        assert process is not None
        status = await process.wait()
        if status:
            raise ServerError(f"{' '.join(self._command)} ended with status {status}")

    def _end(self) -> None:
        process = self._client._server
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        self._runner.run(self._client.stop())
        self._runner.close()

    def _run(self, question: Coroutine[Any, Any, R]) -> R:
        try:
            return self._runner.run(asyncio.wait_for(question, self._timeout))
        except TimeoutError:
            what = f"did not answer within {self._timeout:g} s"
        except (JsonRpcException, OSError, RuntimeError) as error:
            what = f"failed: {error}"
        raise ServerError(f"{' '.join(self._command)} {what}")

    # -- what the server says -------------------------------------------------------------------

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self._shown[_path(params.uri)] = params

    def _tell(self, params: types.ShowMessageParams | types.LogMessageParams) -> None:
        self.messages.append(params.message)

    def _configuration(self, params: types.ConfigurationParams) -> list[Any]:
        return [self._settings.get(item.section or "") for item in params.items]

    def _workspace(self) -> types.WorkspaceFolder:
        return types.WorkspaceFolder(self._folder.as_uri(), self._folder.name)

    def _document(self, file: str | Path) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self._uri(file))

    def _uri(self, file: str | Path) -> str:
        return (self._folder / file).as_uri()


def _without_cursors(text: str) -> tuple[str, list[types.Position]]:
    places = []
    before = ""
    *parts, rest = text.split(CURSOR)
    for part in parts:
        before += part
        places.append(types.Position(before.count("\n"), len(before.rpartition("\n")[2])))
    return before + rest, places


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
