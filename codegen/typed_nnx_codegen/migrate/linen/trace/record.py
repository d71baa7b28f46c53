"""The record of a traced program: running that, reading, merging and writing it, and what it says of submodules."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.domain.class_plan import Site, Size
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.trace import recording
from typed_nnx_codegen.migrate.linen.trace.recording import (
    FOLDER,
    STEPS,
    VERSION,
    Definition,
    Entry,
    Tables,
    definitions_in,
)
from typed_nnx_codegen.migrate.writing import put_atomically

NAME: Final = ".typed_nnx_trace.json"
_TABLES: Final = ("runs", "classes", "modules", "calls")


class BadRecord(Exception):
    """A file is no record that can be used; the message says why and what to do."""


# -- files ----------------------------------------------------------------------------------------


def read_record(path: Path) -> Entry:
    """Return the record in a file; the files that it names are absolute.

    Raises:
        BadRecord: It cannot be read, or is something else.
    """
    again = 'Fix: make it again, with --trace "python train.py"'
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRecord(f"{path}: it cannot be read as JSON: {error}\n  {again}") from error
    version = data.get("typed_nnx_trace") if isinstance(data, dict) else None
    if version is None:
        raise BadRecord(f"{path}: it is no record of --trace: no `typed_nnx_trace`\n  {again}")
    if version != VERSION:
        text = f"it is a record of version {version!r}, this command reads version {VERSION}"
        raise BadRecord(f"{path}: {text}\n  {again}")
    if not all(isinstance(data.get(name), list) for name in _TABLES):
        raise BadRecord(f"{path}: it lacks one of the tables {', '.join(_TABLES)}\n  {again}")
    for cls in data["classes"]:
        if cls["file"]:
            cls["file"] = str((path.parent / cls["file"]).resolve())
    return dict(data)


def write_record(path: Path, tables: Tables) -> None:
    """Write a record, whole or not at all; files beside it are named relative to it.

    Raises:
        OSError: It cannot be written.
    """
    folder = path.parent.resolve()

    def relative(file: str) -> str:
        is_inside = file and folder in Path(file).parents
        return Path(file).relative_to(folder).as_posix() if is_inside else file

    data = tables.as_json()
    data["classes"] = [{**one, "file": relative(one["file"])} for one in data["classes"]]
    put_atomically(path, f"{json.dumps(data, separators=(',', ':'))}\n".encode())


def merged(records: Iterable[Entry]) -> Tables:
    """Return the tables of several records in one."""
    made = Tables()
    for record in records:
        runs = {}
        for number, run in enumerate(record["runs"]):
            if run not in made.runs:
                made.runs.append(run)
            runs[number] = made.runs.index(run)
        classes = [made.add_class(one) for one in record["classes"]]
        modules: list[int | None] = []
        for one in record["modules"]:
            parent = None if one["parent"] is None else modules[one["parent"]]
            is_lost = parent is None and one["parent"] is not None
            entry = {**one, "class": classes[one["class"]], "parent": parent}
            modules.append(None if is_lost else made.add_module(entry))
        calls: list[int | None] = []
        for one in record["calls"]:
            module = modules[one["module"]]
            within = None if one["within"] is None else calls[one["within"]]
            if module is None or (within is None and one["within"] is not None):
                made.dropped += 1
                calls.append(None)
                continue
            run = {"run": runs.get(one["run"], 0)} if "run" in one else {}
            calls.append(made.add_call({**one, "module": module, "within": within, **run}))
        made.dropped += record.get("dropped", 0)
    return made


# -- what it says ---------------------------------------------------------------------------------

# A module of one run: the outermost call, and its number in the table of modules.
Instance = tuple[int, int]


@dataclass(frozen=True)
class TracedCall:
    """A call of a submodule.

    Attributes:
        run: The name of what ran.
        method: The method that is called.
        arguments: What each parameter was given.
        name: The name of the submodule in the module that contains it.
        module: The submodule.
        owner: The module that contains it.
        around: What the method of that module was given that was entered from outside.
        around_method: That method.
        sizes: The integers in the fields of that module, by expression.
        own: Those in the fields of the submodule.
    """

    run: str
    method: str
    arguments: Mapping[str, Value]
    name: str
    module: Instance
    owner: Instance
    around: Mapping[str, Value] = field(default_factory=dict)
    around_method: str = "__call__"
    sizes: Mapping[str, int] = field(default_factory=dict)
    own: Mapping[str, int] = field(default_factory=dict)


class Trace:
    """What a record says of the classes of a project.

    Args:
        tables: The record.
        files: The files of the project.

    Attributes:
        changed: The classes that were changed after the record was made, which it says nothing of.
    """

    def __init__(self, tables: Tables, files: Iterable[Path] = ()) -> None:
        self._tables = tables
        self._files = {path.resolve() for path in files}
        self._classes: dict[LinenClass, frozenset[int]] = {}
        self._definitions: dict[Path, list[Definition]] = {}
        self.changed: dict[str, Path] = {}

    def calls_of(self, owner: LinenClass, site: Site) -> Iterator[TracedCall]:
        """Yield the calls of a submodule."""
        if not site.linen:
            return
        owners = self.classes_of(owner)
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(site.linen)))
        depth = site.linen.count("/") + 1
        for module in self._modules.get(site.class_name, ()) if owners else ():
            at, name = self._above(module, depth)
            is_owner = at is not None and self._tables.modules[at]["class"] in owners
            if at is not None and is_owner and pattern.fullmatch(name):
                yield from (self._call(each, at, name) for each in self._calls.get(module, ()))

    def shapes_of(
        self, cls: LinenClass, collection: str, name: str
    ) -> list[tuple[Instance, tuple[int, ...]]]:
        """Return the shapes of a variable in the modules of a class.

        Args:
            cls: The class.
            collection: The collection of the variable.
            name: Its name, or a pattern with ``{i}``.
        """
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(name)))
        numbers, found = self.classes_of(cls), []
        for number, call in enumerate(self._tables.calls if numbers else ()):
            if self._tables.modules[call["module"]]["class"] in numbers:
                variables = call.get("variables", {}).get(collection, {})
                for key, described in variables.items():
                    if pattern.fullmatch(key) and "shape" in described:
                        instance = (self._root(number), call["module"])
                        found.append((instance, tuple(described["shape"])))
        return found

    def _root(self, number: int) -> int:
        """Return the outermost call around a call."""
        while (within := self._tables.calls[number]["within"]) is not None:
            number = within
        return number

    def is_called(self, cls: LinenClass) -> bool:
        """Whether a method of a class was called."""
        return not self.classes_of(cls).isdisjoint(self._called)

    def classes_of(self, cls: LinenClass) -> frozenset[int]:
        """Return the numbers of a class of the project in the record."""
        if cls not in self._classes:
            self._classes[cls] = frozenset(self._same(cls))
        return self._classes[cls]

    # -- classes ------------------------------------------------------------------------------

    def _same(self, cls: LinenClass) -> Iterator[int]:
        path = cls.analysis.path.resolve()
        if path not in self._definitions:
            self._definitions[path] = definitions_in(path)
        digests = {one.digest for one in self._definitions[path] if _last(one.name) == cls.name}
        for number, entry in enumerate(self._tables.classes):
            if _last(entry["name"]) != cls.name or entry["library"]:
                continue
            file = Path(entry["file"]) if entry["file"] else None
            if entry["digest"] in digests and (file == path or file not in self._files):
                yield number
            elif file == path:
                self.changed[cls.name] = cls.analysis.path

    @cached_property
    def _called(self) -> frozenset[int]:
        return frozenset(self._tables.modules[module]["class"] for module in self._calls)

    @cached_property
    def _calls(self) -> Mapping[int, Sequence[int]]:
        """The calls of each module."""
        found: dict[int, list[int]] = {}
        for number, call in enumerate(self._tables.calls):
            found.setdefault(call["module"], []).append(number)
        return found

    @cached_property
    def _modules(self) -> Mapping[str, Sequence[int]]:
        """The modules by the names of their classes."""
        found: dict[str, list[int]] = {}
        for number, module in enumerate(self._tables.modules):
            name = self._tables.classes[module["class"]]["name"]
            found.setdefault(_last(name), []).append(number)
        return found

    # -- modules and calls --------------------------------------------------------------------

    def _above(self, module: int, depth: int) -> tuple[int | None, str]:
        """Return the module that is so many names above one, and those names."""
        names: list[str] = []
        at: int | None = module
        while at is not None and len(names) < depth:
            entry = self._tables.modules[at]
            names = [entry["name"], *names] if entry["name"] else names
            at = entry["parent"]
        return (at if len(names) == depth else None), "/".join(names)

    def _call(self, number: int, owner: int, name: str) -> TracedCall:
        calls = self._tables.calls
        call, around, root = calls[number], None, number
        while (within := calls[root]["within"]) is not None:
            root = within
            if calls[root]["module"] == owner:
                around = calls[root]
        run = calls[root].get("run", 0)
        return TracedCall(
            self._tables.runs[run]["name"] if run < len(self._tables.runs) else "the trace",
            call["method"],
            _values(call["arguments"]),
            name,
            (root, call["module"]),
            (root, owner),
            _values(around["arguments"]) if around is not None else {},
            around["method"] if around is not None else "",
            self._tables.modules[owner]["sizes"],
            self._tables.modules[call["module"]]["sizes"],
        )


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _values(described: Mapping[str, Any]) -> dict[str, Value]:
    return {name: value_of(one) for name, one in described.items()}


def value_of(described: Mapping[str, Any]) -> Value:
    """Return the value that a record describes; arrays have the shape that they had."""
    if "shape" in described:
        dims = tuple(None if one is None else as_dim(int(one)) for one in described["shape"])
        return Array(Shape(dims), dtype=str(described.get("dtype", "")))
    if "value" in described:
        return Const(described["value"])
    if "list" in described:
        return Seq(tuple(value_of(one) for one in described["list"]))
    if "items" in described:
        return Table({key: value_of(one) for key, one in described["items"].items()})
    return UNKNOWN


# -- expressions that give a size ------------------------------------------------------------------

_DEEPEST: Final = 3
# So many different calls tell enough.
_MOST_ROWS: Final = 32


@dataclass(frozen=True)
class Measured:
    """What a parameter has to be in a call.

    Attributes:
        size: The number; several for the submodules of a list, or for the shape of an array.
        call: The call.
    """

    size: Size
    call: TracedCall


def fitting(found: Sequence[Measured], method_of: Callable[[str], str]) -> list[Dim]:
    """Return the simplest expressions that give a size in all calls.

    Fields and sizes of arguments come first, then multiples, products and sums of them, then
    quotients, and last what is computed with first axes of arrays: that of a batch fits by
    chance. All that fit are returned: the calls do not tell one of them from another.

    Args:
        found: The size in each call; it has to differ, as anything gives one number.
        method_of: Gives the method of which an argument is that a constructor asks for.
    """
    wanted = {one.size for one in found}
    if len(wanted) < 2 or not all(isinstance(one, int) for one in wanted):
        return []
    rows = dict.fromkeys((one.size, tuple(_atoms(one.call, method_of))) for one in found)
    chosen = list(rows)[:_MOST_ROWS]
    tables = [dict(atoms) for _, atoms in chosen]
    known = {
        atom: tuple(table[atom] for table in tables)
        for atom in tables[0]
        if all(atom in table for table in tables)
    }
    numbers = [size for size, _ in chosen if isinstance(size, int)]
    firsts = set(_first_axes(known))
    inner = {atom: sizes for atom, sizes in known.items() if atom not in firsts}
    return (
        _alone(known, numbers)
        or _together(inner, numbers)
        or _quotients(inner, numbers)
        or _together(known, numbers)
    )


def _first_axes(sizes: Iterable[Dim]) -> Iterator[Dim]:
    """Yield the sizes of the first axes of arrays that have others."""
    by_argument: dict[str, list[ArgumentSize]] = {}
    for size in sizes:
        for atom in size.atoms():
            if isinstance(atom, ArgumentSize):
                by_argument.setdefault(atom.argument, []).append(atom)
    return (
        as_dim(min(axes, key=lambda one: one.axis)) for axes in by_argument.values() if axes[1:]
    )


def _alone(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    return [dim for dim, sizes in known.items() if list(sizes) == wanted]


def _together(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    """Return multiples, products and sums."""
    varied = {dim: sizes for dim, sizes in known.items() if len(set(sizes)) > 1}
    found = []
    for dim, sizes in varied.items():
        factors = {divmod(size, by) for size, by in zip(wanted, sizes, strict=True)}
        if len(factors) == 1 and (factor := factors.pop())[1] == 0:
            found.append(dim * factor[0])
    for (one, sizes), (other, others) in combinations_with_replacement(known.items(), 2):
        pairs = list(zip(sizes, others, wanted, strict=True))
        if one != other and all(first + second == size for first, second, size in pairs):
            found.append(one + other)
        if min(*sizes, *others) > 1 and all(
            first * second == size for first, second, size in pairs
        ):
            found.append(one * other)
    return found


def _quotients(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    """Return the quotients without a rest: the width of one head of attention is one."""
    return [
        one // other
        for one, sizes in known.items()
        for other, others in known.items()
        if all(
            by > 1 and divmod(size, by) == (number, 0)
            for size, by, number in zip(sizes, others, wanted, strict=True)
        )
    ]


def _atoms(call: TracedCall, method_of: Callable[[str], str]) -> Iterator[tuple[Dim, int]]:
    """Yield the sizes that a constructor can say, with their values in a call."""
    for code, size in call.sizes.items():
        yield as_dim(Piece(code)), size
    for name, value in call.around.items():
        if method_of(name) == call.around_method:
            yield from _of_argument(name, value, 0)


def _of_argument(code: str, value: Value, depth: int) -> Iterator[tuple[Dim, int]]:
    if depth > _DEEPEST:
        return
    match value:
        case Array(shape=shape):
            for number, dim in enumerate(shape.dims):
                if dim is not None and dim.constant:
                    yield as_dim(ArgumentSize(code, number - len(shape.dims))), dim.constant
        case Seq(items=items):
            for number, item in enumerate(items):
                yield from _of_argument(f"{code}[{number}]", item, depth + 1)
        case Table(items=table):
            for key, item in table.items():
                yield from _of_argument(f"{code}[{key!r}]", item, depth + 1)


# -- running ---------------------------------------------------------------------------------------

_EXAMPLES: Final = "typed_nnx_codegen.verify.recording"
# Standard output is for the diff: what a program prints goes to standard error.
_ERRORS: Final = 2
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*=")


class NotTraced(Exception):
    """A program could not be run, or nothing of Linen ran in it; the message says why."""


@dataclass(frozen=True)
class Ended:
    """A program that was traced.

    Attributes:
        name: What ran, as the user wrote it.
        records: What each of its processes recorded.
        status: Its exit status; negative for the signal that ended it.
        seconds: How long it ran.
        was_interrupted: Whether the user stopped it with Ctrl-C.
        problem: Why some of its calls could not be recorded; empty where all were.
    """

    name: str
    records: list[Entry] = field(default_factory=list)
    status: int = 0
    seconds: float = 0.0
    was_interrupted: bool = False
    problem: str = ""

    @property
    def how(self) -> str:
        """How it ended."""
        end = f"it ended with status {self.status}"
        if self.status < 0:
            known = {one.value: f" ({one.name})" for one in signal.Signals}
            end = f"it was ended by signal {-self.status}{known.get(-self.status, '')}"
        end = "Ctrl-C ended it" if self.was_interrupted else end
        return f"{end} after {self.seconds:.1f} s"

    @property
    def calls(self) -> int:
        """How many different calls were recorded."""
        return sum(len(record["calls"]) for record in self.records)


def trace_command(command: str, steps: int, beside: Path) -> Ended:
    """Run a command with a recorder in each process of Python that it starts.

    Args:
        command: The command, as in a shell but without its operators; or the path of a notebook.
        steps: How many outermost calls of modules a process goes on for; 0 for no end.
        beside: The folder in which the processes leave their records.

    Raises:
        NotTraced: It cannot be started, or calls no module of Linen.
    """
    words, variables, folder = _words(command)
    with _parts_folder(beside) as parts:
        shutil.copyfile(recording.__file__, parts / "sitecustomize.py")
        path = variables.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
        search = [str(parts), *filter(None, [path])]
        # IPython would leave a history of the cells.
        home = {"IPYTHONDIR": str(parts)} if folder is not None else {}
        environment = {
            **home,
            FOLDER: str(parts),
            STEPS: str(steps),
            "PYTHONPATH": os.pathsep.join(search),
        }
        began = time.monotonic()
        try:
            status, was_interrupted = _run(words, {**variables, **environment}, folder)
        except OSError as error:
            raise NotTraced(
                f"--trace {command!r}: {words[0]!r} cannot be started: {error.strerror or error}\n"
                "  Fix: a program as the shell finds it, like python, pytest or a path"
            ) from error
        found = [{**each, "runs": [{"name": command, "status": status}]} for each in _read(parts)]
    problems = sorted({one["problem"] for one in found if one["problem"]})
    seconds = time.monotonic() - began
    ended = Ended(command, found, status, seconds, was_interrupted, "; ".join(problems))
    if not ended.calls and problems:
        raise NotTraced(f"--trace {command!r}: nothing could be recorded: {ended.problem}")
    if not ended.calls:
        raise NotTraced(
            f"--trace {command!r}: it ended with status {status}, and called no module of"
            " flax.linen.\n  Fix: a command that builds a model and calls it, with the Python"
            " (`which python`) that has flax; not with -I, -E or -S, which hide the recorder from it"
        )
    return ended


def trace_examples(files: Sequence[Path], examples: Path, beside: Path) -> Ended:
    """Run the examples of a file on shapes alone, in a process that imports the files.

    Args:
        files: The files whose classes the examples build.
        examples: The file of the examples.
        beside: The folder in which the process leaves its record.

    Raises:
        NotTraced: They cannot be run, or Linen fails at one of them.
    """
    with _parts_folder(beside) as parts:
        words = [sys.executable, "-m", _EXAMPLES, str(parts), str(examples), *map(str, files)]
        try:
            status, _ = _run(words, {}, None)
        except OSError as error:
            raise NotTraced(f"--example {examples}: Python cannot be started: {error}") from error
        found = list(_read(parts))
    if not found:
        raise NotTraced(f"--example {examples}: its process ended with status {status}")
    problems = [one["problem"] for one in found if one["problem"]]
    if problems:
        raise NotTraced(f"--example {examples}: {problems[0]}")
    failed = [f"    {run['name']}: {run['error']}" for run in found[0]["runs"] if run["error"]]
    if failed:
        listed = "\n".join(failed)
        raise NotTraced(
            f"--example {examples}: Linen itself fails at these examples:\n{listed}\n"
            "  Fix: correct the examples, or leave them out"
        )
    return Ended(str(examples), found, status)


def _words(command: str) -> tuple[list[str], dict[str, str], Path | None]:
    """Return the words of a command, the variables before them, and the folder that it runs in."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NotTraced(
            f"--trace {command!r}: it is no command: {error}\n  Fix: quote it as in a shell"
        ) from error
    variables: dict[str, str] = {}
    while words and _VARIABLE.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if not words:
        raise NotTraced(
            f'--trace {command!r}: it names no program.\n  Fix: --trace "python train.py"'
        )
    if len(words) == 1 and words[0].endswith(".ipynb"):
        path = Path(words[0])
        return _notebook(path), variables, path.parent
    return words, variables, None


