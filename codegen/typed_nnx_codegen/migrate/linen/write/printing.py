"""Writes the body of a constructor: the submodules with their sizes, and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    names_of,
    of_kinds,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    SIZE,
    BuildAtCall,
    ClassPlan,
    Lifted,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import MOVED_METHODS, LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with, negated, parsed, written_with
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, LoopEnd, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.expr import (
    Constructed,
    Content,
    Slots,
    pieces_of,
)
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Block,
    Change,
    Compound,
    Declare,
    Line,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.names import (
    bound_in,
    linen_name,
    names_in,
    names_in_nnx,
    own_names,
    snake_case,
)
from typed_nnx_codegen.migrate.linen.domain.references import Repeated, SelfValue, sites_in
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.evaluate.variables import cache_lines, caches_in
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.plan.lifting import Lifting
from typed_nnx_codegen.migrate.linen.project.fields import (
    as_loop,
    assigned_container,
    holds,
    summed,
    wrapped,
)
from typed_nnx_codegen.migrate.linen.write.constructor_calls import ConstructorCalls
from typed_nnx_codegen.migrate.linen.write.tidying import reads_of

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.evaluate.executor import Executor
    from typed_nnx_codegen.migrate.linen.plan.naming import Naming


def consume_within(sites: Sequence[Site]) -> None:
    """Let what stands for a submodule take those within its arguments off their lists, too.

    In ``nn.SpectralNorm(nn.Dense(4))`` methods only have the outer submodule, so that the list of
    the inner one would be one behind where others are taken from it.
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
    """Return other code for what a statement of `setup` assigns to attributes of the object."""
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
                if held is not None and _has_arrays(held):
                    kind = "nnx.data"  # a tuple or dict would be static
                if target in instance.replaced:
                    # What an attribute holds first decides for NNX what it is.
                    kind = "nnx.data" if instance.replaced[target] else "nnx.static"
                if kind:
                    found[value] = f"{refer(kind)}({code(value)})"
    return found


def _has_arrays(held: Value) -> bool:
    """Whether a value is a tuple or dict that has an array in it."""
    items: Iterable[Value] = ()
    match held:
        case Seq(items=items):
            pass
        case Table(items=table, cls=None):
            items = table.values()
    return any(isinstance(one, Array) or _has_arrays(one) for one in items)


def _kind(node: cst.BaseExpression, held: Value) -> str:
    """Return what holds a value in NNX; empty where it is assigned as it is written."""
    match node:
        case cst.Name(value="None"):
            # The attribute is one that may hold arrays from the start.
            return "nnx.data"
    if any(site.node in _below(node) for site in sites_in(held)) and not isinstance(node, cst.Call):
        return ""  # what is built in it is written with what holds it
    if isinstance(held, (Seq, Repeated)):
        return "nnx.List"
    return "nnx.Dict" if isinstance(held, Table) else ""


# The locals of the constructor for sizes that run in loops.
_RUNNING: Final = re.compile(r"_(features|sizes|size_\d+)(_\d+)?$")


def _parsed(*lines: str) -> list[cst.BaseStatement]:
    """Return lines of code as statements."""
    # Comments above the first statement of a module belong to the module.
    return list(cst.parse_module("\n".join(["pass", *lines, ""])).body[1:])


