"""Migrates one file: from its bytes to its result. Whatever goes wrong stays with this file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate import engine
from typed_nnx_codegen.migrate.findings import FileResult, Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.scanning import is_generated, mentions_nnx
from typed_nnx_codegen.migrate.sources.markdown import migrate_markdown
from typed_nnx_codegen.migrate.sources.modules import migrate_module
from typed_nnx_codegen.migrate.sources.notebooks import migrate_notebook
from typed_nnx_codegen.migrate.sources.outcome import NotPython, Outcome, SourceError, TextMigration
from typed_nnx_codegen.migrate.sources.rst import migrate_rst
from typed_nnx_codegen.migrate.syntax import (
    TooDeepError,
    UnknownSyntaxError,
    error_in,
    gives_back,
    parses_with_libcst,
    still_parses,
)

NO_NNX: Final = "no NNX"
GENERATED: Final = "generated"

_SOURCES: Final[dict[str, Callable[[bytes, TextMigration], Outcome]]] = {
    ".ipynb": migrate_notebook,
    ".md": migrate_markdown,
    ".rst": migrate_rst,
}


def migrate_file(path: Path, project: Project, options: Options) -> FileResult:
    """Read and migrate a file; nothing is written."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return FileResult(path).failed(f"it cannot be read: {error.strerror or error}")
    return migrate_bytes(data, path, project, options)


def migrate_bytes(data: bytes, path: Path, project: Project, options: Options) -> FileResult:
    """Migrate the bytes of a file.

    Args:
        data: The bytes.
        path: The file. Its ending says what it is; unknown endings are taken for Python.
        project: The files that imports may lead to. A file that it names is migrated even if its
            header says that a tool wrote it.
        options: What is asked for.
    """
    if not mentions_nnx(data):
        return FileResult(path, skipped=NO_NNX)
    if is_generated(data) and path.resolve() not in project.roots:
        return FileResult(path, skipped=GENERATED)

    def migrate(text: str) -> Migrated:
        """Migrate one text."""
        return engine.migrate_text(text, path, project, options)

    return migrate_source(data, path, migrate)


def migrate_source(data: bytes, path: Path, migrate: TextMigration) -> FileResult:
    """Migrate the bytes of a file, given what migrates a text."""
    result = FileResult(path, data, data)
    source = _SOURCES.get(path.suffix.lower(), migrate_module)
    try:
        outcome = source(data, lambda text: _checked(text, migrate))
    except MemoryError:
        raise
    except (SourceError, UnknownSyntaxError, engine.MigrationError) as error:
        return replace(result.failed(str(error)), is_python=not isinstance(error, NotPython))
    except (TooDeepError, RecursionError):
        return result.failed("its code is nested too deeply to be parsed")
    except Exception as error:  # noqa: BLE001 - a bug of ours must not stop the other files
        return result.failed(described(error))
    if outcome.skipped:
        return FileResult(path, skipped=outcome.skipped)
    return FileResult(path, data, outcome.data, outcome.findings)


def _checked(text: str, migrate: TextMigration) -> Migrated:
    """Migrate a text, and see that nothing but the rules changed it, and that it still parses."""
    problem = error_in(text)
    if problem and not parses_with_libcst(text):
        raise NotPython(problem)
    migrated = migrate(text)
    if migrated.text == text:
        return migrated
    plain = gives_back(text)
    if plain != text:
        if plain == migrated.text:
            return Migrated(text, migrated.findings)
        line = _first_difference(text, plain)
        raise SourceError(f"line {line}: libcst would lose spaces or a line end here")
    if not still_parses(migrated.text, is_newer=bool(problem)):
        raise SourceError(
            "the new text would not parse any more; this is a bug of typed-nnx migrate"
        )
    return migrated


def _first_difference(text: str, other: str) -> int:
    """Return the line, from 1, at which two texts begin to differ."""
    lines = zip(text.split("\n"), other.split("\n"), strict=False)
    return next((i for i, (a, b) in enumerate(lines, 1) if a != b), text.count("\n") + 1)
