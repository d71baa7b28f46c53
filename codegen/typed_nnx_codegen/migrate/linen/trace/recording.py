"""Records the Linen modules that a program calls, in the process of that program.

A copy of this file is the `sitecustomize` of the traced program, in whatever Python and environment
that runs: it imports the standard library alone, and flax and jax after the program imported them.
"""

from __future__ import annotations

import _thread
import ast
import atexit
import contextlib
import dataclasses
import enum
import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

VERSION = 1
FOLDER = "TYPED_NNX_TRACE"
STEPS = "TYPED_NNX_TRACE_STEPS"

# What keeps a record small, however long the program runs.
_MOST_CALLS = 50_000
_MOST_VARIANTS = 16
_MOST_ROOTS = 200
_MOST_ITEMS = 64
_MOST_SIZES = 300
_MOST_TEXT = 120
_DEEPEST = 6
_DEEPEST_SIZE = 2

_TRANSFORMS = "flax.linen.transforms"
_OWN_FIELDS = ("parent", "name")

# An entry of a table, as JSON has it.
Entry = dict[str, Any]


class Tables:
    """The tables of a record: what is equal is in them once.

    Attributes:
        runs: What ran, each with a name.
        classes: The classes of modules.
        modules: The modules: their class, fields and name, and the module that contains them.
        calls: The calls of their methods, and the call within which each was made.
        dropped: How many calls had no place.
    """

    def __init__(self) -> None:
        self.runs: list[Entry] = []
        self.classes: list[Entry] = []
        self.modules: list[Entry] = []
        self.calls: list[Entry] = []
        self.dropped = 0
        self._known: dict[tuple[Any, ...], int] = {}
        self._variants: dict[tuple[Any, ...], int] = {}

    def add_class(self, entry: Entry) -> int:
        """Return the number of a class."""
        index = self._found(self.classes, ("class", _key(entry)), entry)
        assert index is not None  # there is no limit
        return index

    def add_module(self, entry: Entry) -> int | None:
        """Return the number of a module; None where there are too many like it."""
        place = ("module", entry["class"], entry["name"], entry["parent"])
        rest = _key({key: entry[key] for key in ("fields", "sizes")})
        return self._found(self.modules, (*place, rest), entry, place, _MOST_ROOTS)

    def add_call(self, entry: Entry) -> int | None:
        """Return the number of a call; None where there are too many like it."""
        within, module, method = entry["within"], entry["module"], entry["method"]
        if len(self.calls) >= _MOST_CALLS:
            self.dropped += 1
            return None
        place: tuple[Any, ...] = ("call", within, module, method)
        most = _MOST_VARIANTS
        key = (*place, _key(entry["arguments"]))
        if within is None:
            place, most = ("root", self.modules[module]["class"], method), _MOST_ROOTS
        index = self._found(self.calls, key, entry, place, most)
        if index is None:
            self.dropped += 1
        return index

    def _found(
        self,
        table: list[Entry],
        key: tuple[Any, ...],
        entry: Entry,
        place: tuple[Any, ...] = (),
        most: int = 0,
    ) -> int | None:
        known = self._known.get(key)
        if known is not None:
            return known
        if most:
            if self._variants.get(place, 0) >= most:
                return None
            self._variants[place] = self._variants.get(place, 0) + 1
        self._known[key] = len(table)
        table.append(entry)
        return len(table) - 1

    def as_json(self) -> Entry:
        """Return it in objects that JSON knows."""
        return {
            "typed_nnx_trace": VERSION,
            "runs": self.runs,
            "classes": self.classes,
            "modules": self.modules,
            "calls": self.calls,
            "dropped": self.dropped,
        }


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# -- what values are ------------------------------------------------------------------------------


