"""The files of a project: modules are read when a file imports them."""

from __future__ import annotations

from pathlib import Path

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.values import ModuleNames


class Project:
    """The files below the paths that are migrated.

    Nothing outside of these paths is read, and nothing is executed.

    Args:
        roots: The files and folders that are migrated.
    """

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self.roots = tuple(root.resolve() for root in roots)
        self._modules: dict[Path, Analysis | None] = {}
        self._running: set[Path] = set()
        self._files: dict[tuple[str, Path], Path | None] = {}

    def analyse(self, tree: cst.Module, path: Path) -> Analysis:
        """Return the analysis of a module that is being migrated."""
        path = path.resolve()
        analysis = Analysis(tree, self.dotted_name(path), path, self)
        analysis.run()
        return analysis

    def module(self, name: str, importer: Path) -> ModuleNames | None:
        """Return the names of a module that a file imports; None where the project has none."""
        path = self._find(name, importer)
        if path is None or path == importer:
            return None
        if path not in self._modules:
            self._modules[path] = self._read(path)
        return self._modules[path]

    def dotted_name(self, path: Path) -> str:
        """Return the dotted name of the module in a file, by the packages around it."""
        parts = [] if path.stem == "__init__" else [path.stem]
        folder = path.parent
        while (folder / "__init__.py").is_file():
            parts.append(folder.name)
            folder = folder.parent
        return ".".join(reversed(parts))

    def _read(self, path: Path) -> Analysis | None:
        if path in self._running:
            return None
        self._running.add(path)
        try:
            tree = cst.parse_module(path.read_bytes())
            analysis = Analysis(tree, self.dotted_name(path), path, self)
            # Modules that import each other find what has been read so far.
            self._modules[path] = analysis
            analysis.run()
        except (OSError, cst.ParserSyntaxError, UnicodeDecodeError, RecursionError, SyntaxError):
            return None
        finally:
            self._running.discard(path)
        return analysis

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
        for folder in self._folders(importer):
            for candidate in (folder / below / "__init__.py", folder / f"{below}.py"):
                if candidate.is_file() and self._is_inside(candidate):
                    return candidate
        return None

    def _folders(self, importer: Path) -> list[Path]:
        """Return the folders that modules may be in: around the importer, then the roots."""
        folder = importer.parent
        folders = [folder]
        while (folder / "__init__.py").is_file():
            folder = folder.parent
            folders.append(folder)
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
