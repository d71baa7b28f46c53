"""TN101: NNX is imported from the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.imports import absolute_module
from typed_nnx_codegen.migrate.analysis.name_lookup import canonical, has_module, has_name
from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import NNX, External
from typed_nnx_codegen.migrate.import_statements import without_twins
from typed_nnx_codegen.migrate.options import FLAX_NNX
from typed_nnx_codegen.migrate.registry import Rule, all_rules, register

_OLD = "flax.experimental.nnx"
_FLAX = "flax.nnx"
Small = cst.BaseSmallStatement


@register
class ImportFromTarget(Rule):
    """Imports NNX from the target package.

    Names that the target does not have are left unchanged, with a marker.
    """

    code = "TN101"
    title = "`flax.experimental.nnx` and `flax.nnx` are imported from the target"
    since = ()
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
"""

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Rewrite the import statements of a line."""
        body: list[Small] = []
        for statement in updated.body:
            body += self._rewritten(statement)
        self._mark_missing(original, body)
        if len(body) == len(updated.body) and all(
            one is other for one, other in zip(body, updated.body, strict=True)
        ):
            return updated
        if len(updated.body) > 1 or len(body) == 1:
            return updated.with_changes(body=body)
        lines = [cst.SimpleStatementLine([statement]) for statement in body]
        first = lines[0].with_changes(leading_lines=updated.leading_lines)
        last = lines[-1].with_changes(trailing_whitespace=updated.trailing_whitespace)
        return cst.FlattenSentinel([first, *lines[1:-1], last])

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite ``flax.nnx`` where only ``flax`` has a name, and mark what the target lacks."""
        value = self.file.value(original)
        if not isinstance(value, External):
            return updated
        if value.name in (_OLD, _FLAX) and self._is_spelled_out(original, value.name):
            return self.file.refer(NNX) if self._moves(value.name) else updated
        if self.file.name(original.value) != NNX or not self._arrives(value.name):
            return updated
        if self._is_missing(original.attr.value):
            self.file.decide(original, self._missing(original.attr.value))
        return updated

    # -- what changes -------------------------------------------------------------------------

    @property
    def _package(self) -> str:
        return _FLAX if self.file.target == FLAX_NNX else "typed_nnx"

    def _moves(self, package: str) -> bool:
        return package != self._package

    def _arrives(self, name: str) -> bool:
        """Whether a name is looked up in the target: imports of typed_nnx stay for each target."""
        return not name.startswith("typed_nnx.") or self._package == "typed_nnx"

    def _is_spelled_out(self, node: cst.Attribute, name: str) -> bool:
        return dotted(node) == name and isinstance(self.file.value(node.value), External)

    def _is_missing(self, name: str) -> bool:
        """Whether the target has no such name, and no rule that deals with it."""
        if has_name(self._package, name):
            return False
        return not any(name in {*rule.names, *rule.handles, *rule.gone} for rule in all_rules())

    def _stays_missing(self, alias: cst.ImportAlias) -> bool:
        """Whether the target lacks an imported name, and no rule will see a use of it."""
        name = dotted(alias.name)
        local = alias.evaluated_alias or name
        return self._is_missing(name) or not (
            has_name(self._package, name) or local in self.file.names.read
        )

    def _missing(self, name: str) -> str:
        return f"{self._package} has no `{name}`; write it without, or keep flax for it"

    def _rewritten(self, statement: Small) -> list[Small]:
        match statement:
            case cst.Import():
                return self._import(statement)
            case cst.ImportFrom() if isinstance(statement.names, cst.ImportStar):
                return self._star(statement)
            case cst.ImportFrom():
                return self._import_from(statement)
            case _:
                return [statement]

    def _import(self, statement: cst.Import) -> list[Small]:
        changed = False
        names: list[cst.ImportAlias] = []
        for alias in statement.names:
            new = self._module_name(dotted(alias.name))
            if alias.asname is not None and new:
                changed = True
                alias = alias.with_changes(name=_dotted_name(new))
            names.append(alias)
        return [statement.with_changes(names=names)] if changed else [statement]

    def _module_name(self, full: str) -> str:
        """Return the name of a module in the target; empty where it stays."""
        for package in (_OLD, _FLAX):
            if self._moves(package) and (full == package or full.startswith(package + ".")):
                below = full[len(package) + 1 :]
                if not below:
                    return self._package
                return f"{self._package}.{below}" if has_module(self._package, below) else ""
        return ""

    def _star(self, statement: cst.ImportFrom) -> list[Small]:
        new = self._module_name(self._module(statement))
        return [_from(new, statement)] if new else [statement]

    def _module(self, statement: cst.ImportFrom) -> str:
        analysis = self.file.analysis
        return absolute_module(statement, analysis.module, analysis.is_package)

    def _import_from(self, statement: cst.ImportFrom) -> list[Small]:
        module = self._module(statement)
        if isinstance(statement.names, cst.ImportStar) or not module.startswith("flax"):
            return [statement]
        groups: dict[str, list[cst.ImportAlias]] = {}
        for alias in statement.names:
            groups.setdefault(self._source(module, dotted(alias.name)), []).append(alias)
        if list(groups) == [module]:
            return [statement]
        return [
            made
            for source, names in groups.items()
            for made in self._group(source, names, statement)
        ]

    def _source(self, module: str, name: str) -> str:
        """Return where a name is imported from now."""
        full = f"{module}.{name}"
        if full in (_OLD, _FLAX):
            return NNX if self._moves(full) else module
        for package in (_OLD, _FLAX):
            if not self._moves(package) or not (module + ".").startswith(package + "."):
                continue
            below = module[len(package) + 1 :]
            if below and has_name(self._package, f"{below}.{name}"):
                return f"{self._package}.{below}"
            short = canonical(f"{below}.{name}") if below else name
            if "." not in short and has_name(self._package, short):
                return self._package
        return module

    def _group(
        self, source: str, names: Sequence[cst.ImportAlias], statement: cst.ImportFrom
    ) -> Iterator[Small]:
        """Yield the statements that import some names from one place."""
        if source == NNX:
            for alias in names:
                yield self._nnx_itself(alias)
        else:
            yield _from(source, statement, names)

    def _nnx_itself(self, alias: cst.ImportAlias) -> Small:
        local = NNX
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            local = alias.asname.name.value
        if self.file.target == FLAX_NNX:
            alias = cst.ImportAlias(cst.Name(NNX), _as(local) if local != NNX else None)
            return cst.ImportFrom(cst.Name("flax"), [alias])
        return cst.Import([cst.ImportAlias(cst.Name("typed_nnx"), _as(local))])

    def _mark_missing(self, original: cst.SimpleStatementLine, body: Sequence[Small]) -> None:
        for statement in body:
            if not isinstance(statement, cst.ImportFrom):
                continue
            module = self._module(statement)
            if isinstance(statement.names, cst.ImportStar) or not self._moves_from(module):
                continue
            for alias in statement.names:
                if self._stays_missing(alias):
                    self.file.decide(original, self._missing(dotted(alias.name)))

    def _moves_from(self, module: str) -> bool:
        return module in (_OLD, _FLAX) and self._moves(module)


def _as(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))


def _dotted_name(name: str) -> cst.Name | cst.Attribute:
    parsed = cst.parse_expression(name)
    assert isinstance(parsed, (cst.Name, cst.Attribute))
    return parsed


def _from(
    module: str, statement: cst.ImportFrom, names: Sequence[cst.ImportAlias] | None = None
) -> cst.ImportFrom:
    """Return an import from another module, laid out as a statement is."""
    changed = statement.with_changes(module=_dotted_name(module), relative=())
    if names is None:
        return changed
    return changed.with_changes(names=without_twins(names, statement))
