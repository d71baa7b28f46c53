"""The files of a project with the code of Haiku in them as that of Linen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, free_name, names_of
from typed_nnx_codegen.migrate.findings import DECIDE, Finding
from typed_nnx_codegen.migrate.haiku.expressions import HAIKU, Spelling, Untranslated
from typed_nnx_codegen.migrate.haiku.layers import NETS, PACKAGE
from typed_nnx_codegen.migrate.haiku.modules import (
    ClassTranslation,
    HaikuClass,
    HaikuClasses,
    read_attributes,
    statement_of,
)
from typed_nnx_codegen.migrate.haiku.names import HaikuNaming, spelled
from typed_nnx_codegen.migrate.haiku.transforms import (
    TWO_LINES,
    FunctionsOfFile,
    Outside,
    class_of,
    functions_for,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER, CLASS, COUNTERPART, STAYS
from typed_nnx_codegen.migrate.linen.migration import (
    NO_FAILURES,
    Failures,
    FrontEnd,
    LinenResult,
    migrate_linen,
)
from typed_nnx_codegen.migrate.linen.trace.record import Trace
from typed_nnx_codegen.migrate.markers import with_marks
from typed_nnx_codegen.migrate.options import Options

Definition = TypeVar("Definition", cst.ClassDef, cst.FunctionDef)
TITLE: Final = "A module of Haiku is an `nnx.Module`"
_LONGEST: Final = 100


_NOT_CALLED: Final = (
    "this function builds modules, and no module that was migrated calls it: write a module,"
    " or a method of one, in its place"
)


@dataclass
class Translation:
    """The translation of the modules of a project.

    Attributes:
        kept: Why modules stay as they are, by file and name.
        names: What objects of modules are called, by file and the name of the class.
        problems: What is not understood in modules, by file and name.
        findings: What is left to a person, by file.
        helpers: What stands for `hk.transform` of modules, by file and the name of the class.
        texts: The code of the files that change.
        spelled_as: The names of what only translated code imports, by file.
    """

    kept: dict[tuple[Path, str], str] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: dict[tuple[Path, str], list[Untranslated]] = field(default_factory=dict)
    findings: dict[Path, list[Finding]] = field(default_factory=dict)
    helpers: dict[tuple[str, str], str] = field(default_factory=dict)
    spelled_as: dict[Path, tuple[str, str]] = field(default_factory=dict)
    texts: dict[Path, str] = field(default_factory=dict)

    def front(self) -> FrontEnd:
        """Return what the migration of Linen asks for."""
        naming = partial(HaikuNaming, names=self.names, helpers=self.helpers)
        return FrontEnd(self.translate, naming, spelled, has_callers=False)

    def translate(self, analyses: Mapping[Path, Analysis]) -> dict[Path, cst.Module]:
        """Return the files that change."""
        classes = HaikuClasses(analyses.values())
        read = read_attributes([*analyses.values()])
        every = {path: classes.all_in(one) for path, one in analyses.items()}
        files = {path: _File(one, classes, self) for path, one in analyses.items()}
        for path, found in every.items():
            for cls in found:
                elsewhere = frozenset(name for name, where in read.items() if where != {cls.node})
                files[path].translate(cls, elsewhere)
        self._spread(classes, every)
        trees: dict[Path, cst.Module] = {}
        for path, found in every.items():
            trees[path] = files[path].tree([one for one in found if self._stays(path, one)])
            self.findings[path.resolve()] = files[path].findings(found)
        changed = {path: one for path, one in trees.items() if one is not analyses[path].tree}
        self.texts = {path.resolve(): one.code for path, one in changed.items()}
        return changed

    def _stays(self, path: Path, cls: HaikuClass) -> bool:
        return (path.resolve(), cls.node.name.value) in self.kept

    def remains(self, result: LinenResult) -> Iterator[tuple[Path, str]]:
        """Yield what is half on its way: functions that nobody adopts, classes without a marker."""
        names = self.spelled_as.get(result.path.resolve(), ("", ""))
        marked = {one.cls.name for one in result.plans if one.marks}
        for statement in ast.parse(result.after).body:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            name = getattr(statement, "name", "")
            if name in marked or not any(node.id in names for node in nodes):
                continue
            key = result.path.resolve(), name
            if name and key not in self.kept:
                yield key

    def completed(self, result: LinenResult) -> LinenResult:
        """Return the result of a file with what the translation left to a person."""
        found = [
            replace(one, message=TITLE) if one.code == CLASS else one for one in result.findings
        ]
        found += self.findings.get(result.path.resolve(), [])
        after = result.after
        if not result.plans:  # markers may stand in a file without modules
            after = self.texts.get(result.path.resolve(), after)
        if after != result.before:
            linen, haiku = self.spelled_as[result.path.resolve()]
            after = with_haiku_again(cst.parse_module(after), linen, haiku).code
        return replace(result, after=after, findings=tuple(sorted(dict.fromkeys(found))))

    def _spread(self, classes: HaikuClasses, every: Mapping[Path, list[HaikuClass]]) -> None:
        """Keep what modules that stay build, and what builds them."""
        paths = {cls: path for path, found in every.items() for cls in found}
        around: dict[HaikuClass, set[HaikuClass]] = {cls: set() for cls in paths}
        for cls in paths:
            for other in classes.named_in(cls):
                around[cls].add(other)
                around[other].add(cls)
        waiting = [cls for cls in paths if self._stays(paths[cls], cls)]
        while waiting:
            cls = waiting.pop()
            why = f"it is used with `{cls.node.name.value}`, which stays in Haiku"
            for other in around[cls]:
                key = paths[other].resolve(), other.node.name.value
                if key not in self.kept:
                    self.kept[key] = why
                    waiting.append(other)


class _File:
    """The translation of one file.

    Args:
        analysis: The file.
        classes: The modules of the project.
        into: That of the project.
    """

    def __init__(self, analysis: Analysis, classes: HaikuClasses, into: Translation) -> None:
        self._analysis = analysis
        self._into = into
        self._taken = {*names_of(analysis.tree)}
        taken = set(self._taken)
        self._spelling = Spelling(free_name("nn", taken), free_name("_haiku", taken))
        self._functions = FunctionsOfFile(analysis, classes, taken)
        self._replaced: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        self._before: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        self._problems: list[Untranslated] = []

    def _key(self, name: str) -> tuple[Path, str]:
        return self._analysis.path.resolve(), name

    def translate(self, cls: HaikuClass, read: frozenset[str]) -> None:
        """Translate a class."""
        key = self._key(cls.node.name.value)
        if key in self._into.kept:
            return
        translation = ClassTranslation(cls, self._spelling, read)
        try:
            self._replaced[cls.node] = [translation.run()]
        except Untranslated as problem:
            self._into.kept[key] = str(problem)
            return
        self._into.names[str(self._analysis.path), key[1]] = cls.name
        self._into.problems[key] = translation.problems

    def tree(self, staying: Sequence[HaikuClass]) -> cst.Module:
        """Return the file as it is now.

        Args:
            staying: The classes that stay as they are, below a marker.
        """
        for cls in staying:
            why = self._into.kept[self._key(cls.node.name.value)]
            self._replaced[cls.node] = [_marked(cls.node, STAYS, why)]
            self._into.problems.pop(self._key(cls.node.name.value), None)
        classes = dict(self._roots())
        if not self._into.names and not self._into.helpers:
            return self._analysis.tree  # nothing leaves Haiku
        outside = Outside(
            *(self._analysis, self._spelling, "", {}, {}, self._problems),
            *(classes, self._replaced, self._before),
        )
        tree = self._analysis.tree.visit(outside)
        assert isinstance(tree, cst.Module)
        if tree.code == self._analysis.tree.code:
            return self._analysis.tree
        linen, haiku = self._spelling.linen, self._spelling.haiku
        self._into.spelled_as[self._analysis.path.resolve()] = linen, haiku
        new = {*names_of(tree)} - self._taken
        lines = [f"import flax.linen as {linen}", f"import {PACKAGE} as {haiku}"]
        lines += ["from typing import Any"] * ("Any" in new)
        lines += ["import dataclasses"] * ("dataclasses" in new)
        return _with_imports(tree, cst.parse_module("\n".join(lines) + "\n").body)

    def _roots(self) -> Iterator[tuple[cst.CSTNode, str]]:
        """Translate the functions that become modules, and those that build some; yield the former."""
        functions = self._functions
        own: dict[cst.CSTNode, list[cst.BaseStatement]] = {}
        for node, root in functions.roots.items():
            if self._key(root.cls) in self._into.kept:
                continue
            problems: list[Untranslated] = []
            made = functions_for(node, self._analysis, self._spelling, problems)
            cls = class_of(root, made, self._spelling)
            helper = functions.helpers[root.cls]
            self._into.problems[self._key(root.cls)] = problems
            self._into.helpers[str(self._analysis.path), root.cls] = helper
            if root.statement is not node:
                self._before.setdefault(root.statement, []).append(cls)
            else:
                own[node] = [cls]
            if isinstance(node, cst.FunctionDef) and node.decorators:
                assigned = statement_of(f"{node.name.value} = {helper}({root.cls})")
                own[node].append(assigned.with_changes(leading_lines=TWO_LINES))
            yield node, root.cls
        dropped = {one.function for one in functions.roots.values() if one.is_dropped}
        for node in functions.builders:
            key = self._key(node.name.value)
            if node in own and node in dropped:
                continue
            if key in self._into.kept:
                self._replaced[node] = [
                    *own.pop(node, []),
                    _marked(node, CALLER, self._into.kept[key]),
                ]
            elif not (node in dropped and node in functions.roots):
                made = functions_for(node, self._analysis, self._spelling, self._problems)
                after = node.visit(made)
                assert isinstance(after, cst.FunctionDef)
                self._replaced[node] = [*own.pop(node, []), after]
        self._replaced |= own

    def findings(self, classes: Sequence[HaikuClass]) -> list[Finding]:
        """Return what is left to a person, by line."""
        positions: Mapping[cst.CSTNode, Any] = PositionProvider()._gen(
            MetadataWrapper(self._analysis.tree, unsafe_skip_copy=True)
        )
        home, kept = self._analysis.path.resolve(), self._into.kept
        noted = [
            (problem.node, COUNTERPART, str(problem))
            for (path, _), problems in self._into.problems.items()
            for problem in problems
            if path == home
        ]
        noted += [(problem.node, CALLER, str(problem)) for problem in self._problems]
        names = [(cls.node.name, STAYS) for cls in classes]
        names += [(node.name, CALLER) for node in self._functions.builders]
        for name, code in names:
            if self._key(name.value) in kept:
                noted.append((name, code, kept[self._key(name.value)]))
        return [
            Finding(
                *(positions[node].start.line, positions[node].start.column, code, DECIDE, message),
                before=" ".join(code_of(node).split())[:_LONGEST],
            )
            for node, code, message in noted
        ]


def _marked(node: Definition, code: str, message: str) -> Definition:
    return node.with_changes(
        leading_lines=with_marks(node.leading_lines, [(code, message)], frozenset())
    )


def with_haiku_again(tree: cst.Module, linen: str, haiku: str) -> cst.Module:
    """Return a file in which layers that stay, below a marker, have their own names again.

    Imports of Haiku that nothing reads any more go.

    Args:
        tree: The file.
        linen: The name of `flax.linen` in translated code.
        haiku: The name of the package of Haiku's layers.
    """
    aliases = (one for one in descendants(tree) if isinstance(one, cst.ImportAlias))
    found = (one.evaluated_alias for one in aliases if one.evaluated_name == HAIKU)
    name = next(found, HAIKU) or HAIKU
    own = (f"flax.linen as {linen}", f"{PACKAGE} as {haiku}")

    def layer(node: Any, _: object) -> cst.BaseExpression:
        last = node.attr.value
        return cst.parse_expression(f"{name}.{'nets.' * (last in NETS)}{last}")

    def import_read(node: Any, _: object) -> cst.Import | cst.RemovalSentinel:
        alias = node.names[0]
        is_ours = alias.evaluated_name == HAIKU or code_of(alias) in own
        is_read = (alias.evaluated_alias or alias.evaluated_name) in read
        return cst.RemoveFromParent() if is_ours and not is_read else node

    restored = m.Attribute(m.Name(haiku)) | m.Attribute(m.Name(linen), m.Name("Sequential"))
    after = m.replace(tree, restored, layer)
    assert isinstance(after, cst.Module)
    names = [*names_of(after)]
    read = {one for one in names if names.count(one) > 1}
    after = m.replace(after, m.Import([m.ImportAlias()]), import_read)
    assert isinstance(after, cst.Module)
    return after


def _with_imports(
    tree: cst.Module, lines: Sequence[cst.BaseStatement | cst.SimpleStatementLine]
) -> cst.Module:
    """Return a file with more imports, behind the last one that it has at its top level."""
    place = 0
    for position, statement in enumerate(tree.body):
        match statement:
            case cst.SimpleStatementLine(body=[cst.Import() | cst.ImportFrom(), *_]):
                place = position + 1
    return tree.with_changes(body=[*tree.body[:place], *lines, *tree.body[place:]])


def migrate_haiku(
    paths: Sequence[Path],
    roots: Sequence[Path],
    options: Options,
    trace: Trace | None = None,
    gradual: bool = False,
    failures: Failures = NO_FAILURES,
    advance: Callable[[float], None] = lambda part: None,
) -> list[LinenResult]:
    """Migrate files of Haiku; nothing is written.

    Args:
        paths: The files.
        roots: What imports may lead to.
        options: What is asked for.
        trace: There is none for Haiku.
        gradual: NNX modules hold none of Haiku.
        failures: What running the migrated code has shown.
        advance: Called with the part of the work that is done now: all parts together are 1.

    Returns:
        The results of the files that could be read.
    """
    assert trace is None
    assert not gradual
    kept: dict[tuple[Path, str], str] = {}
    while True:
        translation = Translation(dict(kept))
        given = (paths, roots, options, None, False, failures, advance, translation.front())
        results = migrate_linen(*given)
        advance = _nothing
        staying = {
            (one.path.resolve(), plan.cls.name): plan.stays
            for one in results
            for plan in one.plans
            if plan.stays
        }
        staying |= {key: _NOT_CALLED for one in results for key in translation.remains(one)}
        if not staying:
            return [translation.completed(one) for one in results]
        # What does not leave Haiku has to have its own code again.
        kept = translation.kept | staying


def _nothing(part: float) -> None:
    del part
