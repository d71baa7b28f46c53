"""`typed-nnx migrate --linen`: from files to their new texts and maps, and both onto the disk."""

from __future__ import annotations

import ast
import functools
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.migrate.discovery import find_files
from typed_nnx_codegen.migrate.files import GENERATED, NO_NNX
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.linen.domain.class_plan import EXPLANATIONS, TITLES
from typed_nnx_codegen.migrate.linen.migration import (
    NO_FAILURES,
    Failures,
    LinenResult,
    NotVerified,
    failures,
    map_path,
    map_text,
    migrate_linen,
)
from typed_nnx_codegen.migrate.linen.trace.record import (
    NAME,
    BadRecord,
    NotTraced,
    Trace,
    merged,
    read_record,
    trace_command,
    trace_examples,
    write_record,
)
from typed_nnx_codegen.migrate.linen.trace.recording import Entry, Tables
from typed_nnx_codegen.migrate.rule_info import RuleInfo
from typed_nnx_codegen.migrate.scanning import is_generated, mentions_nnx
from typed_nnx_codegen.migrate.session import Refused, Request
from typed_nnx_codegen.migrate.sources.encoding import Encoded, decode_module
from typed_nnx_codegen.migrate.sources.outcome import NotPython, SourceError
from typed_nnx_codegen.migrate.syntax import TooDeepError, UnknownSyntaxError, error_in, gives_back
from typed_nnx_codegen.migrate.undefined_names import dotted, imported_names
from typed_nnx_codegen.migrate.writing import put_atomically, write_atomically

_USES_JAX: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:flax|jax)\b", re.MULTILINE)
# The head of a class, up to its colon: what is there beside the bases does no harm.
_CLASS: Final = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^:]*)", re.MULTILINE)
_ALIAS: Final = re.compile(rb"\b(\w+)[ \t]+as[ \t]+(\w+)")
_WORD: Final = re.compile(rb"\w+")
_IMPORTS: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t].*", re.MULTILINE)
# What callers do with models.
_USES: Final = re.compile(rb"\.(?:init|init_with_output|bind|tabulate)\(|\.apply\b")
# A key or path that may name a submodule: `params["blocks_1"]`.
_NAMES: Final = re.compile(rb"""["'/][A-Za-z]\w*_\d+["'/]""")


def deriving_files(
    paths: Sequence[Path], sources: Sequence[Path], package: str = "flax"
) -> tuple[list[Path], set[str]]:
    """Return the files whose classes may inherit from Linen modules, without a word of flax.

    The second result has the names of the modules, and maybe of others: classes are told apart by
    their names alone, and reading such a file shows whether they are modules.

    Args:
        paths: The files that do not mention flax.
        sources: The files that do.
        package: What stands for flax.
    """
    classes = [(None, *one) for source in sources for one in _classes(_tree(source), package)]
    heads = [(path, *one) for path in paths if path.suffix == ".py" for one in _heads(path)]
    modules = {name for _, name, _, is_of_flax in classes if is_of_flax}
    waiting = [*((path, name, bases) for path, name, bases, _ in classes), *heads]
    found: dict[Path, None] = {}
    while new := [one for one in waiting if modules & one[2]]:
        waiting = [one for one in waiting if not modules & one[2]]
        modules |= {name for _, name, _ in new}
        found |= {path: None for path, _, _ in new if path is not None}
    project = {name for path in (*paths, *sources) for name in _names_of(path)}
    return [path for path in found if not project.isdisjoint(_imported_names(path))], modules


