"""The import statements of a rewritten file: what it needs is added, what it lost is removed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.imports import absolute_module
from typed_nnx_codegen.migrate.analysis.syntax import Transformer, dotted, read_names, text_of
from typed_nnx_codegen.migrate.analysis.values import NNX_PACKAGES
from typed_nnx_codegen.migrate.comments import comments_of, with_left_comments, with_only
from typed_nnx_codegen.migrate.file import File

Line = cst.SimpleStatementLine
# Where NNX takes the place of Linen, its import takes the place of that one.
_LINEN = "flax.linen"


def finish_imports(
    before: cst.Module,
    after: cst.Module,
    file: File,
    needed_elsewhere: frozenset[str] = frozenset(),
) -> cst.Module:
    """Return a tree with the imports that its code needs.

    Names that the code before read and the code after does not are not imported any more; other
    imports stay, whatever they are for.

    Args:
        before: The tree before.
        after: The tree after the rules.
        file: The file.
        needed_elsewhere: The names that other files import from this one.
    """
    if after is before and not file.names.added:
        return after
    read = read_names(after)
    exported = frozenset(file.analysis.exported() or ())
    lost = file.names.before - read - exported - needed_elsewhere
    needed = {name: text for name, text in file.names.added.items() if name in read}
    if needed:
        # Before others go: the place of one of NNX is the place of the new one.
        after = _with_imports(after, needed, file)
    if lost:
        after = _Prune(lost, file).applied(after)
    return after


_BLOCKS = (
    *(cst.Module, cst.IndentedBlock, cst.BaseCompoundStatement, cst.MatchCase),
    *(cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler),
)


class _Prune(Transformer):
    """Removes names from import statements."""

    def __init__(self, lost: frozenset[str], file: File) -> None:
        super().__init__()
        self._lost = lost
        self._file = file
        self._gone: set[cst.CSTNode] = set()

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """Keep comments and empty lines above statements that went: they were above what follows, too."""
        if not self._gone:
            return cst.ensure_type(with_left_comments(updated_node), cst.Module)
        kept = iter(updated_node.body)
        body: list[cst.BaseCompoundStatement | Line] = []
        blank: Sequence[cst.EmptyLine] = ()
        for statement in original_node.body:
            if statement in self._gone:
                blank = blank or statement.leading_lines
                continue
            one = next(kept)
            if blank and not one.leading_lines:
                one = one.with_changes(leading_lines=blank)
            body.append(one)
            blank = ()
        after = with_left_comments(updated_node.with_changes(body=body))
        return cst.ensure_type(after, cst.Module)

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        return cst.ensure_type(with_left_comments(updated_node), cst.IndentedBlock)

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Pass over what is no block of statements."""
        return isinstance(node, _BLOCKS)

    def leave_SimpleStatementLine(
        self, original_node: Line, updated_node: Line
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement] | cst.RemovalSentinel:
        body: list[cst.BaseSmallStatement] = []
        for statement in updated_node.body:
            kept = self._without_lost(statement)
            if kept is not None:
                body.append(kept)
        if len(body) == len(updated_node.body):
            same = all(one is other for one, other in zip(body, updated_node.body, strict=True))
            return updated_node if same else updated_node.with_changes(body=body)
        if body:
            return updated_node.with_changes(body=body)
        # Comments above the statement stay; they may be about what follows.
        texts = [one for line in updated_node.leading_lines for one in comments_of(line)]
        if not texts:
            self._gone.add(original_node)
        return with_only(texts, updated_node)

    def _without_lost(self, statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        if not isinstance(statement, (cst.Import, cst.ImportFrom)):
            return statement
        if isinstance(statement.names, cst.ImportStar) or self._is_future(statement):
            return statement
        kept = [alias for alias in statement.names if _local(alias, statement) not in self._lost]
        if len(kept) == len(statement.names):
            return statement
        if not kept:
            return None
        return statement.with_changes(names=without_last_comma(kept, statement))

    @staticmethod
    def _is_future(statement: cst.Import | cst.ImportFrom) -> bool:
        return (
            isinstance(statement, cst.ImportFrom)
            and statement.module is not None
            and dotted(statement.module) == "__future__"
        )


def without_last_comma(
    names: Sequence[cst.ImportAlias], statement: cst.Import | cst.ImportFrom
) -> list[cst.ImportAlias]:
    """Return names of an import statement, without a comma at the end unless in parentheses."""
    last = names[-1]
    if not (isinstance(statement, cst.ImportFrom) and statement.lpar is not None):
        last = last.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    elif isinstance(statement.names, Sequence):
        last = last.with_changes(comma=statement.names[-1].comma)
    return [*names[:-1], last]


def without_twins(
    names: Sequence[cst.ImportAlias], statement: cst.Import | cst.ImportFrom
) -> list[cst.ImportAlias]:
    """Return names of an import statement, each once."""
    kept: dict[tuple[str, str], cst.ImportAlias] = {}
    for alias in names:
        asname = dotted(alias.asname.name) if alias.asname is not None else ""
        kept.setdefault((dotted(alias.name), asname), alias)
    return without_last_comma(list(kept.values()), statement)


def _local(alias: cst.ImportAlias, statement: cst.Import | cst.ImportFrom) -> str:
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    name = dotted(alias.name)
    return name if isinstance(statement, cst.ImportFrom) else name.partition(".")[0]


# -- additions ----------------------------------------------------------------------------------


def _with_imports(module: cst.Module, texts: Mapping[str, str], file: File) -> cst.Module:
    lines: list[cst.BaseStatement] = []
    for text in _joined(texts.values()):
        line = _statement(text)
        placed = _sorted_in(module, line, frozenset(texts))
        module, lines = (placed, lines) if placed is not None else (module, [*lines, line])
    place = _place(module, frozenset(texts), file)
    body = [*module.body[:place], *lines, *module.body[place:]]
    return module.with_changes(body=body)


# -- sorted imports -----------------------------------------------------------------------------


def _sorted_in(module: cst.Module, line: Line, names: frozenset[str]) -> cst.Module | None:
    """Return a module with an import where it belongs in a sorted section; None if none is there.

    Args:
        module: The module.
        line: The import.
        names: The names that are imported: sections behind code that reads them do not count.
    """
    sections = list(_sections(module, names))
    is_standard = _is_standard(line)
    for section in sections:
        members = [one for one in module.body[section.start : section.stop] if _imported(one)]
        modules = [_imported(one) for one in members]
        if is_standard:
            belongs = all(isinstance(one, Line) and _is_standard(one) for one in members)
        else:
            belongs = any(one.partition(".")[0] in ("flax", "jax", "typed_nnx") for one in modules)
        if not belongs:
            continue
        key = next((each for each in _KEYS if _is_sorted(members, each)), None)
        return None if key is None else _inserted(module, line, section, key)
    return None


def _sections(module: cst.Module, names: frozenset[str]) -> Iterator[range]:
    """Yield the places of imports at the top that follow each other without an empty line.

    Those of `__future__`, before which Python allows no other, are in none.
    """
    start: int | None = None
    for index, one in enumerate(module.body):
        is_import = isinstance(one, Line) and _imported(one) not in ("", "__future__")
        has_gap = any(each.comment is None for each in getattr(one, "leading_lines", ()))
        if start is not None and (not is_import or has_gap):
            yield range(start, index)
            start = None
        if is_import and start is None:
            start = index
        if not is_import and (not isinstance(one, Line) or names & read_names(one)):
            return
    if start is not None:
        yield range(start, len(module.body))


def _imported(node: cst.CSTNode) -> str:
    """Return the module that a line imports, or imports from; empty where it does something else."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Import(names=[alias])]):
            return dotted(alias.name)
        case cst.SimpleStatementLine(
            body=[cst.ImportFrom(relative=[], module=(cst.Name() | cst.Attribute()) as name)]
        ):
            return dotted(name)
        case cst.SimpleStatementLine(body=[cst.ImportFrom()]):
            return "."
    return ""


def _is_standard(line: Line) -> bool:
    return _imported(line).partition(".")[0] in sys.stdlib_module_names


def _is_from(node: cst.CSTNode) -> bool:
    return isinstance(node, Line) and isinstance(node.body[0], cst.ImportFrom)


_Key = Callable[[cst.CSTNode], tuple[bool | str, ...]]
# The order of ruff and isort, and the one of Google's style.
_KEYS: Sequence[_Key] = (
    lambda node: (_is_from(node), _imported(node).lower()),
    lambda node: (_imported(node).lower(), _is_from(node)),
)


def _is_sorted(members: Sequence[cst.CSTNode], key: _Key) -> bool:
    keys = list(map(key, members))
    return keys == sorted(keys)


def _inserted(module: cst.Module, line: Line, section: range, key: _Key) -> cst.Module:
    body = list(module.body)
    place = next((one for one in section if key(body[one]) > key(line)), section.stop)
    if place == section.start:
        first = body[place]
        leading: Sequence[cst.EmptyLine] = getattr(first, "leading_lines", ())
        blank = [one for one in leading if one.comment is None]
        line = line.with_changes(leading_lines=blank)
        body[place] = first.with_changes(leading_lines=leading[len(blank) :])
    return module.with_changes(body=[*body[:place], line, *body[place:]])


def _joined(texts: Iterable[str]) -> list[str]:
    """Return import statements, one for each module that names are imported from."""
    found: dict[str, list[str]] = {}
    for text in texts:
        module, _, name = text.partition(" import ")
        found.setdefault(module, []).extend([name] if name else [])
    return [
        f"{module} import {', '.join(sorted(names))}" if names else module
        for module, names in found.items()
    ]


def _statement(text: str) -> Line:
    parsed = cst.parse_statement(text)
    assert isinstance(parsed, cst.SimpleStatementLine)
    return parsed


def _place(module: cst.Module, names: frozenset[str], file: File) -> int:
    """Return where new imports go: behind the first of NNX, else behind the last, else on top.

    Imports behind the first statement that reads one of the names do not count.
    """
    after_last = 0
    for index, statement in enumerate(module.body):
        if not isinstance(statement, cst.SimpleStatementLine):
            if names & read_names(statement):
                break
            continue
        for small in statement.body:
            if isinstance(small, (cst.Import, cst.ImportFrom)):
                if _is_of_nnx(small, file):
                    return index + 1
                after_last = index + 1
            elif index == 0 and isinstance(small, cst.Expr) and text_of(small.value) is not None:
                after_last = 1
            elif names & read_names(small):
                return after_last
    return after_last


def _is_of_nnx(statement: cst.Import | cst.ImportFrom, file: File) -> bool:
    if isinstance(statement, cst.ImportFrom):
        module = absolute_module(statement, file.analysis.module, file.analysis.is_package)
        names = () if isinstance(statement.names, cst.ImportStar) else statement.names
        full = [module, *(f"{module}.{dotted(alias.name)}" for alias in names)]
    else:
        full = [dotted(alias.name) for alias in statement.names]
    return any(
        name == package or name.startswith(package + ".")
        for name in full
        for package in (*NNX_PACKAGES, _LINEN)
    )
