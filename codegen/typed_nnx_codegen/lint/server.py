"""The language server: what `typed-nnx lint` finds, in an editor, beside the server of the type checker."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from typed_nnx_codegen.lint.fixes import QuickFix, fixes_of
from typed_nnx_codegen.lint.formats import message_and_fix
from typed_nnx_codegen.lint.hovers import Hover
from typed_nnx_codegen.lint.linter import Linted
from typed_nnx_codegen.lint.worker import Answer, Job, Worker
from typed_nnx_codegen.sarif.reports import Report

NAME: Final = "typed-nnx"
_DEPRECATED: Final = "nnx-deprecated"


class NnxServer(LanguageServer):
    """Checks the project of an editor when a file is opened or saved.

    Args:
        python: The interpreter whose packages the code uses; None for the running one.
        cache: The folder that makes the next run quick.
        limit: The most seconds that a check may take.
    """

    def __init__(self, python: str | None, cache: Path, limit: float) -> None:
        super().__init__(NAME, importlib.metadata.version(NAME))
        self._settings = (python, cache, limit)
        self._folder = Path()
        self._worker: Worker | None = None
        self._is_checking = self._is_stale = False
        self._reports: dict[Path, list[Report]] = {}
        self._hovers: dict[Path, list[Hover]] = {}
        self._checked: dict[Path, list[str]] = {}
        self._told = ""
        _add_features(self)

    def serve(self) -> None:
        """Talk to the editor over standard input and output until it ends that."""
        # pygls closes its output; what anything else prints must not get in between.
        output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        try:
            self.start_io(stdout=output)
        finally:
            self.end()

    def begin(self) -> None:
        """Start the process that checks, in the folder of the editor."""
        self._folder = Path(self.workspace.root_path or Path.cwd()).resolve()
        self._worker = Worker(self._folder, *self._settings)

    def end(self) -> None:
        """End it."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    # -- checking -----------------------------------------------------------------------------

    async def check(self) -> None:
        """Check the project; once more where a file is saved meanwhile."""
        self._is_stale = True
        if self._is_checking:
            return
        self._is_checking = True
        try:
            while self._is_stale and self._worker is not None:
                self._is_stale = False
                shown = tuple(_path(each) for each in self.workspace.text_documents.values())
                answer = await asyncio.to_thread(self._worker.ask, Job("lint", shown))
                if answer.linted is not None:
                    self._take(answer.linted, shown)
                self._tell(answer)
                if not self._is_stale and self._worker is not None:
                    self._tell(await asyncio.to_thread(self._worker.ask, Job("overlay")))
        finally:
            self._is_checking = False

    def _take(self, linted: Linted, shown: Iterable[Path]) -> None:
        checked = {(self._folder / each).resolve() for each in linted.files}
        before = {*self._reports, *checked.intersection(shown)}  # no reports: it is clean
        found: defaultdict[Path, list[Report]] = defaultdict(list)
        for each in linted.reports:
            found[(self._folder / each.file).resolve()].append(each)
        self._reports = dict(found)
        self._hovers = {Path(path): hovers for path, hovers in linted.hovers.items()}
        self._checked = {path: _lines_of(path) for path in {*self._reports, *self._hovers}}
        for path in sorted(before | set(self._reports)):
            self._publish(path)
        for text in linted.tracebacks:
            self._log(text)

    def _publish(self, path: Path) -> None:
        found = [self._diagnostic(path, each) for each in self._reports.get(path, ())]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=self._uri(path), diagnostics=found)
        )

    def _tell(self, answer: Answer) -> None:
        """Show what is wrong beside the code, once as long as it stays the same."""
        if answer.problem and answer.problem != self._told and self._worker is not None:
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"typed-nnx: {answer.problem}")
            )
        if answer.traceback:
            self._log(answer.traceback)
        self._told = answer.problem or self._told

    def _log(self, text: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    # -- asking -------------------------------------------------------------------------------

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the fixes of reports in a range."""
        document = self.workspace.get_text_document(params.text_document.uri)
        path, wanted = _path(document), params.range
        found = []
        for report in self._reports.get(path, ()):
            diagnostic = self._diagnostic(path, report)
            at = diagnostic.range
            if at.end < wanted.start or wanted.end < at.start:
                continue
            if self._is_as_checked(document, report.line, report.end_line):
                for number, fix in enumerate(fixes_of(report, document.source)):
                    found.append(self._action(document, diagnostic, fix, number == 0))
        return found

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the tree of the State at a place: that of the shortest expression there."""
        document = self.workspace.get_text_document(params.text_document.uri)
        at = (params.position.line + 1, params.position.character)
        around = [
            each
            for each in self._hovers.get(_path(document), ())
            if each.start <= at < each.end
            and self._is_as_checked(document, each.start[0], each.end[0])
        ]
        if not around:
            return None
        best = max(around, key=lambda each: (each.start, [-part for part in each.end]))
        text = types.MarkupContent(types.MarkupKind.Markdown, f"```text\n{best.text}\n```")
        return types.Hover(text, _range(best.start, best.end))

    def _action(
        self, document: TextDocument, diagnostic: types.Diagnostic, fix: QuickFix, is_best: bool
    ) -> types.CodeAction:
        codec, lines = document.position_codec, document.lines
        edits = [
            types.TextEdit(
                codec.range_to_client_units(lines, _range(each.start, each.end)), each.text
            )
            for each in fix.edits
        ]
        return types.CodeAction(
            title=fix.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=is_best,
            edit=types.WorkspaceEdit(changes={document.uri: edits}),
        )

    def _diagnostic(self, path: Path, report: Report) -> types.Diagnostic:
        is_error = report.severity == "error"
        message, fix = message_and_fix(report)
        return types.Diagnostic(
            range=self._range_of(path, report),
            message=f"{message}\nFix: {fix}" if fix else message,
            severity=types.DiagnosticSeverity.Error
            if is_error
            else types.DiagnosticSeverity.Information,
            code=report.code,
            source=NAME,
            tags=[types.DiagnosticTag.Deprecated] if report.code == _DEPRECATED else None,
        )

    def _range_of(self, path: Path, report: Report) -> types.Range:
        """Return the place of a report; whole lines where columns are not certain."""
        lines = self._checked.get(path, [])
        start, end = max(report.line, 1), max(report.end_line, report.line, 1)
        own = lines[start - 1 : end]
        first, last = (own[0], own[-1]) if own else ("", "")
        is_certain = report.column >= 0 and report.end_column >= 0
        if is_certain and first.isascii() and last.isascii():
            return _range((start, report.column), (end, report.end_column))
        units = self.workspace.position_codec.client_num_units(last)
        return _range((start, len(first) - len(first.lstrip())), (end, units))

    def _is_as_checked(self, document: TextDocument, start: int, end: int) -> bool:
        """Tell whether lines of a file, from 1, are those that were checked."""
        now = [line.rstrip("\r\n") for line in document.lines[start - 1 : end]]
        return now == self._checked.get(_path(document), [])[start - 1 : end]

    def _uri(self, path: Path) -> str:
        """Return the name of a file as the editor spells it."""
        documents = self.workspace.text_documents.values()
        uris: list[str] = [each.uri for each in documents if _path(each) == path]
        return uris[0] if uris else path.as_uri()


def _add_features(server: NnxServer) -> None:
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.INITIALIZED)
    async def begin(_: types.InitializedParams) -> None:
        server.begin()
        await server.check()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(_: types.DidOpenTextDocumentParams) -> None:
        await server.check()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(_: types.DidSaveTextDocumentParams) -> None:
        await server.check()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def changed(_: types.DidChangeWatchedFilesParams) -> None:
        await server.check()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return server.actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return server.hover(params)

    @server.feature(types.SHUTDOWN)
    def end(_: None) -> None:
        server.end()

    del begin, opened, saved, changed, actions, hover, end  # they are registered


def _path(document: TextDocument) -> Path:
    return Path(document.path).resolve()


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _range(start: tuple[int, int], end: tuple[int, int]) -> types.Range:
    return types.Range(
        types.Position(max(start[0] - 1, 0), start[1]), types.Position(max(end[0] - 1, 0), end[1])
    )