def calling_files(paths: Iterable[Path], sources: Iterable[Path], modules: set[str]) -> list[Path]:
    """Return the files that may use Linen modules, without a word of flax.

    They import a module; or they import something else from a file that defines or uses modules,
    or from a package that has something of it, and have with jax `init`, `apply` and the like, or
    a text that may name a submodule.

    Args:
        paths: The files that do not mention flax.
        sources: The files that do, and that have modules.
        modules: The names of the modules.
    """
    words = {name.encode() for name in modules}

    # Asked again in each round that a file waits.
    @functools.cache
    def calls(path: Path) -> bool:
        data = _data(path)
        uses = _USES_JAX.search(data) and _USES.search(data)
        return bool(uses or _NAMES.search(data))

    @functools.cache
    def names_module(path: Path) -> bool:
        return not words.isdisjoint(_WORD.findall(_data(path)))

    waiting = {one: b" ".join(_IMPORTS.findall(_data(one))) for one in paths if one.suffix == ".py"}
    found: list[Path] = []
    new = [path for path in sources if calls(path) or names_module(path)]
    known: set[str] = set()
    while new:
        known |= {name for path in new for name in _names_of(path)}
        last = {name.rpartition(".")[2].encode() for name in known}
        new = []
        for path, imports in waiting.items():
            if last.isdisjoint(_WORD.findall(imports)):
                continue
            is_calling = calls(path)
            is_package = path.name == "__init__.py"
            if not is_calling and not is_package and not names_module(path):
                continue
            imported = _imported_names(path)
            if imported.isdisjoint(known):
                continue
            parts = [one.rpartition(".") for one in imported]
            if is_calling or any(of in known and name in modules for of, _, name in parts):
                found.append(path)
                new.append(path)
            elif is_package:
                new.append(path)
        waiting = {path: imports for path, imports in waiting.items() if path not in new}
    return found


def _names_of(path: Path) -> Iterator[str]:
    """Yield what a module is called, from each of the folders around it."""
    place = path.parent if path.name == "__init__.py" else path.with_suffix("")
    parts = place.resolve().parts
    yield from (".".join(parts[start:]) for start in range(len(parts)))


def _imported_names(path: Path) -> set[str]:
    """Return the modules that a file may import and what it takes from them, by their full names."""
    place = path.resolve().with_suffix("")
    is_package = place.name == "__init__"
    names = (place.parent if is_package else place).parts
    found = imported_names(_tree(path), ".".join(names), is_package)
    return {full for module, name in found for full in (module, f"{module}.{name}")}


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # whoever reads the file itself says what is wrong


def _classes(tree: ast.Module, package: str) -> Iterator[tuple[str, set[str], bool]]:
    """Yield the names of classes, those of their bases, and whether one of these is of a package.

    A name that is assigned to counts as a class: `Base = nn.Module`.
    """
    nodes = list(ast.walk(tree))
    origins: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            origins |= {one.asname or one.name.split(".")[0]: one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            origins |= {one.asname or one.name: f"{module}.{one.name}" for one in node.names}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            name, bases = node.name, [dotted(_unsubscripted(one)) for one in node.bases]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, bases = node.targets[0].id, [dotted(_unsubscripted(node.value))]
        else:
            continue
        full = [origins.get(base.partition(".")[0], "") for base in bases]
        is_of_flax = any(one.partition(".")[0] == package for one in full)
        # `nn` of another file of the project may be Linen.
        is_of_flax |= any(
            one.startswith(".") and base.endswith(".Module")
            for one, base in zip(full, bases, strict=True)
        )
        yield name, {one.rpartition(".")[2] for one in (*bases, *full)} - {""}, is_of_flax


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _heads(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the classes of a file, and the words where their bases are; nothing is parsed."""
    data = _data(path)
    heads = _CLASS.findall(data)
    aliases = {local: name for name, local in _ALIAS.findall(data)} if heads else {}
    for name, bases in heads:
        words = _WORD.findall(bases)
        words += [aliases[word] for word in words if word in aliases]
        yield name.decode("utf-8", "replace"), {one.decode("utf-8", "replace") for one in words}


def _tree(path: Path) -> ast.Module:
    """Return the tree of a file; an empty one where it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the strings of users
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])  # whoever reads the file itself says what is wrong