def described(value: Any, depth: int = 0) -> Entry:
    """Return what a record has of a value: shapes and dtypes instead of numbers.

    They are {"shape": [2, 3], "dtype": "float32"} for an array, {"list": [...]}, {"items": {...}}
    for mappings and dataclasses, {"value": 3} for whole numbers, names and None, else
    {"type": "Name"}.
    """
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        with contextlib.suppress(TypeError):
            return {"shape": [_size(each) for each in value.shape], "dtype": str(value.dtype)}
    if value is None or isinstance(value, (bool, int)):
        return {"value": value if value is None or isinstance(value, bool) else int(value)}
    if isinstance(value, str) and len(value) <= _MOST_TEXT:
        return {"value": str(value)}
    items = None if depth >= _DEEPEST else _items_of(value)
    if isinstance(items, dict):
        return {"items": {name: described(each, depth + 1) for name, each in items.items()}}
    if items is not None:
        return {"list": [described(each, depth + 1) for each in items]}
    return {"type": type(value).__name__}


def _items_of(value: Any) -> dict[str, Any] | list[Any] | None:
    """Return the items of a container or dataclass by name or in order; None for what is neither."""
    found: dict[str, Any] | list[Any] | None = None
    if isinstance(value, Mapping):
        found = {str(key): each for key, each in value.items()} if _is_short(value) else None
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names: Sequence[str] = getattr(value, "_fields")  # noqa: B009 - no tuple is known to have it
        found = {name: getattr(value, name) for name in names}
    elif isinstance(value, (list, tuple)):
        found = list(value) if _is_short(value) else None
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and not _is_module(value):
        names = [each.name for each in dataclasses.fields(value)]
        found = {name: getattr(value, name) for name in names if hasattr(value, name)}
    return found


def _is_short(value: Any) -> bool:
    return len(value) <= _MOST_ITEMS


def _size(dimension: Any) -> int | None:
    """Return the size of a dimension; None where it is symbolic."""
    try:
        return int(dimension)
    except Exception:  # noqa: BLE001 - jax says in many ways that it is not a number
        return None


def _is_module(value: Any) -> bool:
    module = sys.modules.get("flax.linen.module")
    return module is not None and isinstance(value, module.Module)


