"""Links to files of the repository that are no pages of the site: these files become pages."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Final

from docs._site.markdown_parts import rewrite_links
from docs._site.public_names import REPOSITORY

_LANGUAGES: Final = {
    ".py": "python",
    ".pyi": "python",
    ".json": "json",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    "Makefile": "make",
}
_SHOWN_AS_IS: Final = (".svg", ".png")
FOLDER: Final = "source"


class Linked:
    """Rewrites links, and remembers which files outside of the pages they lead to."""

    def __init__(self, pages: dict[Path, str]) -> None:
        """Take the pages of the site: their paths in it, by their files."""
        self._pages = pages
        self._sources: dict[Path, str] = {}

    def rewritten(self, text: str, file: Path, name: str) -> str:
        """Return a page whose links work in the site.

        Args:
            text: Its text.
            file: Where it stands in the repository; relative links begin there.
            name: Its path in the site.
        """
        return rewrite_links(text, lambda target: self._target(target, file, name))

    def _target(self, target: str, file: Path, name: str) -> str:
        address, mark, anchor = target.partition("#")
        if not address or re.match(r"[a-z]+:", address):
            return target
        path = Path(os.path.normpath(file.parent / address))
        if not path.exists() or not path.is_relative_to(REPOSITORY):
            return target  # the strict build reports it
        place = self._pages.get(path) or self._place_of(path)
        relative = os.path.relpath(place, PurePosixPath(name).parent)
        return f"{relative}{mark}{anchor}"

    def _place_of(self, path: Path) -> str:
        if path.suffix in _SHOWN_AS_IS:
            return path.relative_to(REPOSITORY / "docs").as_posix()
        inside = path.relative_to(REPOSITORY).as_posix()
        self._sources[path] = (
            f"{FOLDER}/{inside}/index.md" if path.is_dir() else f"{FOLDER}/{inside}.md"
        )
        return self._sources[path]

    def source_pages(self) -> dict[str, str]:
        """Return the pages of the files and folders that were linked to."""
        done: dict[str, str] = {}
        while waiting := {path: name for path, name in self._sources.items() if name not in done}:
            for path, name in waiting.items():
                done[name] = self._folder(path, name) if path.is_dir() else _source(path)
        return done

    def _folder(self, path: Path, name: str) -> str:
        files = [each for each in sorted(path.iterdir()) if each.suffix in (*_LANGUAGES, ".md")]
        links = [
            f"- [`{file.name}`]({self._target(file.name, path / 'x', name)})" for file in files
        ]
        return "\n".join([f"# {path.relative_to(REPOSITORY).as_posix()}", "", *links, ""])


def _source(path: Path) -> str:
    language = _LANGUAGES.get(path.suffix) or _LANGUAGES.get(path.name) or "text"
    title = path.relative_to(REPOSITORY).as_posix()
    return f"# {title}\n\n````{language}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"