class _Lines:
    """The statements that lines of a constructor are, and the names in them.

    Args:
        spell: Gives the statements of a line.
        slots: What stands in them until all is known.
    """

    def __init__(self, spell: Callable[[Line], list[cst.BaseStatement]], slots: Slots) -> None:
        self._spell = spell
        self._slots = slots
        self._statements: dict[int, list[cst.BaseStatement]] = {}

    def statements(self, line: Line) -> list[cst.BaseStatement]:
        """Return the statements of a line."""
        if id(line) not in self._statements:
            self._statements[id(line)] = self._spell(line)
        return self._statements[id(line)]

    def contents(self, line: Line) -> list[Content]:
        """Return what stands in a line, and in the sizes there."""
        return [one for node in self.statements(line) for one in self._slots.within(node)]

    def loops(self, line: Line) -> set[int | None]:
        """Return the loops whose ends give sizes in a line."""
        sizes = [one for one in self.contents(line) if isinstance(one, Dim)]
        return {each.loop for one in sizes for each in one.pieces() if isinstance(each, LoopEnd)}

    def names(self, one: Line | Compound) -> set[str]:
        """Return the names in a line, or in a statement with all that is in it."""
        if isinstance(one, Line):
            return {name for node in self.statements(one) for name in self._names_of(node)}
        inner = [self.names(each) for each in (*one.body, *one.orelse)]
        return set().union(self.names_of_header(one), *inner)

    def _names_of(self, node: cst.CSTNode) -> set[str]:
        own = own_names(node) if isinstance(node, cst.FunctionDef) else frozenset[str]()
        return {*self._slots.names(node)} - own

    def compound(self, one: Compound) -> cst.If | cst.For:
        """Return a statement without what is in it."""
        if id(one) not in self._statements:
            self._statements[id(one)] = [cst.parse_statement(f"{one.header} pass")]
        (node,) = self._statements[id(one)]
        assert isinstance(node, cst.If | cst.For)
        return node

    def names_of_header(self, one: Compound) -> set[str]:
        """Return the names in the first line of a statement."""
        return set(self._slots.names(self.compound(one)))

    def attributes(self, one: Line | Compound) -> set[str]:
        """Return the attributes of the object that lines assign."""
        nodes = [node for line in _flat([one]) for node in self.statements(line)]
        return {name for node in nodes for name in _attributes_of(node)}

    def attributes_read(self, line: Line) -> set[str]:
        """Return the attributes of objects that a line reads, by name."""
        below = [each for node in self.statements(line) for each in descendants(node)]
        sites = [one for one in self.contents(line) if isinstance(one, Site)]
        names = {one.attr.value for one in below if isinstance(one, cst.Attribute)}
        return names - self.attributes(line) | {one.attribute for one in sites}

    def reads(self, line: Line) -> set[str]:
        """Return the names in a line without what it assigns."""
        values = [_value(node) for node in self.statements(line)]
        return {name for value in values for name in self._names_of(value)}


def _value(node: cst.BaseStatement) -> cst.CSTNode:
    """Return what a line assigns to a local; the line where it assigns nothing."""
    match node:
        case cst.SimpleStatementLine(body=[cst.Assign() | cst.AugAssign() as assign]):
            return assign.value
    return node


# -- the order of lines ----------------------------------------------------------------------------


def _entered(block: Block) -> Iterator[Line | Compound]:
    """Yield the lines of a block in order, and what holds some of them behind these."""
    for one in block:
        if isinstance(one, Compound):
            yield from _entered([*one.body, *one.orelse])
        yield one


def _flat(block: Block) -> Iterator[Line]:
    return (one for one in _entered(block) if isinstance(one, Line))


def in_order(block: Block, count: int, lines: _Lines) -> Block:
    """Return a block where locals that only methods told are bound before `setup` reads them.

    Args:
        block: The lines; those of `setup` first.
        count: How many of them are those of `setup`.
        lines: Their statements.
    """
    ordered = block[:count]
    rest: Block = []
    read = [lines.names(one) for one in ordered]
    for one in reversed(block[count:]):
        bound = _bound_in(one)
        first = next((k for k, found in enumerate(read) if bound and bound & found), None)
        if first is None:
            rest.insert(0, one)
        else:
            ordered.insert(first, one)
            read.insert(first, lines.names(one))
    ordered = _behind_asked([*ordered, *_before_readers(rest, lines)], lines)
    return _behind_loops(ordered, lines)


def _asked(one: Line | Compound, lines: _Lines) -> set[cst.CSTNode]:
    """Return the submodules that lines ask for a size."""
    contents = (each for line in _flat([one]) for each in lines.contents(line))
    return {each.node for each in contents if isinstance(each, Constructed)}


def _behind_asked(block: Block, lines: _Lines) -> Block:
    """Return lines where a submodule is built before what asks it for a size.

    Linen runs the outer constructor of `Dense(1)(Torso()(x))` first.
    """
    ordered = list(block)
    moved: list[Line | Compound] = []
    place = 0
    while place < len(ordered):
        asked = _asked(ordered[place], lines)
        later = [one for one in ordered[place + 1 :] if one not in moved]
        found = next((one for one in later if _builds_one_of(asked, one)), None)
        between = [] if found is None else ordered[place : ordered.index(found)]
        if found is None or any(_locals_in(one) & lines.names(found) for one in _flat(between)):
            place += 1
            continue
        ordered.remove(found)
        ordered.insert(place, found)
        moved.append(found)  # what it asks itself is looked for next
    return ordered