def _notebook(path: Path) -> list[str]:
    """Return the command that runs the cells of a notebook, in its folder as Jupyter does."""
    if not path.is_file():
        raise NotTraced(f"--trace {path}: there is no such notebook")
    if importlib.util.find_spec("IPython") is None:
        raise NotTraced(
            f"--trace {path}: notebooks are run by IPython, which this Python does not have.\n"
            f'  Fix: pip install ipython, or --trace "jupyter execute {path}"'
        )
    return [sys.executable, "-m", __spec__.name, str(path.resolve())]


@contextmanager
def _parts_folder(beside: Path) -> Iterator[Path]:
    try:
        made = tempfile.TemporaryDirectory(
            prefix=".typed_nnx_trace-", dir=beside, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise NotTraced(
            f"{beside}: the record cannot be written here: {error.strerror or error}\n"
            "  Fix: run the command in a folder that can be written"
        ) from error
    with made as name:
        yield Path(name).resolve()


def _run(
    words: Sequence[str], environment: Mapping[str, str], folder: Path | None
) -> tuple[int, bool]:
    """Run a program to its end; return its status, and whether Ctrl-C ended it.

    A terminal sends Ctrl-C to the program too, which ends as it likes; a second one ends it.
    """
    interrupts = 0
    with subprocess.Popen(
        words, env={**os.environ, **environment}, cwd=folder, stdout=_ERRORS
    ) as process:
        while True:
            try:
                return process.wait(), interrupts > 0
            except KeyboardInterrupt:
                interrupts += 1
                if interrupts > 1:
                    process.kill()


def _read(parts: Path) -> Iterator[Entry]:
    for path in sorted(parts.glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def main(arguments: Sequence[str]) -> int:
    """Run the cells of a notebook in IPython, up to the first that fails; return the status."""
    base: Any = importlib.import_module("IPython.core.interactiveshell").InteractiveShell
    # There are no windows here, whatever `%matplotlib` asks for.
    without_windows: Any = type("Shell", (base,), {"enable_gui": lambda *_: None})
    shell = without_windows.instance()
    notebook = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"]
            result = shell.run_cell(source if isinstance(source, str) else "".join(source))
            if not result.success:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