def shown(value: Any, depth: int = 0) -> str:
    """Return a value of a field as code would have it, without running code of the user."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, complex)):
        return repr(value)
    if isinstance(value, (str, bytes)):
        text = repr(value)
        return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}..."
    if isinstance(value, type) or inspect.isroutine(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}{value.shape}"
    if depth < _DEEPEST_SIZE and isinstance(value, (list, tuple)) and _is_short(value):
        inner = ", ".join(shown(each, depth + 1) for each in value)
        is_one = isinstance(value, tuple) and len(value) == 1
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if is_one else ''})"
    if depth < _DEEPEST_SIZE and isinstance(value, Mapping) and _is_short(value):
        inner = ", ".join(f"{key!s}: {shown(each, depth + 1)}" for key, each in value.items())
        return f"{{{inner}}}"
    return f"{type(value).__name__}(...)"


def described_fields(module: Any) -> dict[str, list[str]]:
    """Return the type and the code of each field; of layers of flax those that were set."""
    is_library = type(module).__module__.partition(".")[0] == "flax"
    defaults = {each.name: each.default for each in dataclasses.fields(module)}
    return {
        name: [type(each).__name__, shown(each)]
        for name, each in _fields_of(module).items()
        if not is_library or each is not defaults[name]
    }


def field_sizes(module: Any) -> dict[str, int]:
    """Return the positive integers in the fields of a module, by expression.

    They are those that its constructor may compute with: ``self.features``, ``self.widths[-1]``,
    ``self.config.hidden_size``, ``len(self.widths)``.
    """
    found: dict[str, int] = {}
    for name, value in _fields_of(module).items():
        for code, size in _sizes(f"self.{name}", value, 0):
            found.setdefault(code, size)
            if len(found) >= _MOST_SIZES:
                return found
    return found


def _fields_of(module: Any) -> dict[str, Any]:
    names = [each.name for each in dataclasses.fields(module)]
    return {name: getattr(module, name, None) for name in names if name not in _OWN_FIELDS}


def _sizes(code: str, value: Any, depth: int) -> Iterator[tuple[str, int]]:
    if isinstance(value, bool):
        return
    if isinstance(value, Integral):  # those of numpy as well
        if int(value) > 0:
            yield code, int(value)
    elif depth < _DEEPEST_SIZE:
        for inner, each in _parts(code, value):
            yield from _sizes(inner, each, depth + 1)


def _parts(code: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        named = ((key, each) for key, each in value.items() if isinstance(key, str))
        yield from ((f"{code}[{key!r}]", each) for key, each in named)
    elif isinstance(value, (list, tuple)):
        yield f"len({code})", len(value)
        if value:
            yield f"{code}[-1]", value[-1]
        yield from ((f"{code}[{number}]", each) for number, each in enumerate(value))
    elif _is_module(value):
        # Layers of flax have other names for their sizes in NNX.
        if type(value).__module__.partition(".")[0] != "flax":
            yield from ((f"{code}.{name}", each) for name, each in _fields_of(value).items())
    elif not isinstance(value, (type, str)) and not callable(value):
        attributes = getattr(value, "__dict__", {})
        yield from (
            (f"{code}.{name}", each) for name, each in attributes.items() if name.isidentifier()
        )


# -- what classes are -----------------------------------------------------------------------------


def written_class(cls: type) -> type:
    """Return the class that a person wrote, where `nn.scan` and the like made one of it."""
    while cls.__module__ == _TRANSFORMS and cls.__bases__:
        cls = cls.__bases__[0]
    return cls


@dataclasses.dataclass(frozen=True)
class Definition:
    """A class in a file.

    Attributes:
        name: Its name, with those of the classes and functions around it: ``make.Block``.
        line: Its first line.
        end: Its last line.
        digest: What changes with its code, but not with comments and blank lines.
    """

    name: str
    line: int
    end: int
    digest: str


def definitions_in(path: str | Path) -> list[Definition]:
    """Return the classes that a file defines; none where it is no file of Python."""
    try:
        data = Path(path).read_bytes()
        tree = ast.parse(data)
    except (OSError, SyntaxError, ValueError):
        return []
    return list(_definitions(tree, "", data.decode("utf-8", "replace").splitlines()))


def _definitions(node: ast.AST, around: str, lines: Sequence[str]) -> Iterator[Definition]:
    for below in ast.iter_child_nodes(node):
        name = around
        if isinstance(below, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            name = f"{around}.{below.name}" if around else below.name
        if isinstance(below, ast.ClassDef):
            end = below.end_lineno or below.lineno
            code = [line.strip() for line in lines[below.lineno - 1 : end]]
            text = "\n".join(line for line in code if line and not line.startswith("#"))
            digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            yield Definition(name, below.lineno, end, digest)
        yield from _definitions(below, name, lines)


_definitions_of = functools.lru_cache(maxsize=256)(definitions_in)


def described_class(cls: type) -> Entry:
    """Return what a record has of a class of modules."""
    name = cls.__qualname__.replace("<locals>.", "")
    found: Entry = {"name": name, "module": cls.__module__, "file": "", "line": 0, "digest": ""}
    if cls.__module__.partition(".")[0] == "flax":
        return {**found, "library": True}
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file:
        file = os.path.realpath(file)
        same = [one for one in _definitions_of(file) if one.name == name]
        lines = {code.co_firstlineno for code in _codes(cls)}
        held = [one for one in same if any(one.line <= line <= one.end for line in lines)]
        found["file"] = file
        for one in [*held, *same][:1]:
            found.update(line=one.line, digest=one.digest)
    return {**found, "library": False}


def _codes(cls: type) -> Iterator[Any]:
    for member in vars(cls).values():
        code = getattr(inspect.unwrap(member) if callable(member) else member, "__code__", None)
        if code is not None:
            yield code


# -- what is called -------------------------------------------------------------------------------


def is_method(name: str) -> bool:
    """Whether a name is that of a method: not what Linen and its transforms run inside."""
    return name.isidentifier() and name not in ("setup", "scan_fn")


def bound_arguments(
    method: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what each parameter of a method is given, defaults included."""
    try:
        signature = inspect.signature(method)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(kwargs)
    bound.apply_defaults()
    named = dict(bound.arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update(named.pop(parameter.name, {}))
    return named


class _Running(threading.local):
    """What runs in a thread.

    Attributes:
        calls: The calls that have begun, the outermost first; None for one that is not recorded.
        modules: The modules of the outermost call by path; nested models have tables of their own.
    """

    def __init__(self) -> None:
        self.calls: list[int | None] = []
        self.modules: list[dict[tuple[str, ...], int]] = [{}]


class Recorder:
    """Records the calls of Linen modules.

    Args:
        on_root: Called after each call that is within no other.

    Attributes:
        tables: What was seen.
        problem: Why a call could not be recorded: a bug of ours, which does not stop the program.
    """

    def __init__(self, on_root: Callable[[], None] | None = None) -> None:
        self.tables = Tables()
        self.problem = ""
        self._on_root = on_root
        self._running = _Running()
        self._classes: dict[type, int] = {}
        self._lock = threading.RLock()

    def intercept(
        self, call: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, context: Any
    ) -> Any:
        """Record a call: an interceptor of `flax.linen.intercept_methods`."""
        module = context.module
        if not is_method(context.method_name) or module.scope is None:
            return call(*args, **kwargs)
        running = self._running
        tables, index = len(running.modules), None
        try:
            index = self._began(module, context, args, kwargs)
        except Exception as error:  # noqa: BLE001 - the program goes on, and the record says it
            self.note(error)
        running.calls.append(index)
        try:
            outputs = call(*args, **kwargs)
            if index is not None:
                self._ended(index, module, outputs)
        finally:
            running.calls.pop()
            del running.modules[tables:]
            if not running.calls:
                running.modules[:] = [{}]
                if self._on_root is not None:
                    self._on_root()
        return outputs

    def note(self, error: Exception) -> None:
        """Note why something could not be recorded; the first reason is enough."""
        self.problem = self.problem or f"{type(error).__name__}: {error}"

    def _began(self, module: Any, context: Any, args: tuple[Any, ...], kwargs: Any) -> int | None:
        calls = self._running.calls
        if calls and calls[-1] is None:
            return None
        with self._lock:
            at = self._module(module)
            if at is None:
                return None
            given = bound_arguments(context.orig_method, args, kwargs)
            arguments = {name: described(each) for name, each in given.items()}
            within = calls[-1] if calls else None
            entry = {"within": within, "module": at, "method": context.method_name}
            run = {} if calls else {"run": max(len(self.tables.runs) - 1, 0)}
            return self.tables.add_call({**entry, "arguments": arguments, **run})

    def _ended(self, index: int, module: Any, outputs: Any) -> None:
        entry = self.tables.calls[index]
        if "outputs" in entry:
            return
        try:
            entry["outputs"] = described(outputs)
            variables = _own_variables(module)
            if variables:
                entry["variables"] = variables
        except Exception as error:  # noqa: BLE001 - the program goes on, and the record says it
            self.note(error)

    def _module(self, module: Any) -> int | None:
        """Return the number of a module in its table; None where there is no place for it."""
        path = tuple(module.path)
        tables = self._running.modules
        known, above = tables[-1], module.parent
        is_within = _is_module(above) and above.scope is not None
        shares = is_within and tuple(above.path) == path
        parent = known.get(path if shares else path[:-1]) if path or shares else None
        if parent is None and is_within:
            parent = self._module(above)
        name = path[-1] if path and not shares else ""
        entry = {"class": self._class(type(module)), "name": name, "parent": parent}
        fields, sizes = described_fields(module), field_sizes(module)
        at = self.tables.add_module({**entry, "fields": fields, "sizes": sizes})
        if at is not None and known.get(path, at) != at:
            # It shares a scope, or is another model that is called within the first one.
            tables.append({**(known if shares else {}), path: at})
        elif at is not None:
            known[path] = at
        return at

    def _class(self, cls: type) -> int:
        if cls not in self._classes:
            self._classes[cls] = self.tables.add_class(described_class(written_class(cls)))
        return self._classes[cls]


def _own_variables(module: Any) -> Entry:
    """Return the shapes of a module's own variables, by collection and name."""
    found: Entry = {}
    for collection, variables in module.variables.items():
        held = variables.items() if isinstance(variables, Mapping) else ()
        own = {str(name): each for name, each in held if not isinstance(each, Mapping)}
        if own:
            shapes = {name: described(getattr(each, "value", each)) for name, each in own.items()}
            found[str(collection)] = shapes
    return found


# -- in the program of the user -------------------------------------------------------------------


class _Part:
    """Writes what a process records to a file of its own, while it runs and when it ends.

    Args:
        folder: Where the file goes.
        steps: How many outermost calls the program goes on for; 0 for no end.
    """

    def __init__(self, folder: Path, steps: int) -> None:
        self._folder = folder
        self._steps = steps
        self._entered: list[Any] = []
        self.begin()

    def begin(self) -> None:
        """Begin a record: at the start, and in a process that was forked."""
        self.recorder = Recorder(self._after_root)
        self._count = 0
        self._size = (0, 0)
        self._next = 0.0
        self._file = self._folder / f"{os.getpid()}-{time.time_ns()}.json"

    def enter(self, *_: object) -> None:
        """Record the calls of this thread from now on."""
        linen = sys.modules["flax.linen"]
        # The context ends with the thread.
        context = linen.intercept_methods(lambda *call: self.recorder.intercept(*call))
        context.__enter__()
        self._entered.append(context)  # a context that is forgotten ends

    def _after_root(self) -> None:
        self._count += 1
        is_last = self._count >= self._steps > 0
        now = time.monotonic()
        if is_last or now >= self._next:
            self.write()
            # Writing takes a twentieth of the time at most.
            self._next = time.monotonic() + 20 * (time.monotonic() - now)
        if is_last:
            if threading.current_thread() is not threading.main_thread():
                _thread.interrupt_main()
            raise SystemExit(0)

    def write(self) -> None:
        """Write what is new."""
        tables = self.recorder.tables
        size = (len(tables.calls), tables.dropped)
        if size == self._size and not self.recorder.problem:
            return
        text = json.dumps({**tables.as_json(), "problem": self.recorder.problem})
        beside = self._file.with_suffix(".tmp")
        with contextlib.suppress(OSError):  # the folder is gone: nobody waits for it any more
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, self._file)
            self._size = size