def _top(path: Path) -> Path:
    """Return the folder that absolute imports of the project begin in."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def uses_jax(path: Path) -> bool:
    """Whether a file imports jax or flax."""
    return _USES_JAX.search(_data(path)) is not None


class _Progress:
    """Counts the files that are done: not more than there are, also where some are migrated again.

    Args:
        advance: Shows it.
        count: The number of files.

    Attributes:
        left: How many are left.
    """

    def __init__(self, advance: Callable[[float], None], count: int) -> None:
        self._advance = advance
        self.left: float = count

    def advance(self, files: float) -> None:
        """Count some files, or a part of one."""
        files = min(files, self.left)
        self.left -= files
        self._advance(files)


_NOT_PYTHON = "not a Python file"


def linen_rules() -> tuple[RuleInfo, ...]:
    """Return what reports say of each code."""
    return tuple(
        RuleInfo(code, title, explanation=EXPLANATIONS[code]) for code, title in TITLES.items()
    )


@dataclass(frozen=True)
class _Source:
    """A file that may have Linen code.

    Attributes:
        path: The file.
        data: Its bytes.
        text: Its text.
    """

    path: Path
    data: bytes
    text: Encoded


@dataclass(frozen=True)
class Library:
    """The library that code is migrated from.

    Attributes:
        name: What it is called.
        package: The package that its modules are of.
        words: What files have that use it, one of them.
        migrate: Migrates files, called as `migrate_linen` is; None for that.
    """

    name: str = "flax.linen"
    package: str = "flax"
    words: tuple[bytes, ...] = (b"flax", b"linen")
    migrate: Callable[..., list[LinenResult]] | None = None


LINEN_LIBRARY: Final = Library()


class LinenWork:
    """The migration of Linen code.

    Args:
        output: Where the new code of the one file goes; None for its place.
        example: The file with examples of calls; None for none.
        traces: The programs to run, and the files with what earlier runs recorded.
        steps: How many outermost calls each of the programs goes on for; 0 for no end.
        gradual: Whether what cannot be migrated is wrapped.
        verify: Whether the migrated code is run before it is written.
        library: The library that the code is of.
    """

    def __init__(
        self,
        *,
        output: Path | None = None,
        example: Path | None = None,
        traces: Sequence[str] = (),
        steps: int = 0,
        gradual: bool = False,
        verify: bool = False,
        library: Library = LINEN_LIBRARY,
    ) -> None:
        self._library = library
        self._output = output
        self._example = example
        self._traces = traces
        self._steps = steps
        self._gradual = gradual
        self._verify = verify
        self._maps: dict[Path, str] = {}
        self._tables: Tables | None = None
        self._trace: Trace | None = None

    # -- tracing ------------------------------------------------------------------------------

    def trace(self, request: Request, say: Callable[[str], None]) -> None:
        """Run the examples and the programs; what they tell counts in `migrate`.

        Args:
            request: What is asked for.
            say: Shows a line.

        Raises:
            Refused: One of them cannot be run or read, or tells nothing.
        """
        here = Path.cwd()
        records: list[Entry] = []
        programs = [one for one in self._traces if not _is_record(one)]
        try:
            records += [read_record(Path(one)) for one in self._traces if _is_record(one)]
            if self._example is not None:
                files = list(_linen_files(request.paths))
                named = ", ".join(map(str, request.paths))
                say(f"--example runs the code of {named} and {self._example}")
                records += trace_examples(files, self._example, here).records if files else []
            for program in programs:
                say(f"--trace runs {program}")
                ended = trace_command(program, self._steps, here)
                records += ended.records
                say(f"--trace: {ended.how}; {ended.calls:,} different calls, in {NAME}")
                if ended.problem:
                    say(f"--trace: some calls could not be recorded: {ended.problem}")
            if records:
                self._tables = merged(records)
            if programs and self._tables is not None:
                write_record(here / NAME, self._tables)
        except (NotTraced, BadRecord, OSError) as error:
            raise Refused(str(error)) from error

    def note(self) -> str:
        """Return what is to be known of the trace after a migration; empty where it is nothing."""
        changed = {} if self._trace is None else self._trace.changed
        if not changed:
            return ""
        names = ", ".join(f"{name} ({path.name})" for name, path in sorted(changed.items()))
        return (
            f"the trace is older than {names}: what it says of that is not used."
            " Fix: run --trace with a command again"
        )

    # -- migrating ----------------------------------------------------------------------------

    def migrate(
        self, files: Sequence[Path], request: Request, advance: Callable[[float], None]
    ) -> list[FileResult]:
        """Migrate files; nothing is written."""
        results: dict[Path, FileResult] = {}
        sources: list[_Source] = []
        progress = _Progress(advance, len(files))
        for path in files:
            found = _read(path, request.paths, self._library.words)
            if isinstance(found, FileResult):
                results[path] = found
                progress.advance(1)
            else:
                sources.append(found)
        silent = [path for path, one in results.items() if one.skipped == NO_NNX]
        mentioning = [one.path for one in sources]
        deriving, modules = deriving_files(silent, mentioning, self._library.package)
        others = [path for path in silent if path not in deriving]
        for path in (*deriving, *calling_files(others, [*mentioning, *deriving], modules)):
            found = _read(path, request.paths)
            if isinstance(found, _Source):
                sources.append(found)
        roots = [*request.paths, *dict.fromkeys(_top(one.path) for one in sources)]
        if self._tables is not None:
            self._trace = Trace(self._tables, [one.path for one in sources])

        known = NO_FAILURES
        left = progress.left

        def migrate(paths: Sequence[Path]) -> list[LinenResult]:
            """Migrate files."""
            options, gradual = request.options, self._gradual
            by = self._library.migrate or migrate_linen
            return by(
                *(paths, roots, options, self._trace, gradual, known),
                lambda part: progress.advance(part * left),
            )

        named = [one.path for one in sources]
        migrated = _migrated(named, migrate)
        altered = [one.path for one in sources if _is_altered(one, migrated.get(one.path))]
        if altered:
            # They stay as they are, which concerns the others.
            named = [path for path in named if path not in altered]
            migrated = _migrated(named, migrate) | dict.fromkeys(altered, _ALTERED)
        while self._verify:
            seen = known | self._failures(migrated)
            if seen == known:
                break
            known = seen
            migrated |= _migrated(named, migrate)
        for source in sources:
            after = migrated.get(source.path)
            if source.path in silent and not (isinstance(after, LinenResult) and _is_of_use(after)):
                continue  # it has nothing to do with Linen modules after all
            results[source.path] = self._result(source, after)
        progress.advance(progress.left)
        return [results[path] for path in files]

    def _failures(self, migrated: Mapping[Path, LinenResult | str]) -> Failures:
        """Return what running the migrated code shows."""
        try:
            return failures(
                [one for one in migrated.values() if isinstance(one, LinenResult)], self._example
            )
        except NotVerified as error:
            raise Refused(f"--verify: {error}") from error

    def _result(self, source: _Source, found: LinenResult | str | None) -> FileResult:
        result = FileResult(source.path, source.data, source.data)
        if found is None:
            return _unread(source)
        if isinstance(found, str):
            return result.failed(found)
        if self._output is not None and not found.plans:
            why = f"it has no module of {self._library.name}, so there is nothing to write"
            return result.failed(why)
        try:
            data = source.text.encode(found.after)
            if found.after != found.before:
                self._keep_map(source.path, found)
        except SourceError as error:
            return result.failed(str(error))
        return FileResult(source.path, source.data, data, found.findings, found.error)

    def _keep_map(self, path: Path, found: LinenResult) -> None:
        if not found.map["classes"]:
            return
        file = map_path(self._target(path))
        old = None if self._output is not None else _old_map(file)
        self._maps[path] = map_text(found.map, old)

    # -- writing ------------------------------------------------------------------------------

    def _target(self, path: Path) -> Path:
        return self._output or path

    def written_paths(self, result: FileResult) -> Sequence[Path]:
        """Return the file with the new code, and the one with the map."""
        target = self._target(result.path)
        return (target, map_path(target)) if result.path in self._maps else (target,)

    def write(self, result: FileResult) -> None:
        """Write the new code and the map: both, or none of them."""
        target = self._target(result.path)
        text = self._maps.get(result.path)
        file = map_path(target)
        before = file.read_bytes() if text is not None and file.is_file() else None
        if text is not None and text.encode() != before:
            put_atomically(file, text.encode())
        try:
            if self._output is None:
                write_atomically(result.path, result.before, result.after)
            else:
                put_atomically(target, result.after)
        except OSError:
            if text is not None:
                _put_back(file, before)
            raise


def _put_back(file: Path, before: bytes | None) -> None:
    """Make the file with the map what it was: what it describes was not written."""
    with suppress(OSError):
        if before is None:
            file.unlink()
        else:
            put_atomically(file, before)


def _old_map(file: Path) -> Mapping[str, object] | None:
    """Return the map that is there from an earlier run; None where there is none.

    Raises:
        SourceError: The file is there and holds something else.
    """
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(_no_map(file, str(error))) from error
    if not isinstance(found, dict) or not isinstance(found.get("classes", {}), dict):
        raise SourceError(_no_map(file, "it has no classes"))
    return found


def _no_map(file: Path, why: str) -> str:
    return (
        f"{file.name} is there and is not a map of typed-nnx migrate: {why}.\n"
        "  Fix: move it elsewhere, and run the command again"
    )


def _read(
    path: Path, named: Sequence[Path], words: Sequence[bytes] = (b"",)
) -> _Source | FileResult:
    """Read a file; return why it is not migrated where it is not."""
    if path.suffix != ".py":
        result = FileResult(path, skipped=_NOT_PYTHON)
        return result if path not in named else FileResult(path).failed(_NOT_READ)
    try:
        data = path.read_bytes()
    except OSError as error:
        return FileResult(path).failed(f"it cannot be read: {error.strerror or error}")
    if not any(word in data for word in words):
        return FileResult(path, skipped=NO_NNX)
    if is_generated(data) and path not in named:
        return FileResult(path, skipped=GENERATED)
    result = FileResult(path, data, data)
    try:
        text = decode_module(data)
        problem = error_in(text.text)
        if problem:
            return replace(result.failed(str(NotPython(problem))), is_python=False)
    except SourceError as error:
        return result.failed(str(error))
    except (TooDeepError, RecursionError):
        return result.failed(_TOO_DEEP)
    return _Source(path, data, text)


_NOT_READ = "modules are migrated in Python files only; of a notebook make one: jupyter nbconvert --to script"
_ALTERED = "libcst would lose spaces or a line end"
_TOO_DEEP = "its code is nested too deeply to be parsed"


def _is_altered(source: _Source, found: LinenResult | str | None) -> bool:
    """Whether libcst does not give back the text of a file."""
    return isinstance(found, LinenResult) and found.before != source.text.text


def _is_of_use(found: LinenResult) -> bool:
    return bool(found.plans or found.findings or found.error) or found.after != found.before


def _unread(source: _Source) -> FileResult:
    """Return the result of a file that was not analysed, with the reason."""
    result = FileResult(source.path, source.data, source.data)
    try:
        gives_back(source.text.text)
    except UnknownSyntaxError as error:
        return result.failed(str(error))
    except (TooDeepError, RecursionError):
        return result.failed(_TOO_DEEP)
    if mentions_nnx(source.data):
        return result.failed(_TOO_DEEP)
    return FileResult(source.path, skipped=NO_NNX)


def _is_record(given: str) -> bool:
    """Whether something is the file of a record, not a command."""
    return given.endswith(".json") and (" " not in given or Path(given).is_file())


def _linen_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that may have modules of Linen."""
    for path in find_files(paths).files:
        if path.suffix == ".py" and uses_jax(path):
            yield path


def _migrated(
    paths: Sequence[Path], migrate: Callable[[Sequence[Path]], list[LinenResult]]
) -> dict[Path, LinenResult | str]:
    """Return the results by file; the reason for those that fail."""
    try:
        return {one.path: one for one in migrate(paths)}
    # A bug of ours at one file must not stop the others.
    except Exception as error:  # noqa: BLE001 - the report says it
        if len(paths) == 1:
            return {paths[0]: described(error)}
    # Halves, since each run reads all that its files import.
    middle = len(paths) // 2
    return _migrated(paths[:middle], migrate) | _migrated(paths[middle:], migrate)
