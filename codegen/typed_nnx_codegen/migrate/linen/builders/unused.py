"""Drops functions that are methods of all modules that called them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.linen.builders.edits import Edits
from typed_nnx_codegen.migrate.linen.builders.finding import Builder, references_in


def drop_unused(
    candidates: set[cst.CSTNode],
    builders: Mapping[cst.CSTNode, Builder],
    analyses: Mapping[Path, Analysis],
    edits: Mapping[Path, Edits],
) -> None:
    """Drop the functions that nothing else uses, and the imports of them.

    Args:
        candidates: The functions that may go.
        builders: The functions that build submodules.
        analyses: The files.
        edits: What changes in each file.
    """
    used: dict[cst.CSTNode, set[cst.CSTNode | None]] = {node: set() for node in builders}
    imported: dict[cst.CSTNode, list[tuple[Path, str]]] = {node: [] for node in builders}
    for path, analysis in analyses.items():
        _note_uses(analysis, builders, edits[path], used)
        exported = set(analysis.exported() or ())
        for name, value in analysis.scope.seen.items():
            target: object = getattr(value, "node", None)
            if not isinstance(target, cst.CSTNode) or target not in builders:
                continue
            is_import = name in analysis.scope.imports
            if name in exported or (is_import and analysis.is_package):
                used[target].add(None)
            elif is_import:
                imported[target].append((path, name))
    paths = {id(one): path for path, one in analyses.items()}
    for node in candidates:
        path = paths[id(builders[node].analysis)]
        if _is_mentioned(builders[node].name, path, analyses):
            used[node].add(None)
    dropped = set(candidates)
    while True:
        kept = {node for node in dropped if used[node] - dropped - {node}}
        if not kept:
            break
        dropped -= kept
    for node in dropped:
        builder = builders[node]
        edits[paths[id(builder.analysis)]].dropped.add(builder.statement)
        for path, name in imported[node]:
            edits[path].unimported.add(name)


def _is_mentioned(name: str, home: Path, analyses: Mapping[Path, Analysis]) -> bool:
    """Whether a file of the same package that is not migrated has the name of a function.

    An `__init__.py` that passes it on imports nothing of flax, and is not read otherwise.
    """
    if not (home.parent / "__init__.py").is_file():
        return False
    top = home.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    word = re.compile(rf"\b{re.escape(name)}\b".encode())
    known = {path.resolve() for path in analyses}
    others = (path for path in top.rglob("*.py") if path.resolve() not in known)
    return any(word.search(path.read_bytes()) for path in others if path.is_file())


def _note_uses(
    analysis: Analysis,
    builders: Mapping[cst.CSTNode, Builder],
    edits: Edits,
    used: dict[cst.CSTNode, set[cst.CSTNode | None]],
) -> None:
    """Note where a file uses functions: in another function, or elsewhere."""
    written = edits.calls_written()
    homes = {one.statement: one.node for one in builders.values() if one.analysis is analysis}
    for statement in analysis.tree.body:
        around = homes.get(statement)
        for node, target in references_in(statement, analysis, dict(builders)):
            if node not in edits.names and node not in written:
                used[target].add(around)
