"""The files of a project: modules are read when a file imports them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import ModuleNames
from typed_nnx_codegen.migrate.scanning import mentions_nnx
from typed_nnx_codegen.migrate.sources.encoding import decode_module
from typed_nnx_codegen.migrate.sources.outcome import SourceError
from typed_nnx_codegen.migrate.syntax import TooDeepError, deeper, error_in

_IMPORT: Final = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+(?P<name>[.\w]+)"
    rb"(?:[ \t]+import[ \t]+(?:\((?P<lines>[^)]*)\)|(?P<names>[\w, \t]+)))?",
    re.MULTILINE,
)
_NAME: Final = re.compile(r"\w+")
_USES_JAX: Final = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+(?:flax|haiku|jax|typed_nnx)\b", re.MULTILINE
)
_USES_OTHERS: Final = re.compile(
    rb"^(?:from|import)[ \t]+(?:torch|tensorflow|keras)\b", re.MULTILINE
)
# How far a class may be from the module that mentions NNX, in imports.
_MOST_STEPS: Final = 2


class Project:
    """The files below the paths that are migrated.

    Nothing outside of these paths is read, and nothing is executed.

    Args:
        roots: The files and folders that are migrated.
        near: The files whose Linen modules are migrated; None for those of NNX. Only modules are
            read then that import jax, and those that such import; the latter in outline.
    """

    def __init__(self, roots: tuple[Path, ...], near: Iterable[Path] | None = None) -> None:
        self._is_near = near is not None
        self._whole = {path.resolve() for path in near or ()}
        self._trees: dict[Path, cst.Module] = {}
        self._texts: dict[Path, str] = {}
        # The modules that import each module.
        self._importers: dict[Path, set[Path]] = {}
        self._near: dict[tuple[re.Pattern[bytes], Path], bool] = {}
        self._leading: dict[Path, bool] = {}
        self.roots = tuple(root.resolve() for root in roots)
        self._modules: dict[Path, Analysis | None] = {}
        self._running: list[Path] = []
        # Modules that saw one that was not complete yet, and how far up the first such one runs.
        self._early: dict[Path, Analysis] = {}
        self._first: int | None = None
        self._relevant: dict[tuple[Path, int], bool] = {}
        self._files: dict[tuple[str, Path], Path | None] = {}
        self._outer: dict[Path, list[Path]] = {}
        # The folders that imports of files in a folder may lead to, and what is in each folder.
        self._searched: dict[Path, list[Path]] = {}
        self._names: dict[Path, frozenset[str]] = {}

    @property
    def read(self) -> list[Path]:
        """The files with jax that were read so far."""
        known = (path for path, one in self._modules.items() if one is not None)
        return [path for path in known if self._matches(_USES_JAX, path)]

    def change(self, trees: Mapping[Path, cst.Module]) -> None:
        """Read files as if they had other code; what imports them is analysed again."""
        changed = {path.resolve(): tree for path, tree in trees.items()}
        self._trees |= changed
        waiting, stale = list(changed), set(changed)
        while waiting:
            importers = self._importers.get(waiting.pop(), set()) - stale
            stale |= importers
            waiting += importers
        for path in stale:
            self._modules.pop(path, None)

    def analyse(self, tree: cst.Module, path: Path) -> Analysis:
        """Return the analysis of a module that is being migrated."""
        path = path.resolve()
        analysis = Analysis(tree, self.dotted_name(path), path, self)
        analysis.run()
        return analysis

    def analysis_of(self, path: Path) -> Analysis | None:
        """Return the analysis of a file of the project, the same that imports lead to.

        None where it cannot be read or has nothing of NNX or flax.
        """
        path = path.resolve()
        if path not in self._modules:
            self._modules[path] = self._read(path)
        return self._modules[path]

    def text(self, path: Path) -> str:
        """Return the text of a file that was analysed."""
        return self._texts[path.resolve()]

    def has(self, name: str, importer: Path) -> bool:
        """Whether there may be such a module; it is not read."""
        path = self._find(name, importer)
        return path is not None and path != importer

    def module(self, name: str, importer: Path) -> ModuleNames | None:
        """Return the names of a module that a file imports; None where the project has none."""
        path = self._find(name, importer)
        if path is None or path == importer:
            return None
        self._importers.setdefault(path, set()).add(importer)
        if path not in self._modules:
            if self._is_near and not self._reaches(importer, path):
                return None
            self._modules[path] = self._read(path)
        elif path in self._running:
            self._note_cycle(self._running.index(path))
        return self._modules[path]

    def dotted_name(self, path: Path) -> str:
        """Return the dotted name of the module in a file, by the packages around it.

        A folder of a package may have no `__init__`.
        """
        *packages, _ = self._around(path.parent)
        parts = [] if path.stem == "__init__" else [path.stem]
        return ".".join([*(one.name for one in reversed(packages)), *parts])

    def _around(self, folder: Path) -> list[Path]:
        """Return a folder and those around it, up to the one that its outermost package is in."""
        if folder not in self._outer:
            around = [folder, *folder.parents]
            outermost = -1
            for number, one in enumerate(around):
                if (one / "__init__.py").is_file():
                    outermost = number
                elif not self._is_inside(one):
                    break
            self._outer[folder] = around[: outermost + 2]
        return self._outer[folder]

    def _read(self, path: Path) -> Analysis | None:
        if path in self._running or not (self._is_near or self._may_define(path, _MOST_STEPS)):
            return None
        self._running.append(path)
        try:
            with deeper():
                tree = self._trees.get(path)
                if tree is None:
                    self._texts[path] = decode_module(path.read_bytes()).text
                    tree = self._trees[path] = _tree_of(self._texts[path])
                is_whole = not self._is_near or path in self._whole
                is_outline = not is_whole and not self._matches(_USES_JAX, path)
                name = self.dotted_name(path)
                analysis = Analysis(tree, name, path, self, is_outline=is_outline)
                # Modules that import each other find what has been read so far.
                self._modules[path] = analysis
                analysis.run()
                self._finish_cycle()
        except (OSError, cst.ParserSyntaxError, RecursionError, SourceError, TooDeepError):
            self._early.pop(path, None)
            return None
        finally:
            self._running.remove(path)
        return analysis

    def _note_cycle(self, position: int) -> None:
        """Note that a module imports one that runs: what was read since saw a part of it only."""
        self._first = position if self._first is None else min(self._first, position)
        for path in self._running[position:]:
            found = self._modules.get(path)
            if found is not None:
                self._early[path] = found

    def _finish_cycle(self) -> None:
        """Go again through modules that import each other, now that each of them is there."""
        if self._first is None or self._first < len(self._running) - 1:
            return
        self._first = None
        early, self._early = self._early, {}
        for analysis in reversed(early.values()):
            analysis.run()

    def _reaches(self, importer: Path, path: Path) -> bool:
        """Whether a module is read that another one imports.

        What code with jax imports is near, and so are the modules of the packages that it imports
        from; other packages are only gone through for modules with jax. Code of other frameworks
        says nothing of Linen modules.
        """
        if self._leads_to_jax(path):
            return True
        if path.stem != "__init__" and self._matches(_USES_OTHERS, path):
            return False
        is_below = importer.stem == "__init__" and path.parent == importer.parent
        return self._matches(_USES_JAX, importer) or (is_below and path.stem != "__init__")

    def _leads_to_jax(self, path: Path) -> bool:
        """Whether a module imports jax, or is a package with modules that do."""
        if path not in self._leading:
            self._leading[path] = self._matches(_USES_JAX, path)  # packages that import each other
            if path.stem == "__init__" and not self._leading[path]:
                below = (
                    found
                    for found in self._imported(path, path.read_bytes())
                    if path.parent in found.parents
                )
                self._leading[path] = any(self._leads_to_jax(found) for found in below)
        return self._leading[path]

    def _matches(self, pattern: re.Pattern[bytes], path: Path) -> bool:
        key = (pattern, path)
        if key not in self._near:
            try:
                self._near[key] = pattern.search(path.read_bytes()) is not None
            except OSError:
                self._near[key] = False
        return self._near[key]

    def _may_define(self, path: Path, steps: int) -> bool:
        """Whether a module may define what NNX code needs: it mentions NNX, or imports what does.

        Others need not be analysed, and most of what code imports is of that kind.
        """
        key = (path, steps)
        if key not in self._relevant:
            self._relevant[key] = False  # modules that import each other
            try:
                data = path.read_bytes()
            except OSError:
                return False
            self._relevant[key] = mentions_nnx(data) or (
                steps > 0
                and any(self._may_define(found, steps - 1) for found in self._imported(path, data))
            )
        return self._relevant[key]

    def _imported(self, path: Path, data: bytes) -> Iterator[Path]:
        """Yield the modules of the project that import statements of a file name, roughly."""
        here = self.dotted_name(path).split(".")
        package = here if path.stem == "__init__" else here[:-1]
        for match in _IMPORT.finditer(data):
            name = match["name"].decode("ascii", "replace")
            dots = len(name) - len(name.lstrip("."))
            below = name[dots:]
            if dots:
                above = package[: len(package) - dots + 1]
                below = ".".join([*above, *([below] if below else [])])
            names = (match["lines"] or match["names"] or b"").decode("ascii", "replace")
            # What a package imports from may be a module of it.
            for module in (below, *(f"{below}.{one}" for one in _NAME.findall(names))):
                found = self._find(module, path)
                if found is not None and found != path:
                    yield found

    # -- where modules are --------------------------------------------------------------------

    def _find(self, name: str, importer: Path) -> Path | None:
        if not name:
            return None
        key = (name, importer.parent)
        if key not in self._files:
            self._files[key] = self._search(name, importer)
        return self._files[key]

    def _search(self, name: str, importer: Path) -> Path | None:
        below = name.replace(".", "/")
        if importer.parent not in self._searched:
            self._searched[importer.parent] = self._folders(importer)
        for folder in self._searched[importer.parent]:
            if name.partition(".")[0] not in self._names_in(folder):
                continue
            for candidate in (folder / below / "__init__.py", folder / f"{below}.py"):
                if candidate.is_file() and self._is_inside(candidate):
                    return candidate
        return None

    def _names_in(self, folder: Path) -> frozenset[str]:
        """Return the names of the files and folders in a folder, without what follows a dot."""
        if folder not in self._names:
            self._names[folder] = frozenset()
            with suppress(OSError):
                found = os.listdir(folder)
                self._names[folder] = frozenset(one.partition(".")[0] for one in found)
        return self._names[folder]

    def _folders(self, importer: Path) -> list[Path]:
        """Return the folders that modules may be in: around the importer, then the roots."""
        folders = [*self._around(importer.parent)]
        for root in self.roots:
            top = root if root.is_dir() else root.parent
            folders += [top, top / "src"]
            while (top / "__init__.py").is_file():
                top = top.parent
                folders.append(top)
        return list(dict.fromkeys(folders))

    def _is_inside(self, path: Path) -> bool:
        if path.is_symlink():
            return False
        return any(root == path or root in path.parents for root in self.roots)


def _tree_of(text: str) -> cst.Module:
    """Return the module that a text is."""
    error_in(text)  # libcst itself would end the process where code is nested too deeply
    return cst.parse_module(text)
