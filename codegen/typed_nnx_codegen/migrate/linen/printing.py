"""Writes the constructor of a module: the submodules with their sizes, and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.classes import LinenClass
from typed_nnx_codegen.migrate.linen.containers import as_loop, assigned_container, holds, wrapped
from typed_nnx_codegen.migrate.linen.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.frames import Change, Compound, Line, Recorder
from typed_nnx_codegen.migrate.linen.layers import (
    Built,
    Helper,
    Inputs,
    MissingWidth,
    Refused,
    find_layer,
)
from typed_nnx_codegen.migrate.linen.lifting import Lifting
from typed_nnx_codegen.migrate.linen.liveness import text_of
from typed_nnx_codegen.migrate.linen.marker_codes import CALL, COUNTERPART, SIZE
from typed_nnx_codegen.migrate.linen.module_calls import given_of
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Lifted, Site
from typed_nnx_codegen.migrate.linen.replacing import code_with
from typed_nnx_codegen.migrate.linen.values import (
    UNKNOWN,
    Array,
    Lead,
    Sequence,
    Shape,
    Table,
    Value,
)

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor
    from typed_nnx_codegen.migrate.linen.naming import Naming


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
        self._templates = recorder.templates
        self._unknown: dict[str, Lifted] = {}
        self.helpers: list[Helper] = []

    def run(self) -> None:
        """Write the lines of the constructor into the plan."""
        for site in self._plan.sites:
            code = self.constructor(site) if site.is_verbatim else site.reference
            if code:
                self._plan.replacements[site.node] = code
        block = [*self._recorder.setup, *self._containers(), *self._recorder.block]
        self._run_sizes(block)
        lines = text_of(block, self._spelled, self._names_in)
        text = self._templates.with_sites("\n".join(lines), lambda site: site.reference)
        dims = self._templates.dims_in(text)
        shapes = self._templates.leads_in(text)
        self._lifting.need(dims, shapes, self._templates.given_in(text))
        text = self._templates.filled(text, lambda dim: dim.code(self._lifting.spelled))
        text = self._templates.with_leads(text, self._lifting.shape_name)
        text = self._templates.with_given(text, self._lifting.shape_name)
        self._plan.lifted = [*self._lifting.lifted, *self._unknown.values()]
        self._plan.init = text.split("\n") if text else []
        if self._recorder.uses_rngs:
            self._plan.init.insert(0, "self.rngs = rngs")
        self._plan.helpers = tuple(dict.fromkeys(self.helpers))

    def _containers(self) -> list[Line | Compound]:
        lists = [
            Line(f"self.{name} = {self._executor.refer('nnx.List')}([])") for name in self._naming.lists
        ]
        tables = [
            Line(f"self.{name} = {self._executor.refer('nnx.Dict')}({{}})")
            for name in self._naming.tables
        ]
        return [*lists, *tables]

    # -- lines --------------------------------------------------------------------------------

    def _spelled(self, line: Line) -> list[str]:
        if line.site is not None:
            return [self._assignment(line.site)]
        if line.statement is not None:
            return self._statement(line.statement)
        assert isinstance(line.text, str)
        return [line.text]

    def _names_in(self, code: str) -> Iterator[str]:
        """Yield the names in the sizes that stand in a piece of code."""
        for dim in self._templates.dims_in(code):
            for atom in dim.atoms():
                if isinstance(atom, Piece):
                    yield from re.findall(r"[A-Za-z_]\w*", atom.code)

    def _assignment(self, site: Site) -> str:
        code = self.constructor(site)
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
        if found is None:
            return {}
        sites = {site.node: site for site in self._plan.sites}
        if not holds(found[0], sites):
            return {}
        code = wrapped(found[0], self._plan.replacements, sites, self._executor.refer)
        return {found[0]: code}

    # -- sizes that run -----------------------------------------------------------------------

    def _run_sizes(self, block: list[Line | Compound]) -> None:
        """Write the sizes that run through lists of submodules where the lists are made."""
        by_loop: dict[int, list[tuple[Piece, Change]]] = {}
        for piece, change in self._recorder.changes.items():
            if change.loop is not None:
                by_loop.setdefault(change.loop, []).append((piece, change))
        if by_loop:
            self._run_in(block, by_loop)

    def _run_in(
        self, block: list[Line | Compound], by_loop: dict[int, list[tuple[Piece, Change]]]
    ) -> None:
        for position, one in reversed(list(enumerate(block))):
            if isinstance(one, Line):
                self._unrolled_comprehension(block, position, one, by_loop)
                continue
            self._run_in(one.body, by_loop)
            self._run_in(one.orelse, by_loop)
            running = by_loop.get(one.number) if one.number is not None else None
            for piece, change in running or ():
                entry, update = (
                    self._templates.token(dim) for dim in (change.entry, change.update)
                )
                one.body.append(Line(f"{piece.code} = {update}", piece.code))
                block.insert(position, Line(f"{piece.code} = {entry}", piece.code))

    def _unrolled_comprehension(
        self,
        block: list[Line | Compound],
        position: int,
        line: Line,
        by_loop: dict[int, list[tuple[Piece, Change]]],
    ) -> None:
        """Write a comprehension as a loop where the sizes of its submodules run."""
        found = assigned_container(line.statement) if line.statement is not None else None
        if found is None or not isinstance(found[0], (cst.ListComp, cst.GeneratorExp)):
            return
        comprehension, assign = found
        within = set(descendants(comprehension))
        sites = [site for site in self._plan.sites if site.node in within]
        numbers = {number for site in sites for number in site.loops}
        running = [one for number in numbers for one in by_loop.get(number, ())]
        text = " ".join(self._plan.replacements[site.node] for site in sites)
        used = set(self._names_in(text))
        needed = [(piece, change) for piece, change in running if piece.code in used]
        if not needed:
            return
        item = code_with(comprehension.elt, self._plan.replacements)
        target = code_of(assign.targets[0].target)
        first, header, append = as_loop(comprehension, target, item, self._executor.refer)
        body: list[Line | Compound] = [Line(append)]
        lines: list[Line | Compound] = [Line(first)]
        for piece, change in needed:
            lines.append(Line(f"{piece.code} = {self._templates.token(change.entry)}", piece.code))
            body.append(Line(f"{piece.code} = {self._templates.token(change.update)}", piece.code))
        block[position : position + 1] = [*lines, Compound(header, body)]

    # -- submodules ---------------------------------------------------------------------------

    def constructor(self, site: Site) -> str:
        """Return the call that constructs a submodule, a template."""
        return self._templates.with_sites(
            self._constructor(site),
            lambda inner: (
                self.constructor(inner)
                if inner.is_nested
                else self._templates.site_token(inner)
            ),
        )

    def _constructor(self, site: Site) -> str:
        if isinstance(site.target, LinenClass):
            return self._of_class(site, site.target)
        layer = find_layer(site.target)
        assert layer is not None
        given = given_of(site)
        built: Built | Refused | MissingWidth = layer.build(given, None)
        for values in self._inputs(site):
            built = layer.build(given, Inputs(values))
            if isinstance(built, Built):
                break
        if isinstance(built, Refused):
            self._recorder.mark(site.node, f"{built.why} {built.fix}", COUNTERPART)
            return f"{site.code or self._executor.refer(layer.nnx)}(...)"
        self._check(site)
        if isinstance(built, MissingWidth):
            return self._without_width(site, built)
        hidden = {name for name, one in site.given.items() if one.hidden}
        arguments = [
            argument.spelled(self._templates.token)
            for argument in built.arguments
            if argument.keyword not in hidden
        ]
        self.helpers += built.helpers
        if built.takes_rngs:
            arguments.append(f"rngs={self._recorder.rngs}")
        name = site.code or (
            self._executor.refer(built.cls) if built.cls.startswith("nnx.") else built.cls
        )
        return f"{name}({', '.join(arguments)})"

    def _without_width(self, site: Site, missing: MissingWidth) -> str:
        layer = find_layer(str(site.target))
        assert layer is not None
        name = self._missing(site, missing.parameter)
        stand_in = Array(Shape(tuple(_piece(name) for _ in range(8))))
        parameters = [one.linen for one in layer.calls.get("__call__", ())]
        built = layer.build(given_of(site), Inputs(dict.fromkeys(parameters, stand_in)))
        if not isinstance(built, Built):
            return f"{self._executor.refer(layer.nnx)}(...)"
        hidden = {key for key, one in site.given.items() if one.hidden}
        arguments = [
            argument.spelled(self._templates.token)
            for argument in built.arguments
            if argument.keyword not in hidden
        ]
        if built.takes_rngs:
            arguments.append(f"rngs={self._recorder.rngs}")
        return f"{site.code or self._executor.refer(built.cls)}({', '.join(arguments)})"

    def _missing(self, site: Site, parameter: str) -> str:
        prefix = re.sub(r"\W+", "_", site.attribute.replace("{i}", "")).strip("_")
        key = f"{prefix}_{parameter}"
        if key not in self._unknown:
            why = "the code does not tell the shape that it is called with"
            self._unknown[key] = Lifted(key, why=why)
            self._recorder.mark(
                site.node,
                f"the size of its input is not known: give `{key}`, or run with --example",
                SIZE,
            )
        return key

    def _check(self, site: Site) -> None:
        if site.is_open:
            self._recorder.mark(site.node, "some of its arguments are not known: `**`", CALL)
        for name, bound in site.given.items():
            if bound.code is None and name != "name":
                layer = find_layer(site.target) if isinstance(site.target, str) else None
                if layer is None or name not in layer.movable:
                    self._recorder.mark(
                        site.node, f"`{name}` depends on what the method is called with", CALL
                    )

    def _inputs(self, site: Site) -> list[dict[str, Value]]:
        ordered = sorted(site.calls, key=lambda call: call[0] != "__call__")
        return [
            {name: self._visible(value, site) for name, value in values.items()}
            for _, _, values in ordered
        ]

    def _visible(self, value: Value, site: Site) -> Value:
        """Return a value without the sizes that cannot be said where a submodule is constructed."""
        match value:
            case Array(shape=shape):
                dims = tuple(self._if_visible(dim, site) for dim in shape.dims)
                return replace(value, shape=Shape(dims, shape.lead))
            case Sequence(items=items):
                return replace(value, items=tuple(self._visible(one, site) for one in items))
            case Table(items=items):
                return Table({key: self._visible(one, site) for key, one in items.items()})
        return value

    def _if_visible(self, dim: Dim | None, site: Site) -> Dim | None:
        if dim is None:
            return None
        homes = ("", self._plan.cls.home, *(f"loop{number}" for number in site.loops))
        for atom in dim.atoms():
            if isinstance(atom, Piece) and atom.home not in homes:
                return None
        return dim

    # -- modules of the project ---------------------------------------------------------------

    def _of_class(self, site: Site, cls: LinenClass) -> str:
        self._check(site)
        arguments: list[str] = []
        for name, one in site.given.items():
            if one.hidden or name == "name" or one.code is None:
                continue
            arguments.append(f"{name}={one.code}" if one.keyword else one.code)
        if cls is self._plan.cls:
            self._recorder.mark(site.node, "the module contains itself")
        child = self._executor.plan_of(cls)
        for lifted in child.lifted:
            if not (lifted.is_optional and _is_absent(site, lifted)):
                arguments.append(f"{lifted.name}={self._lifted(site, cls, lifted)}")
        arguments.append(f"rngs={self._recorder.rngs}")
        name = site.code or self._class_code(site, cls)
        return f"{name}({', '.join(arguments)})"

    def _class_code(self, site: Site, cls: LinenClass) -> str:
        func = site.node.func
        code = self._executor.code_of_class(func, cls, self._plan)
        return code

    def _lifted(self, site: Site, cls: LinenClass, lifted: Lifted) -> str:
        """Return what a submodule's lifted parameter is given."""
        for root, method, values in sorted(site.calls, key=lambda call: call[0] != "__call__"):
            if method != lifted.method and lifted.argument:
                continue
            del root
            value = _part(values, lifted.argument)
            if not isinstance(value, Array):
                continue
            visible = self._visible(value, site)
            assert isinstance(visible, Array)
            if lifted.axis is not None:
                dim = visible.shape.axis(lifted.axis)
                if dim is not None:
                    return self._templates.token(dim)
            else:
                return self._shape(visible.shape)
        return self._missing(site, lifted.name)

    def _shape(self, shape: Shape) -> str:
        parts = ["None" if dim is None else self._templates.token(dim) for dim in shape.dims]
        if shape.lead is not None and shape.lead.argument:
            parts.insert(0, f"*{self._templates.lead_token(shape.lead)}")
        inner = ", ".join(parts)
        return f"({inner},)" if len(parts) == 1 else f"({inner})"


def _piece(name: str) -> Dim:
    return as_dim(Piece(name))


def _is_absent(site: Site, lifted: Lifted) -> bool:
    """Whether no call of a submodule gives an argument that may be None."""
    return not any(
        isinstance(_part(values, lifted.argument), Array)
        for _, method, values in site.calls
        if method == lifted.method
    )


def _part(values: dict[str, Value], path: str) -> Value:
    """Return the value at a path over the arguments of a call: ``batch['image']``."""
    if not path:
        return UNKNOWN
    first, *rest = re.findall(r"\w+|\[[^\]]*\]", path)
    value = values.get(first, UNKNOWN)
    for key in rest:
        match value:
            case Sequence(items=items) if key.startswith("["):
                position = key[1:-1]
                is_there = position.isdigit() and int(position) < len(items)
                value = items[int(position)] if is_there else UNKNOWN
            case Table(items=table):
                name = key[1:-1].strip("'\"") if key.startswith("[") else key
                value = table.get(name, UNKNOWN)
            case Array(origin=origin) if origin:
                inner = f"{origin}{key if key.startswith('[') else '.' + key}"
                value = Array(Shape((), Lead(inner, None)), origin=inner)
            case _:
                return UNKNOWN
    return value