def _builds_one_of(nodes: set[cst.CSTNode], one: Line | Compound) -> bool:
    """Whether a line builds one of some submodules, and may stand elsewhere."""
    site = one.site if isinstance(one, Line) else None
    return site is not None and not site.is_listed and site.node in nodes


def _before_readers(block: Block, lines: _Lines) -> Block:
    """Return lines where a local is bound before what reads it.

    Python evaluates `Dense` before `patches` in `Dense(8)(patches(x))`, where the local is.
    """
    ordered = list(block)
    for one in reversed(block):
        place = ordered.index(one)
        before, bound = ordered[:place], _bound_in(one)
        if any(bound & _locals_in(other) for other in before):
            continue
        first = next((k for k, other in enumerate(before) if bound & lines.names(other)), place)
        made = {name for other in before[first:] for name in lines.attributes(other)}
        if not made & lines.names(one):
            ordered[first : place + 1] = [one, *before[first:]]
    return ordered


def _behind_loops(block: Block, lines: _Lines) -> Block:
    """Return lines where what reads a size that a loop leaves comes behind the loop."""
    ordered = list(block)
    for one in reversed(block):
        if not isinstance(one, Line) or one.local:
            continue
        start = ordered.index(one)
        ends, unbound = lines.loops(one), lines.names(one)
        unbound -= {name for before in ordered[:start] for name in _locals_in(before)}
        behind = [
            place
            for place in range(start + 1, len(ordered))
            if isinstance(ordered[place], Compound)
            and (ends & _loops_in(ordered[place]) or unbound & _locals_in(ordered[place]))
        ]
        if not behind:
            continue
        between = ordered[start + 1 : behind[-1] + 1]
        made = lines.attributes(one)
        used = {name for line in _flat(between) for name in lines.attributes_read(line)}
        place = _place_in_list(one, ordered[:start])
        if (made and not made & used) or place is not None:
            moved = one if place is None else replace(one, place=place)
            ordered[start : behind[-1] + 1] = [*between, moved]
    return ordered


def _loops_in(one: Line | Compound) -> set[int | None]:
    """Return the loops that a statement is or holds."""
    return {each.number for each in _entered([one]) if isinstance(each, Compound)}


def _place_in_list(line: Line, before: Block) -> int | None:
    """Return how many submodules are in a list before one that a line adds; None if not known."""
    name = _filled_by(line)
    if not name or any(
        isinstance(each, Compound) and name in map(_filled_by, _flat([each])) for each in before
    ):
        return None
    return sum(isinstance(each, Line) and _filled_by(each) == name for each in before)


def _filled_by(line: Line) -> str:
    """Return the list that a line adds a submodule to; empty for another line."""
    site = line.site
    return "" if site is None or not site.is_listed else _list_of(site)


def _attributes_of(statement: cst.BaseStatement) -> Iterator[str]:
    """Yield the attributes of the object that a statement assigns."""
    for node in descendants(statement):
        match node:
            case cst.AssignTarget(
                target=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name))
            ):
                yield name


def _locals_in(one: Line | Compound) -> set[str]:
    """Return the locals that lines bind, whatever else they do."""
    if isinstance(one, Line):
        return {name.strip() for name in one.local.split(",") if name.strip()}
    return {name for inner in (*one.body, *one.orelse) for name in _locals_in(inner)}


def _bound_in(one: Line | Compound) -> set[str]:
    """Return the locals that lines bind; empty where they do more than that."""
    if isinstance(one, Line):
        return _locals_in(one)
    found: set[str] = set()
    for inner in (*one.body, *one.orelse):
        bound = _bound_in(inner)
        if not bound and not _is_empty(inner):
            return set()
        found |= bound
    return found


def _is_empty(one: Line | Compound) -> bool:
    """Whether a branch has nothing in it: a submodule takes it, whose constructor has the lines."""
    return isinstance(one, Compound) and all(map(_is_empty, (*one.body, *one.orelse)))


# -- the statements of lines -----------------------------------------------------------------------


def statements_of(block: Block, lines: _Lines) -> list[cst.BaseStatement]:
    """Return the statements of a block, without assignments of locals that nothing reads."""
    read: set[str] = set()
    while True:
        kept = _read(block, lines, read)
        if kept == read:
            return list(_written(block, lines, read))
        read = kept


