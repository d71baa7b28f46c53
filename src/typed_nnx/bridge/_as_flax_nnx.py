"""`install_as_flax_nnx`: programs that import ``flax.nnx`` get typed_nnx, and the rest of flax stays."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
import threading
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, Self

from typed_nnx._core.metadata import use_eager_sharding
from typed_nnx._core.settings import Setting
from typed_nnx._graph.mode import set_graph_mode, set_graph_updates
from typed_nnx.errors import FlaxNnxInUseError, TraceLevelError

_THEIRS = "flax.nnx"
_OURS = "typed_nnx"
# It is `from flax.nnx import *`, so it has to be imported again.
_COPIES = ("flax.experimental.nnx",)
# Modules of flax.nnx without a part in its graph engine: they are loaded from flax's own files.
_STANDALONE = ("deprecations", "ids", "proxy_caller", "reprlib", "tracers")

_lock = threading.RLock()


class FlaxNnxAlias(MetaPathFinder, Loader):
    """Gives the modules of typed_nnx under the names of those of flax.nnx.

    As a context manager it undoes on leaving what its `install_as_flax_nnx` did.
    """

    def __init__(self) -> None:
        self._modules_before: frozenset[str] = frozenset(sys.modules)
        self._flax_modules: dict[str, types.ModuleType] = {}
        self._trace_error: type[Exception] | None = None

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
        /,
    ) -> ModuleSpec | None:
        """Return the spec of a module of flax.nnx that typed_nnx has too."""
        if not _is_below(fullname, _THEIRS):
            return None
        if fullname.removeprefix(f"{_THEIRS}.") in _STANDALONE:
            folders = [f"{folder}/nnx" for folder in sys.modules["flax"].__path__]
            return PathFinder.find_spec(fullname, folders)
        if importlib.util.find_spec(_our_name(fullname)) is None:
            return None
        return ModuleSpec(fullname, self)

    def exec_module(self, module: types.ModuleType) -> None:
        """Put our module in place of the new one; `importlib` takes what stands there."""
        sys.modules[module.__name__] = importlib.import_module(_our_name(module.__name__))
        if module.__name__ == _THEIRS:
            # `from flax.nnx import reprlib` asks our package, which knows itself by another name.
            for name in _STANDALONE:
                importlib.import_module(f"{_THEIRS}.{name}")
            _follow(sys.modules["flax"].config)
            # So that `except flax.errors.TraceContextError` goes on catching what nnx raises.
            errors: Any = importlib.import_module("flax.errors")
            self._trace_error = errors.TraceContextError
            errors.TraceContextError = TraceLevelError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()

    def undo(self) -> None:
        """Give ``flax.nnx`` back to flax.

        Modules that were imported since the installation and hold something of typed_nnx are
        forgotten, so that the next import runs them with flax. Nothing happens where
        `install_as_flax_nnx` had been called before: then the first call decides.
        """
        with _lock:
            if self not in sys.meta_path:
                return
            sys.meta_path.remove(self)
            stale = _users(set(sys.modules) - self._modules_before)
            _forget([*stale, *_named(sys.modules, _THEIRS), *_named(sys.modules, *_COPIES)])
            sys.modules.update(self._flax_modules)
            for name, module in self._flax_modules.items():
                parent, _, attribute = name.rpartition(".")
                setattr(sys.modules[parent], attribute, module)
            if "flax" in sys.modules:  # its flags are followed no more
                vars(sys.modules["flax"].config).pop("update", None)
            for setting in _FLAGS.values():
                setting.set_default(True)
            if self._trace_error is not None:
                errors: Any = sys.modules["flax.errors"]
                errors.TraceContextError = self._trace_error


def install_as_flax_nnx() -> FlaxNnxAlias:
    """Let every import of ``flax.nnx`` and its modules give typed_nnx, from now on.

    Code that was written for flax then runs on this runtime unchanged, beside Linen and all else of
    the same flax. Call it before the imports of such code; `typed-nnx run` does that for a whole
    program. A second call changes nothing.

    Returns:
        A context manager. Leaving it undoes the installation, for tests.

    Raises:
        FlaxNnxInUseError: Modules, classes or objects use flax.nnx already; they would not mix.

    Example:
        >>> import typed_nnx as nnx
        >>> with nnx.install_as_flax_nnx():
        ...     from flax.nnx import Linear
        >>> Linear is nnx.Linear
        True
    """
    with _lock:
        alias = FlaxNnxAlias()
        if any(isinstance(finder, FlaxNnxAlias) for finder in sys.meta_path):
            return alias
        found = {name: sys.modules[name] for name in _named(sys.modules, _THEIRS, *_COPIES)}
        if _THEIRS in found:
            uses = list(_uses(found[_THEIRS]))
            if uses:
                raise FlaxNnxInUseError(uses)
        alias._flax_modules = found
        _forget(found)
        sys.meta_path.insert(0, alias)
        if _THEIRS in found:
            importlib.import_module(_THEIRS)  # for those who hold `flax` alone
        return alias


# Flags of `flax.config`, which programs set in place of the settings of nnx.
_FLAGS: dict[str, type[Setting]] = {
    "flax_always_shard_variable": use_eager_sharding,
    "nnx_graph_mode": set_graph_mode,
    "nnx_graph_updates": set_graph_updates,
}


def _follow(config: Any) -> None:
    """Make the flags of `flax.config`, now and after each update, the defaults of our settings."""

    def update(name_or_holder: Any, value: Any, /) -> None:
        type(config).update(config, name_or_holder, value)
        for flag, setting in _FLAGS.items():
            setting.set_default(getattr(config, flag))

    config.update = update
    update("flax_always_shard_variable", config.flax_always_shard_variable)


def _is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _named(names: Iterable[str], *packages: str) -> list[str]:
    return [name for name in names if any(_is_below(name, each) for each in packages)]


def _our_name(name: str) -> str:
    return _OURS + name.removeprefix(_THEIRS)


def _forget(names: Iterable[str]) -> None:
    """Take modules out of `sys.modules` and out of the packages that hold them as attributes."""
    for name in sorted(names, reverse=True):
        module = sys.modules.pop(name)
        above, _, attribute = name.rpartition(".")
        package = sys.modules.get(above)
        if package is None or vars(package).get(attribute) is not module:
            continue
        # Ours keeps its `nn`, which is here under the name `flax.nnx.nn`.
        if name == module.__name__ or above == package.__name__:
            delattr(package, attribute)


_NAMED = (type, types.FunctionType)


def _origins(value: object) -> Iterator[str]:
    """Yield the modules that a global comes from: by itself or by its class."""
    if isinstance(value, types.ModuleType):
        yield value.__name__
    else:
        for each in (value, type(value)):
            module = getattr(each, "__module__", None) if isinstance(each, _NAMED) else None
            if isinstance(module, str):
                yield module


def _users(modules: Iterable[str]) -> set[str]:
    """Return which of these modules hold something of typed_nnx, or of such a module.

    Modules of typed_nnx and flax do not count: flax holds nnx as an attribute and uses it nowhere.
    """
    others = {name for name in modules if not _named([name], _OURS, "flax")}
    holdings = {name: set(_holdings(name)) for name in others}
    found: set[str] = set()
    while True:
        more = {name for name in others - found if _named(holdings[name], _OURS, *found)}
        if not more:
            return found
        found |= more


def _holdings(name: str) -> Iterator[str]:
    """Yield the modules that the globals of a module come from."""
    module = sys.modules.get(name)
    if isinstance(module, types.ModuleType):
        for value in list(vars(module).values()):
            yield from _origins(value)


def _uses(flax_nnx: Any) -> Iterator[str]:
    """Yield who uses flax.nnx, a phrase for each."""
    for name in list(sys.modules):
        if not _is_below(name, "flax") and _named(_holdings(name), _THEIRS):
            yield f"the module {name} imports it"
    kinds = (flax_nnx.Pytree, flax_nnx.Variable)
    for kind in _subclasses(kinds):
        if not _is_below(kind.__module__, _THEIRS):
            yield f"{kind.__module__}.{kind.__qualname__} is a subclass of one of its classes"
    alive = (type(each) for each in gc.get_objects())
    counts = Counter(kind.__qualname__ for kind in alive if issubclass(kind, kinds))
    for name, count in counts.most_common():
        yield f"{count} of its objects are alive: {name}"


def _subclasses(kinds: Iterable[type]) -> Iterator[type]:
    for kind in kinds:
        yield kind
        yield from _subclasses(type.__subclasses__(kind))
