"""An editor, as far as a language server can tell: pygls's client over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

_PROGRAM = ("-c", "from typed_nnx_codegen.cli import main; main()")
# Seconds. Far more than a check takes on a busy machine.
_PATIENCE = 200.0


class Editor:
    """Opens and saves files of a project, and keeps what the server says of them.

    Args:
        folder: The project.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("editor", "1")
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self._versions: dict[str, int] = {}
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = list(params.diagnostics)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.messages.append(params.message)

    def uri(self, name: str) -> str:
        """Return how the editor names a file."""
        return (self.folder / name).as_uri()

    def codes(self, name: str) -> list[object]:
        """Return the codes of what is shown in a file."""
        return [each.code for each in self.shown.get(self.uri(name), [])]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(_PATIENCE):
            while not holds():
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), 0.5)
                except TimeoutError:
                    continue

    def open(self, name: str) -> str:
        """Open a file and return its text."""
        text = (self.folder / name).read_text(encoding="utf-8")
        self._versions[name] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(
                types.TextDocumentItem(self.uri(name), "python", 1, text)
            )
        )
        return text

    def type(self, name: str, text: str) -> None:
        """Change an open file without saving it."""
        self._versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def save(self, name: str, text: str) -> None:
        """Change an open file and save it."""
        self.type(name, text)
        (self.folder / name).write_text(text, encoding="utf-8")
        self.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    async def actions(self, name: str) -> list[types.CodeAction]:
        """Return the quick fixes for what is shown first in a file."""
        first = self.shown[self.uri(name)][0]
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(self.uri(name)),
                first.range,
                types.CodeActionContext([first]),
            )
        )
        return [each for each in found or () if isinstance(each, types.CodeAction)]

    async def hover(self, name: str, line: int, column: int) -> str | None:
        """Return what hovering over a place shows; both count from 0."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(
                types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column)
            )
        )
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def applied(self, action: types.CodeAction, text: str) -> str:
        """Return a text after the edits of an action."""
        assert action.edit is not None
        assert action.edit.changes is not None
        lines = text.splitlines(keepends=True)
        (edits,) = action.edit.changes.values()
        for edit in sorted(edits, key=lambda each: each.range.start, reverse=True):
            start, end = edit.range.start, edit.range.end
            assert start.line == end.line
            line = lines[start.line].encode("utf-16-le")
            before, after = line[: 2 * start.character], line[2 * end.character :]
            lines[start.line] = (before + edit.new_text.encode("utf-16-le") + after).decode(
                "utf-16-le"
            )
        return "".join(lines)


@asynccontextmanager
async def editor(folder: Path, *arguments: str) -> AsyncIterator[Editor]:
    """Start the server for a project; at the end it has to shut down in order."""
    found = Editor(folder)
    await found.client.start_io(sys.executable, *_PROGRAM, "lsp", *arguments)
    process = found.client._server
    assert process is not None
    try:
        await found.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(), root_uri=folder.as_uri(), process_id=None
            )
        )
        found.client.initialized(types.InitializedParams())
        yield found
        await asyncio.wait_for(found.client.shutdown_async(None), 60)
        found.client.exit(None)
        status = await asyncio.wait_for(process.wait(), 60)
        assert status == 0, status
    finally:
        if process.returncode is None:
            process.kill()
        await found.client.stop()