def _is_kept(line: Line, read: set[str]) -> bool:
    return not line.local or bool(_locals_in(line) & read)


def _read(block: Block, lines: _Lines, read: set[str]) -> set[str]:
    """Return the names that kept lines read, when those in `read` are needed."""
    found = set(read)
    for one in block:
        if isinstance(one, Compound):
            found |= _read(one.body, lines, read) | _read(one.orelse, lines, read)
            if any(_written([one], lines, read)):
                found |= lines.names_of_header(one)
        elif _is_kept(one, read):
            found |= lines.reads(one) if one.local else lines.names(one)
    return found


def _written(block: Block, lines: _Lines, read: set[str]) -> Iterator[cst.BaseStatement]:
    for one in block:
        if isinstance(one, Line):
            if _is_kept(one, read):
                yield from lines.statements(one)
            continue
        body = list(_written(one.body, lines, read))
        orelse = list(_written(one.orelse, lines, read))
        if body or orelse:
            yield _compound(lines.compound(one), body, orelse)


def _compound(
    node: cst.If | cst.For, body: list[cst.BaseStatement], orelse: list[cst.BaseStatement]
) -> cst.BaseStatement:
    if isinstance(node, cst.If) and not body:
        node, body, orelse = node.with_changes(test=negated(node.test)), orelse, []
    node = node.with_changes(body=cst.IndentedBlock(body or [_PASS]))
    match orelse:
        case []:
            return node
        case [cst.If() as chained]:
            return node.with_changes(orelse=chained)
    return node.with_changes(orelse=cst.Else(cst.IndentedBlock(orelse)))


_PASS: Final = cst.SimpleStatementLine([cst.Pass()])


def _read_first(body: Sequence[cst.CSTNode]) -> set[str]:
    """Return the names that statements read before any of them binds them, in their order."""
    read: set[str] = set()
    bound: set[str] = set()
    waiting = list(reversed(body))
    while waiting:
        match waiting.pop():
            case cst.For(target=target, iter=iterable, body=inner, orelse=orelse):
                read |= set(reads_of(iterable)) - bound
                bound.update(names_in(target))
                waiting += [one for one in (orelse, inner) if one is not None]
            case cst.If(test=test, body=inner, orelse=orelse):
                read |= set(reads_of(test)) - bound
                waiting += [one for one in (orelse, inner) if one is not None]
            case cst.Else(body=inner):
                waiting.append(inner)
            case cst.IndentedBlock(body=inner):
                waiting += reversed(inner)
            case statement:
                loops = [one for one in descendants(statement) if isinstance(one, cst.CompFor)]
                within = {name for one in loops for name in names_in(one.target)}
                read |= set(reads_of(statement)) - bound - within
                bound.update(bound_in(statement))
    return read


