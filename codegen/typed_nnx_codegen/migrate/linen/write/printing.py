"""Writes the body of a constructor: the submodules with their sizes, and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece
from typed_nnx_codegen.migrate.linen.domain.expr import Constructed, Content
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Change,
    Compound,
    Declare,
    Line,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.markers import SIZE
from typed_nnx_codegen.migrate.linen.domain.names import snake_case
from typed_nnx_codegen.migrate.linen.domain.references import Repeated, SelfValue, sites_in
from typed_nnx_codegen.migrate.linen.domain.values import Seq, Table, Value
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.plan.lifting import Lifting
from typed_nnx_codegen.migrate.linen.project.fields import (
    as_loop,
    assigned_container,
    holds,
    wrapped,
)
from typed_nnx_codegen.migrate.linen.state.calls_on_modules import cache_lines, caches_in
from typed_nnx_codegen.migrate.linen.write.constructor_calls import ConstructorCalls
from typed_nnx_codegen.migrate.linen.write.order import behind_objects, in_order, names_in, text_of

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.evaluate.executor import Executor
    from typed_nnx_codegen.migrate.linen.plan.naming import Naming


def consume_within(sites: Sequence[Site]) -> None:
    """Let what stands for a submodule take those within its arguments off their lists, too.

    In ``nn.SpectralNorm(nn.Dense(4))`` methods only have the outer submodule, so that the list of
    the inner one would be one behind where others are taken from it.

    Args:
        sites: The submodules, with their names.
    """
    listed = [site for site in sites if site.is_listed and not site.is_verbatim]
    around = {site: _outermost(site, sites) for site in listed}
    mixed = {
        _list_of(site)
        for site in listed
        if any(_list_of(other) == _list_of(site) and around[other] is None for other in listed)
    }
    found: dict[Site, list[Site]] = {}
    for site in listed:
        outer = around[site]
        if outer is not None and _list_of(site) in mixed:
            found.setdefault(outer, []).append(site)
    for outer, inner in found.items():
        taken = ", ".join(site.reference for site in inner)
        outer.reference = f"({taken}, {outer.reference})[-1]"


def _list_of(site: Site) -> str:
    return site.attribute.partition(".")[0]


def _outermost(site: Site, sites: Sequence[Site]) -> Site | None:
    found: Site | None = None
    for other in sites:
        if other.node is site.node or other.is_verbatim:
            continue
        if any(site.node in _below(arg) for arg in other.node.args):
            is_wider = found is None or found.node in set(descendants(other.node))
            found = other if is_wider else found
    return found


def _below(node: cst.CSTNode) -> set[cst.CSTNode]:
    return set(descendants(node))


def held_values(
    node: cst.BaseStatement,
    instance: SelfValue,
    code: Callable[[cst.CSTNode], str],
    refer: Callable[[str], str],
) -> dict[cst.CSTNode, str]:
    """Return other code for what a statement of `setup` assigns to attributes of the object.

    Args:
        node: The statement.
        instance: The object.
        code: Writes an expression.
        refer: Spells a public name.
    """
    if not isinstance(node, cst.SimpleStatementLine):
        return {}
    found: dict[cst.CSTNode, str] = {}
    for small in node.body:
        match small:
            case cst.Assign(
                targets=[
                    cst.AssignTarget(
                        target=cst.Attribute(cst.Name(), cst.Name(value=name)) as target
                    )
                ],
                value=value,
            ):
                held = instance.attributes.get(name)
                kind = _kind(value, held) if held is not None and sites_in(held) else ""
                if target in instance.replaced:
                    # What an attribute holds first decides for NNX what it is.
                    kind = "nnx.data" if instance.replaced[target] else "nnx.static"
                if kind:
                    found[value] = f"{refer(kind)}({code(value)})"
    return found


def _kind(node: cst.BaseExpression, held: Value) -> str:
    """Return what holds a value in NNX; empty where it is assigned as it is written."""
    match node:
        case cst.Name(value="None"):
            # The attribute is one that may hold arrays from the start.
            return "nnx.data"
        case cst.Name() | cst.Call():
            if isinstance(held, (Seq, Repeated)):
                return "nnx.List"
            return "nnx.Dict" if isinstance(held, Table) else ""
    return ""


# The locals of the constructor for sizes that run in loops.
_RUNNING: Final = re.compile(r"_(features|sizes|size_\d+)(_\d+)?$")


class Printing:
    """Writes the constructor of one module.

    Args:
        recorder: What was seen of it.
        executor: What went through it.
        naming: The names of its submodules.
        roots: The methods that were entered from outside.
    """

    def __init__(
        self, recorder: Recorder, executor: Executor, naming: Naming, roots: list[str]
    ) -> None:
        self._recorder = recorder
        self._executor = executor
        self._naming = naming
        self._plan: ClassPlan = recorder.plan
        self._lifting = Lifting(self._plan.cls, roots, recorder.locals)
        self._slots = recorder.slots
        self._calls = ConstructorCalls(recorder, executor, self._lifting)
        self._locals: dict[Site, str] = {}

    def run(self) -> None:
        """Write the lines of the constructor into the plan."""
        consume_within(self._plan.sites)
        for site in self._plan.sites:
            code = self._calls.constructor(site) if site.is_verbatim else site.reference
            if code:
                self._recorder.replace(site.node, code)
        declared = self._plan.log.of(Declare)
        later = [Line(f"self.{one.attribute} = {one.later}") for one in declared if one.later]
        setup = [*self._recorder.setup, *later]
        block = [*self._containers(), *self._recorder.block]
        self._run_sizes(setup)
        self._run_sizes(block)
        block = in_order([*setup, *block], len(setup), self._spelled, self._names_in)
        block = behind_objects(block, self._asked, self._names_of, self._unordered)
        lines = text_of(block, self._spelled, self._names_in)
        within = [site for site in self._sites_in("\n".join(lines)) if site.is_listed]
        if within:
            # Others are constructed with them: they have a name until they are in their list.
            self._locals = {
                site: self._recorder.fresh(snake_case(site.class_name)) for site in within
            }
            lines = text_of(block, self._spelled, self._names_in)
        text = "\n".join(lines)
        self._lifting.need(self._slots.sizes(text))
        text = self._slots.filled(text, self._in_constructor)
        self._plan.lifted = [
            *self._lifting.lifted,
            *self._calls.missing.unknown.values(),
            *self._unbound(text),
        ]
        self._plan.init = text.split("\n") if text else []
        if self._recorder.uses_rngs:
            self._plan.init.insert(0, "self.rngs = rngs")

    def _names_of(self, line: Line) -> list[str]:
        """Return the names in a line, those of submodules and in sizes too."""
        code = "\n".join(self._spelled(line))
        sites = [site.attribute for site in self._sites_in(code)]
        return [*names_in(code), *self._names_in(code), *sites]

    def _asked(self, line: Line) -> set[cst.CSTNode]:
        """Return the constructors of the submodules that a line asks for a size."""
        code = "\n".join(self._spelled(line))
        return {one.node for one in self._slots.within(code) if isinstance(one, Constructed)}

    def _sites_in(self, code: str) -> list[Site]:
        return [one for one in self._slots.within(code) if isinstance(one, Site)]

    def _unordered(self, node: cst.CSTNode) -> None:
        message = "the size of its input is that of a submodule which is built later"
        self._recorder.mark(node, message, SIZE)

    def _unbound(self, text: str) -> Iterator[Lifted]:
        """Yield parameters for sizes that run in loops, where nothing in the text gives them before."""
        if self._plan.marks:
            return  # a person goes through it anyway
        known = {one.name for one in self._lifting.lifted} | {
            one.name for one in self._plan.cls.fields()
        }
        running = {name for name in self._recorder.locals if _RUNNING.search(name)}
        for name in sorted(running - known):
            binding = rf"^\s*(for [^\n]*\b{name}\b[^\n]* in |[\w, ]*\b{name}\b[\w, ]* = )"
            bound = re.search(binding, text, re.MULTILINE)
            before = text if bound is None else text[: bound.start()]
            if re.search(rf"(?<![\w.]){name}\b(?!=)", before):
                why = f"the code does not tell a size that runs in a loop: give `{name}`"
                self._recorder.mark(self._plan.cls.node, why, SIZE)
                yield Lifted(name, why=why)

    def _in_constructor(self, content: Content) -> str:
        """Return the expression for a size or a submodule in the constructor."""
        match content:
            case Dim():
                return content.code(self._lifting.spelled)
            case Site():
                return self._locals.get(content, content.reference)
            case Constructed():
                return content.code(self._plan.sites)

    def _containers(self) -> list[Line | Compound]:
        lists = [
            self._empty(name, "nnx.List", "[]", sites) for name, sites in self._naming.lists.items()
        ]
        tables = [
            self._empty(name, "nnx.Dict", "{}", sites)
            for name, sites in self._naming.tables.items()
        ]
        return [*lists, *tables]

    def _empty(self, name: str, container: str, literal: str, sites: list[Site]) -> Line:
        """Return the line that makes an empty container, with the type of what goes into it."""
        refer = self._executor.refer
        item = refer("nnx.Module")
        targets = {site.target for site in sites}
        if len(targets) == 1 and not any(site.is_bridged or site.code for site in sites):
            (target,) = targets
            layer = find_layer(target) if isinstance(target, str) else None
            if layer is not None and layer.nnx:
                item = refer(layer.nnx) if layer.nnx.startswith("nnx.") else layer.nnx
            elif isinstance(target, LinenClass):
                item = refer(target.public)
        kind = refer(container)
        return Line(f"self.{name}: {kind}[{item}] = {kind}({literal})")

    # -- lines --------------------------------------------------------------------------------

    def _spelled(self, line: Line) -> list[str]:
        if line.site is not None:
            site = line.site
            if site in self._locals:
                name = site.attribute.partition(".")[0]
                local = self._locals[site]
                return [
                    f"{local} = {self._calls.constructor(site)}",
                    f"self.{name}.append({local})",
                ]
            caches = cache_lines(site, self._recorder, self._executor.code)
            return [self._assignment(site), *caches]
        if line.statement in self._plan.dropped:
            return []
        if line.statement is not None:
            caches = caches_in(
                line.statement, self._plan.sites, self._recorder, self._executor.code
            )
            return [*self._statement(line.statement), *caches]
        assert isinstance(line.text, str)
        return [line.text]

    def _names_in(self, code: str) -> Iterator[str]:
        """Yield the names in the sizes that stand in a piece of code."""
        for dim in self._slots.sizes(code):
            for atom in dim.atoms():
                if isinstance(atom, Piece):
                    yield from re.findall(r"[A-Za-z_]\w*", atom.code)

    def _assignment(self, site: Site) -> str:
        code = self._calls.constructor(site)
        if site.is_default:
            name = site.attribute
            return f"self.{name} = {code} if {name} is None else {name}"
        if site.is_listed:
            return f"self.{site.attribute.partition('.')[0]}.append({code})"
        if "{" in site.attribute:
            return f"self.{site.attribute.partition('.')[0]}[{site.name_code}] = {code}"
        return f"self.{site.attribute} = {code}"

    def _statement(self, node: cst.BaseStatement) -> list[str]:
        """Return a statement of `setup`: lists of submodules are lists of NNX."""
        text = code_with(node, {**self._plan.replacements, **self._wrapped(node)})
        lines = text.strip("\n").split("\n")
        while lines and not lines[0].strip():
            del lines[0]
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return [line[indent:] for line in lines]

    def _wrapped(self, node: cst.BaseStatement) -> dict[cst.CSTNode, str]:
        found = assigned_container(node)
        instance = self._recorder.instance
        if found is None and instance is not None:
            written = self._plan.replacements
            return held_values(
                node, instance, lambda one: code_with(one, written), self._executor.refer
            )
        if found is None:
            return {}
        sites: dict[cst.CSTNode, Site] = {site.node: site for site in self._plan.sites}
        if not holds(found[0], sites):
            return {}
        code = wrapped(found[0], self._plan.replacements, sites, self._executor.refer)
        return {found[0]: code}

    # -- sizes that run -----------------------------------------------------------------------

    def _run_sizes(self, block: list[Line | Compound]) -> None:
        """Write the sizes that run through lists of submodules where the lists are made."""
        by_loop: dict[int, list[tuple[Piece, Change]]] = {}
        for piece, change in self._changes().items():
            if change.loop is not None:
                for number in (change.loop, *change.also):
                    by_loop.setdefault(number, []).append((piece, change))
        if by_loop:
            self._run_in(block, by_loop)

    def _changes(self) -> dict[Piece, Change]:
        """Return the sizes that run in loops."""
        return {one.piece: one for one in self._plan.log.of(Change)}

    def _run_in(
        self, block: list[Line | Compound], by_loop: dict[int, list[tuple[Piece, Change]]]
    ) -> None:
        for position, one in reversed(list(enumerate(block))):
            if isinstance(one, Line):
                self._unrolled_comprehension(block, position, one, by_loop)
                continue
            self._run_in(one.body, by_loop)
            self._run_in(one.orelse, by_loop)
            running = by_loop.get(one.number, []) if one.number is not None else []
            if running:
                # Locals of the loop still are what the sizes of this iteration are made of.
                end = len(one.body)
                while end and _is_update(one.body[end - 1]):
                    end -= 1
                one.body[end:end] = self._updates(running)
                block[position:position] = [
                    Line(f"{piece.code} = {self._slots.name(change.entry)}", piece.code)
                    for piece, change in running
                ]

    def _updates(self, running: list[tuple[Piece, Change]]) -> list[Line | Compound]:
        """Return the lines that ready sizes for the next iteration, at once where one needs others."""
        codes = [(one.code, self._slots.name(change.update)) for one, change in running]
        locals_ = {local for local, _ in codes}
        if any(set(self._names_in(code)) & locals_ - {local} for local, code in codes):
            names = ", ".join(local for local, _ in codes)
            text = f"{names} = {', '.join(code for _, code in codes)}"
            return [Line(text, names, is_update=True)]
        return [Line(f"{local} = {code}", local, is_update=True) for local, code in codes]

    def _unrolled_comprehension(
        self,
        block: list[Line | Compound],
        position: int,
        line: Line,
        by_loop: dict[int, list[tuple[Piece, Change]]],
    ) -> None:
        """Write a comprehension as a loop where the sizes of its submodules run."""
        found = assigned_container(line.statement) if line.statement is not None else None
        comprehension = found[0] if found is not None else None
        if found is None or not isinstance(comprehension, (cst.ListComp, cst.GeneratorExp)):
            return
        assign = found[1]
        within = set(descendants(comprehension))
        sites = [site for site in self._plan.sites if site.node in within]
        numbers = {number for site in sites for number in site.loops}
        running = [one for number in numbers for one in by_loop.get(number, ())]
        text = " ".join(self._plan.replacements[site.node] for site in sites)
        used = set(self._names_in(text)) | self._used_outside(running)
        if not any(piece.code in used for piece, _ in running):
            return
        item = code_with(comprehension.elt, self._plan.replacements)
        target = code_of(assign.targets[0].target)
        first, header, append = as_loop(comprehension, target, item, self._executor.refer)
        body: list[Line | Compound] = [Line(append)]
        lines: list[Line | Compound] = [Line(first)]
        for piece, change in running:
            lines.append(Line(f"{piece.code} = {self._slots.name(change.entry)}", piece.code))
        body += self._updates(running)
        block[position : position + 1] = [*lines, Compound(header, body)]

    def _used_outside(self, running: list[tuple[Piece, Change]]) -> set[str]:
        """Return the names of sizes that other loops begin with, or later lines have."""
        others = self._changes().items() - set(running)
        texts = [self._slots.name(change.entry) for _, change in others]
        lines = [one.text for one in self._recorder.block if isinstance(one, Line)]
        texts += [text for text in lines if isinstance(text, str)]
        texts += self._plan.replacements.values()
        return {name for text in texts for name in self._names_in(text)}


def _is_update(line: Line | Compound) -> bool:
    return isinstance(line, Line) and line.is_update
