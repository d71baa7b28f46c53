"""A large synthetic project: modules of the standard library, and a few with older NNX code."""

from __future__ import annotations

import itertools
import re
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typed_nnx_codegen.migrate import rules as _rules  # registers all
from typed_nnx_codegen.migrate.registry import all_rules
from typed_nnx_codegen.migrate.scanning import mentions_nnx

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPOSITORY: Final = Path(__file__).parents[2]
# One file in so many is affected: 2 %.
EVERY: Final = 50
_FILES_OF_A_FOLDER: Final = 40
_RULES_OF_A_FILE: Final = 5
DENSE: Final = "the examples of all rules"
_OURS: Final = re.compile(r"^import typed_nnx as nnx$", re.MULTILINE)
del _rules


def affected_texts() -> dict[str, str]:
    """Return modules with older NNX code by name: our examples, with examples of rules at the end."""
    befores = itertools.cycle(rule.before for rule in all_rules())
    texts = {}
    for path in sorted((REPOSITORY / "examples").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if _OURS.search(text):
            text = _OURS.sub("from flax import nnx", text)
            older = itertools.islice(befores, _RULES_OF_A_FILE)
            name = path.relative_to(REPOSITORY / "examples").with_suffix("").as_posix()
            texts[name.replace("/", "_")] = "\n\n".join((text, *older))
    return texts


def dense_text() -> str:
    """Return a module of nothing but older NNX code: the examples of all rules."""
    return "\n\n".join(rule.before for rule in all_rules())


def other_texts() -> Iterator[str]:
    """Yield the modules of the standard library that have nothing of NNX."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        data = path.read_bytes()
        if "site-packages" not in path.parts and not mentions_nnx(data):
            try:
                yield data.decode("utf-8")
            except UnicodeDecodeError:
                continue


def write_project(folder: Path, lines: int) -> tuple[list[Path], int]:
    """Write a project of at least so many lines; return its files and how many are affected."""
    affected = itertools.cycle(affected_texts().items())
    others = itertools.cycle(list(other_texts()))
    files: list[Path] = []
    written = count = 0
    while written < lines:
        package = folder / f"package_{len(files) // _FILES_OF_A_FOLDER}"
        if not package.exists():
            package.mkdir(parents=True)
            (package / "__init__.py").touch()
        if len(files) % EVERY == EVERY // 2:
            name, text = next(affected)
            count += 1
        else:
            name, text = "module", next(others)
        path = package / f"{name}_{len(files)}.py"
        path.write_bytes(text.encode())
        files.append(path)
        written += text.count("\n")
    return files, count


def longest(texts: dict[str, str], count: int) -> Sequence[tuple[str, str]]:
    """Return the longest of texts, with their names."""
    return sorted(texts.items(), key=lambda item: -len(item[1]))[:count]