class Printing:
    """Writes the constructor of one module."""

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
        self._names: dict[cst.CSTNode, str] = {}

    def run(self) -> None:
        """Write the lines of the constructor into the plan."""
        self._names = self._names_in_setup()
        consume_within(self._plan.sites)
        functions = [one.function for one in self._plan.log.of(BuildAtCall)]
        aside = {below for one in functions for below in descendants(one)}
        for site in self._plan.sites:
            if site.is_nested and site.node in aside:
                continue
            code = self._calls.constructor(site) if site.is_verbatim else site.reference
            if code.startswith("self."):
                code = site.owner + code.removeprefix("self")
            if code:
                self._recorder.replace(site.node, code)
        declared = self._plan.log.of(Declare)
        later = [Line(f"self.{one.attribute} = {one.later}") for one in declared if one.later]
        setup = [*self._recorder.setup, *later]
        block = [*self._containers(), *self._recorder.block]
        self._run_sizes(setup)
        self._run_sizes(block)
        lines = _Lines(self._spelled, self._slots)
        block = in_order([*setup, *block], len(setup), lines)
        self._mark_unordered(block, lines)
        body = statements_of(block, lines)
        within = [one for one in self._contents_of(body) if isinstance(one, Site) and one.is_listed]
        if within:
            # Others are constructed with them: they have a name until they are in their list.
            self._locals = {
                site: self._recorder.fresh(snake_case(site.class_name)) for site in within
            }
            body = statements_of(block, _Lines(self._spelled, self._slots))
        self._lifting.need(one for one in self._contents_of(body) if isinstance(one, Dim))
        body = [self._slots.filled(one, self._in_constructor) for one in body]
        self._plan.lifted = [
            *self._lifting.lifted,
            *self._calls.missing.unknown.values(),
            *self._recorder.traced.values(),
            *self._unbound(body),
        ]
        if self._recorder.uses_rngs:
            body.insert(0, cst.parse_statement("self.rngs = rngs"))
        self._plan.init = body

    def _contents_of(self, body: list[cst.BaseStatement]) -> Iterator[Content]:
        return (content for one in body for content in self._slots.within(one))

    def _mark_unordered(self, block: Block, lines: _Lines) -> None:
        """Mark what is built before a submodule that it asks for a size, or with it."""
        built: set[cst.CSTNode] = set()
        sites = {site.node for site in self._plan.sites}
        waiting = {number for one in block for number in _loops_in(one)}
        for one in _entered(block):
            if isinstance(one, Compound):
                waiting.discard(one.number)
                continue
            within = set() if one.statement is None else {*descendants(one.statement)}
            if one.statement is not None and _asked(one, lines) & sites & within:
                message = "the size of an input is that of a submodule which is built with it"
                self._recorder.mark(one.statement, message, SIZE)
            if one.site is None:
                continue
            if _asked(one, lines) - built or lines.loops(one) & waiting:
                message = "the size of its input is that of a submodule which is built later"
                self._recorder.mark(one.site.node, message, SIZE)
            built.add(one.site.node)

    def _unbound(self, body: Sequence[cst.BaseStatement]) -> Iterator[Lifted]:
        """Yield parameters for sizes that run in loops, where no statement gives them before."""
        known = {one.name for one in self._lifting.lifted} | {
            one.name for one in self._plan.cls.fields()
        }
        running = {name for name in self._recorder.locals if _RUNNING.search(name)}
        for name in sorted((running - known) & _read_first(body)):
            why = f"the code does not tell a size that runs in a loop: give `{name}`"
            self._recorder.mark(self._plan.cls.node, why, SIZE)
            yield Lifted(name, why=why)

    def _in_constructor(self, content: Content) -> str:
        """Return the expression for a size or a submodule in the constructor."""
        match content:
            case Dim():
                return content.code(self._lifting.spelled)
            case Site():
                return self._locals.get(content) or content.reference or "None"
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
        if len(targets) == 1 and not any(
            site.is_bridged or site.code or site.alternatives for site in sites
        ):
            (target,) = targets
            layer = find_layer(target) if isinstance(target, str) else None
            if layer is not None and layer.nnx:
                item = refer(layer.nnx) if layer.nnx.startswith("nnx.") else layer.nnx
            elif isinstance(target, LinenClass):
                item = refer(target.public)
        kind = refer(container)
        return Line(f"self.{name}: {kind}[{item}] = {kind}({literal})")

    # -- lines --------------------------------------------------------------------------------

    def _spelled(self, line: Line) -> list[cst.BaseStatement]:
        site, statement = line.site, line.statement
        if site is not None and site.is_shared:
            return []
        if site is not None and site in self._locals:
            name, local = site.attribute.partition(".")[0], self._locals[site]
            code = self._calls.constructor(site)
            return _parsed(f"{local} = {code}", f"self.{name}.append({local})")
        if site is not None:
            caches = cache_lines(site, self._recorder, self._executor.code)
            return _parsed(self._assignment(site, line.place), *caches)
        if statement is None:
            return _parsed(line.text)
        if statement in self._plan.dropped:
            return []
        sites = self._plan.sites
        caches = caches_in(statement, sites, self._recorder, self._executor.code)
        return [self._statement(statement), *_parsed(*caches)]

    def _names_in_sizes(self, *nodes: cst.CSTNode) -> set[str]:
        """Return the names in the sizes that stand in code."""
        dims = (one for node in nodes for one in self._slots.within(node))
        return {name for dim in dims for code in pieces_of(dim) for name in names_of(parsed(code))}

    def _assignment(self, site: Site, place: int | None) -> str:
        code = self._calls.constructor(site)
        if site.is_default:
            name = site.attribute
            return f"self.{name} = {code} if {name} is None else {name}"
        if site.is_listed:
            how = "append(" if place is None else f"insert({place}, "
            return f"self.{_list_of(site)}.{how}{code})"
        if "{" in site.attribute:
            return f"self.{_list_of(site)}[{site.name_code}] = {code}"
        return f"self.{site.attribute} = {code}"

    def _statement(self, node: cst.BaseStatement) -> cst.BaseStatement:
        """Return a statement of `setup`: lists of submodules are lists of NNX."""
        after = written_with(node, {**self._written, **self._wrapped(node)})
        above: Sequence[cst.EmptyLine] = getattr(after, "leading_lines", ())
        return after.with_changes(
            leading_lines=[*dropwhile(lambda one: one.comment is None, above)]
        )

    @property
    def _written(self) -> dict[cst.CSTNode, str]:
        """What is written for parts of `setup`, with the names of NNX for those of Linen."""
        return {**self._names, **self._plan.replacements}

    def _names_in_setup(self) -> dict[cst.CSTNode, str]:
        found: dict[cst.CSTNode, str] = {}
        for cls in self._plan.cls.ancestry():
            for name in MOVED_METHODS & cls.own_methods.keys():
                for node, public in names_in_nnx(cls.own_methods[name].node.body, cls.analysis):
                    if find_layer(linen_name(node, cls.analysis)) is None:
                        found[node] = self._executor.refer(public)
        return found

    def _wrapped(self, node: cst.BaseStatement) -> dict[cst.CSTNode, str]:
        found = assigned_container(node)
        instance = self._recorder.instance
        modules: set[cst.CSTNode] = {site.node for site in self._plan.sites}
        if found is not None:
            modules |= {*self._modules_in(found[0])}
        if found is None or not holds(found[0], modules):
            written = self._written
            refer = self._executor.refer
            return (
                {}
                if instance is None
                else held_values(node, instance, lambda one: code_with(one, written), refer)
            )
        code = wrapped(found[0], self._written, modules, self._executor.refer)
        return {found[0]: code}

    def _modules_in(self, node: cst.BaseExpression) -> Iterator[cst.CSTNode]:
        """Yield what stands for submodules below an expression: attributes and locals that hold some."""
        instance = self._recorder.instance
        attributes = {} if instance is None else instance.attributes
        every = [node, *descendants(node)]
        inner = {one.value for one in every if isinstance(one, cst.Attribute)}
        inner |= {one.func for one in every if isinstance(one, cst.Call)}
        for one in every:
            match one:
                case cst.Attribute(cst.Name(), cst.Name(value=name)) if one not in inner:
                    if sites_in(attributes.get(name, UNKNOWN)):
                        yield one
                case cst.Name(value=name) if one not in inner:
                    if name in self._recorder.built_locals.values():
                        yield one

    # -- sizes that run -----------------------------------------------------------------------

    def _run_sizes(self, block: list[Line | Compound]) -> None:
        """Write the sizes that run through lists of submodules where the lists are made."""
        by_loop: dict[int, list[tuple[Piece, Change]]] = {}
        for piece, change in self._changes().items():
            if change.loop is not None:
                for number in (change.loop, *change.also):
                    if self._runs_in(number, change):
                        by_loop.setdefault(number, []).append((piece, change))
        if by_loop:
            self._run_in(block, by_loop)

    def _runs_in(self, number: int, change: Change) -> bool:
        """Whether a size runs in a loop: not where one in step runs it, and nothing here reads it."""
        sites = [site for site in self._plan.sites if number in site.loops]
        is_always = all(site.is_verbatim and not site.conditions for site in sites)
        if number == change.loop or not is_always:
            return True
        written = self._plan.replacements
        others = (one for one in self._plan.log.of(Change) if one.piece != change.piece)
        updates = [self._slots.name(one.update) for one in others if number in one.also]
        codes = [written[site.node] for site in sites if site.node in written]
        return change.piece.code in self._names_in_sizes(*map(parsed, (*codes, *updates)))

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
        codes = [
            (one.code, self._slots.name(change.update))
            for one, change in running
            if change.update != as_dim(one)
        ]
        locals_ = {local for local, _ in codes}
        if any(self._names_in_sizes(parsed(code)) & locals_ - {local} for local, code in codes):
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
        if line.statement is None:
            return
        found = _filled(line.statement)
        if found is None:
            within = of_kinds(descendants(line.statement), cst.ListComp, cst.GeneratorExp)
            for one in within if by_loop else ():
                if isinstance(one, cst.BaseExpression) and self._runs(one, by_loop):
                    self._mark_running(self._sites_in(one))
            return
        owner, parts = found
        is_loop = [self._runs(part, by_loop) for part in parts]
        if not any(is_loop):
            return
        target = code_of(owner)
        sites: dict[cst.CSTNode, object] = {one.node: one for one in self._plan.sites}
        lines: list[Line | Compound] = []

        def code_of_part(node: cst.BaseExpression) -> str:
            return wrapped(node, self._written, sites, self._executor.refer)

        for part, runs in zip(parts, is_loop, strict=True):
            if isinstance(part, cst.List | cst.Tuple) and lines:
                items = [code_of_part(one.value) for one in part.elements]
                lines += [Line(f"{target}.append({item})") for item in items]
                continue
            if not runs or not isinstance(part, cst.ListComp | cst.GeneratorExp):
                lines.append(Line(f"{target} {'+=' if lines else '='} {code_of_part(part)}"))
                continue
            loops = self._of_comprehension(part, target, by_loop)
            if loops is None:
                return
            lines += loops[bool(lines) :]
        block[position : position + 1] = lines

    def _runs(
        self, node: cst.BaseExpression, by_loop: Mapping[int, list[tuple[Piece, Change]]]
    ) -> bool:
        """Whether sizes run through the submodules that a comprehension makes."""
        if not isinstance(node, cst.ListComp | cst.GeneratorExp):
            return False
        sites = self._sites_in(node)
        numbers = {number for site in sites for number in site.loops}
        running = [one for number in numbers for one in by_loop.get(number, ())]
        written = (self._plan.replacements.get(site.node) for site in sites)
        codes = [parsed(code) for code in written if code is not None]
        used = self._names_in_sizes(*codes) | self._used_outside(running)
        return any(piece.code in used for piece, _ in running)

    def _sites_in(self, node: cst.CSTNode) -> list[Site]:
        within = set(descendants(node))
        return [site for site in self._plan.sites if site.node in within]

    def _of_comprehension(
        self,
        comprehension: cst.ListComp | cst.GeneratorExp,
        target: str,
        by_loop: Mapping[int, list[tuple[Piece, Change]]],
    ) -> list[Line | Compound] | None:
        """Return the lines that fill a list in the place of a comprehension; None with a marker."""
        sites = self._sites_in(comprehension)
        inner = {site.loops[-1:] for site in sites}
        if len(inner) != 1 or isinstance(comprehension.elt, cst.BaseComp):
            self._mark_running(sites)
            return None
        running = by_loop.get(sites[0].loops[-1], [])
        nodes: dict[cst.CSTNode, Site] = {one.node: one for one in sites}
        first, header, append = as_loop(
            comprehension, target, self._written, nodes, self._executor.refer
        )
        entries: list[Line | Compound] = [
            Line(f"{piece.code} = {self._slots.name(change.entry)}", piece.code)
            for piece, change in running
        ]
        body = [Line(append), *self._updates(running)]
        return [Line(first), *entries, Compound(header, body)]

    def _mark_running(self, sites: Sequence[Site]) -> None:
        """Mark submodules whose sizes run in a list that is not written as a loop."""
        for site in sites:
            self._recorder.mark(site.node, "sizes run in a list of several loops", SIZE)

    def _used_outside(self, running: list[tuple[Piece, Change]]) -> set[str]:
        """Return the names of sizes that other loops begin with, or later lines have."""
        others = self._changes().items() - set(running)
        codes = [self._slots.name(change.entry) for _, change in others]
        lines = [one.text for one in self._recorder.block if isinstance(one, Line)]
        statements = [node for text in lines for node in _parsed(text)]
        nodes = map(parsed, (*codes, *self._plan.replacements.values()))
        return self._names_in_sizes(*statements, *nodes)


def _filled(
    node: cst.BaseStatement,
) -> tuple[cst.BaseExpression, list[cst.BaseExpression]] | None:
    """Return what a statement fills with lists: its target, and them."""
    match node:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Attribute() | cst.Name() as target), *_],
                    value=value,
                )
            ]
        ):
            parts = list(summed(value))
            return (target, parts) if all(isinstance(one, _LISTS) for one in parts) else None
    return None


_LISTS: Final = (cst.ListComp, cst.GeneratorExp, cst.List, cst.Tuple)


def _is_update(line: Line | Compound) -> bool:
    return isinstance(line, Line) and line.is_update