class _Waiting:
    """Records from the moment on at which the program imports flax.linen."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find flax.linen as Python does, and have it say when it is there."""
        del path, target
        if name != "flax.linen" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, then = spec.loader, self._then
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            """Import, then begin to record."""
            del loader.exec_module
            execute(module)
            then()

        loader.exec_module = exec_module  # type: ignore[method-assign]  # of this one object
        return spec


def start() -> None:
    """Record the program of this process, where it imports flax.linen."""
    folder = os.environ.get(FOLDER, "")
    sys.path[:] = [each for each in sys.path if not folder or not _is_same(each, folder)]
    _run_next_sitecustomize()
    if not folder or not os.path.isdir(folder):
        return

    def begin() -> None:
        """Record all threads, and what is forked."""
        part = _Part(Path(folder), int(os.environ.get(STEPS) or 0))
        atexit.register(part.write)
        try:
            part.enter()
        except Exception as error:  # noqa: BLE001 - the program goes on, and the record says it
            part.recorder.note(error)
            return
        threading.setprofile(lambda *_: _enter_thread(part))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=part.begin)

    sys.meta_path.insert(0, _Waiting(begin))


def _enter_thread(part: _Part) -> None:
    sys.setprofile(None)
    part.enter()


def _is_same(one: str, other: str) -> bool:
    return os.path.abspath(one or ".") == os.path.abspath(other)


def _run_next_sitecustomize() -> None:
    """Run the file whose place this one takes, if there is one."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize":
    start()
