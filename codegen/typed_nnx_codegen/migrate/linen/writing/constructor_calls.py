"""Writes the calls that construct submodules, with the sizes of their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.layers import (
    Built,
    Helper,
    Inputs,
    MissingWidth,
    Refused,
    find_layer,
)
from typed_nnx_codegen.migrate.linen.lists.size_lists import CodedList, SizedList
from typed_nnx_codegen.migrate.linen.marker_codes import (
    CALL,
    COUNTERPART,
    EXAMPLE,
    NAME,
    STAYS,
    TRANSFORM,
)
from typed_nnx_codegen.migrate.linen.modules.class_choices import chosen_constructor
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.modules.field_facts import optional_fields
from typed_nnx_codegen.migrate.linen.plan import HIDDEN, Bound, ClassPlan, Lifted, Site, given_of
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.given_on_condition import given_when
from typed_nnx_codegen.migrate.linen.running.given_parts import is_absent, part_at
from typed_nnx_codegen.migrate.linen.running.input_dtypes import SETTING, follows_inputs, typed
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Array,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import Atom, Dim, Piece
from typed_nnx_codegen.migrate.linen.sizes.fitting import Measured
from typed_nnx_codegen.migrate.linen.sizes.given_numbers import number_of
from typed_nnx_codegen.migrate.linen.sizes.lifting import Lifting
from typed_nnx_codegen.migrate.linen.sizes.measuring import disagreement, measured_widths, stand_in
from typed_nnx_codegen.migrate.linen.sizes.missing_sizes import (
    MissingSizes,
    mark_widths,
    of_argument,
    within,
)
from typed_nnx_codegen.migrate.linen.sizes.unsaid_shapes import as_read, is_enough
from typed_nnx_codegen.migrate.linen.staying.bridging import (
    bridged,
    changes_variables,
    class_code,
    first_inputs,
)
from typed_nnx_codegen.migrate.linen.transforms.constructing import stacked
from typed_nnx_codegen.migrate.linen.transforms.lifts import Unsupported
from typed_nnx_codegen.migrate.linen.transforms.state import collections_of

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.running.executor import Executor


class ConstructorCalls:
    """Writes the calls that construct the submodules of one module.

    Args:
        recorder: What was seen of the module.
        executor: What went through it.
        lifting: The sizes that callers give.

    Attributes:
        missing: The sizes that the code does not tell.
        helpers: The definitions that the calls need.
    """

    def __init__(self, recorder: Recorder, executor: Executor, lifting: Lifting) -> None:
        self._recorder = recorder
        self._lifting = lifting
        self._executor = executor
        self._plan: ClassPlan = recorder.plan
        self._templates = recorder.templates
        self.missing = MissingSizes(recorder, executor.recorded, lifting)
        self.helpers: list[Helper] = []

    # -- submodules ---------------------------------------------------------------------------

    def constructor(self, site: Site) -> str:
        """Return the call that constructs a submodule, a template."""
        code = self._one_constructor(site)
        codes = [(site, code)]
        for other in site.alternatives:
            other.attribute, other.is_verbatim = site.attribute, site.is_verbatim
            codes.append((other, self._one_constructor(other)))
        if all(one == code for _, one in codes):
            return code
        chosen = chosen_constructor(codes, self._recorder, self._executor.refer)
        if chosen is None:
            message = f"the classes that `{site.code}` may be are constructed differently"
            self._recorder.mark(site.node, message)
        return chosen or code

    def _one_constructor(self, site: Site) -> str:
        return self._templates.with_sites(
            self._stacked(site, self._constructor(site)),
            lambda inner: (
                self.constructor(inner) if inner.is_nested else self._templates.site_token(inner)
            ),
        )

    def _stacked(self, site: Site, code: str) -> str:
        """Return the code of a submodule under the transforms that run it more than once."""
        if not site.transforms and not site.stacks:
            return code
        try:
            return stacked(
                code,
                site,
                collections_of(site, self._executor.plan_of),
                rngs=self._recorder.rngs,
                token=self._templates.token,
                refer=self._executor.refer,
            )
        except Unsupported as error:
            self._recorder.mark(site.node, str(error), TRANSFORM)
            return code

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
            gradual = self._executor.gradual
            if gradual is not None and gradual.wraps_layers:
                return self._bridged(site)
            self._recorder.mark(site.node, f"{built.why} {built.fix}", COUNTERPART)
            known = self._executor.refer(layer.nnx) if layer.nnx else code_of(site.node.func)
            return f"{site.code or known}(...)"
        self._check(site)
        mark_widths(site, self._recorder)
        if isinstance(built, MissingWidth):
            return self._without_width(site, built)
        problem = disagreement(layer, given, built, self.missing.sure_calls(site))
        if problem:
            self._recorder.mark(site.node, problem, EXAMPLE)
        return self._call(site, built)

    def _bridged(self, site: Site) -> str:
        """Return the code of a submodule that stays in Linen."""
        gradual = self._executor.gradual
        assert gradual is not None
        self._check(site)
        refer = self._executor.refer
        name = class_code(site, self._plan.cls)
        inputs = first_inputs(
            site, lambda value: self._visible(value, site), self._templates, refer
        )
        if name is None or inputs is None or site.transforms:
            message = "it stays in Linen; the shapes that it is initialised with are not known"
            self._recorder.mark(site.node, message, STAYS)
        site.is_bridged = True
        site.updates = changes_variables(
            site, {cls: kept.updates for cls, kept in gradual.kept.items()}
        )
        return bridged(name or site.class_name, site, inputs, self._recorder.rngs, refer)

    def _call(self, site: Site, built: Built) -> str:
        """Return the call that constructs a layer."""
        hidden = {name for name, one in site.given.items() if one.hidden}
        built = typed(site, built, self._recorder)
        arguments = [
            argument.spelled(self._templates.token)
            for argument in built.arguments
            if argument.keyword not in hidden and argument.code != HIDDEN
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
        given = given_of(site)
        measured = measured_widths(layer, given, self.missing.calls(site))
        size = self.missing.size(site, missing.parameter, measured)
        built = layer.build(given, stand_in(layer, size))
        if not isinstance(built, Built):
            return f"{self._executor.refer(layer.nnx)}(...)"
        return self._call(site, built)

    def _check(self, site: Site) -> None:
        if site.is_open:
            self._recorder.mark(site.node, "some of its arguments are not known: `**`", CALL)
        for name, bound in site.given.items():
            is_known = bound.code is not None or name == "name"
            if name == SETTING and follows_inputs(site, self._recorder):
                continue
            if not is_known and not self._executor.facts.is_moved(site.target, name):
                self._recorder.mark(
                    site.node, f"`{name}` depends on what the method is called with", CALL
                )

    def _inputs(self, site: Site) -> list[dict[str, Value]]:
        return [
            {name: self._visible(value, site) for name, value in values.items()}
            for _, _, values in self._ordered(site)
        ]

    def _ordered(self, site: Site) -> list[tuple[str, str, dict[str, Value]]]:
        """Return the calls of a submodule: last those with arguments that may not be given."""

        def rank(call: tuple[str, str, dict[str, Value]]) -> tuple[bool, bool]:
            first = next(iter(call[2].values()), UNKNOWN)
            dims = first.shape.expanded(1).dims[-1:] if isinstance(first, Array) else ()
            asked = [atom for dim in dims if dim is not None for atom in dim.atoms()]
            return call[0] != "__call__", any(self._lifting.may_be_none(atom) for atom in asked)

        return sorted(site.calls, key=rank)

    def _visible(self, value: Value, site: Site) -> Value:
        """Return a value without the sizes that cannot be said where a submodule is constructed."""
        match value:
            case Array(shape=shape):
                dims = tuple(self._if_visible(dim, site) for dim in shape.dims)
                return replace(value, shape=Shape(dims, shape.lead))
            case Seq(items=items):
                return replace(value, items=tuple(self._visible(one, site) for one in items))
            case Table(items=items):
                return Table({key: self._visible(one, site) for key, one in items.items()})
        return value

    def _if_visible(self, dim: Dim | None, site: Site) -> Dim | None:
        if dim is None:
            return None
        homes = ("", self._plan.cls.home, *(f"loop{number}" for number in site.loops))
        # One submodule takes all items of a list: they have the size of the first one.
        first = self._recorder.first_sizes
        shared: dict[Atom, Dim] = {
            atom: first[atom]
            for atom in dim.atoms()
            if isinstance(atom, Piece) and atom.home not in homes and atom in first
        }
        dim = dim.replaced(shared)
        for atom in dim.atoms():
            if isinstance(atom, Piece) and atom.home not in homes:
                return None
        return dim

    # -- modules of the project ---------------------------------------------------------------

    def _of_class(self, site: Site, cls: LinenClass) -> str:
        self._check(site)
        arguments: list[str] = []
        for name, one in site.given.items():
            if one.hidden or name == "name":
                continue
            if one.code is None:
                arguments += self._at_calls(cls, name, one)
                continue
            arguments.append(f"{name}={one.code}" if one.keyword else one.code)
        if self._executor.gradual is not None and self._executor.plan_of(cls).stays:
            return self._bridged(site)
        if cls is self._plan.cls:
            self._recorder.mark(site.node, "the module contains itself")
        child = self._executor.plan_of(cls)
        self._check_defaults(site, cls, child)
        for lifted in child.lifted:
            if lifted.default and not lifted.argument:
                continue
            if not (lifted.is_optional and is_absent(site, lifted)):
                arguments.append(f"{lifted.name}={self._lifted(site, cls, lifted)}")
        arguments.append(f"rngs={self._recorder.rngs}")
        name = site.code or self.class_code(site, cls)
        return f"{name}({', '.join(arguments)})"

    def _check_defaults(self, site: Site, cls: LinenClass, child: ClassPlan) -> None:
        """Mark modules that share the default of a field: in Linen that is one object."""
        missing = [name for name in child.built if name not in site.given and not site.is_open]
        same = [one for one in self._plan.sites if one.target is cls]
        if missing and (len(same) > 1 or site.loops):
            self._recorder.mark(
                site.node,
                f"all `{cls.name}` share the default of `{missing[0]}` in Linen,"
                " and each has its own here: give it where they are constructed",
                NAME,
            )

    def _at_calls(self, cls: LinenClass, name: str, one: Bound) -> list[str]:
        """Return the argument of a field that calls say: None where there has to be one."""
        if not one.keyword:
            return ["None"]
        field = next((each for each in cls.fields() if each.name == name), None)
        is_optional = name in optional_fields(cls, self._executor.facts)
        has_default = field is not None and field.default is not None
        return [] if is_optional or has_default else [f"{name}=None"]

    def class_code(self, site: Site, cls: LinenClass) -> str:
        """Return the expression for the class of a submodule of the project."""
        func = site.node.func
        code = self._executor.code_of_class(func, cls, self._plan)
        return code

    def _lifted(self, site: Site, cls: LinenClass, lifted: Lifted) -> str:
        """Return what a submodule's lifted parameter is given."""
        calls = sorted(site.calls, key=lambda call: call[0] != "__call__")
        # Methods that the module's own call passes an argument on to mostly call it the same.
        is_called = any(method == lifted.method for _, method, _ in calls)
        for _, method, values in calls:
            if method != lifted.method and lifted.argument and is_called:
                continue
            value = part_at(values, lifted.argument)
            if lifted.is_number:
                number = self._if_visible(number_of(value), site)
                if number is not None:
                    return self._templates.token(number)
                continue
            if lifted.is_of_items:
                sizes = self._sizes(value, site)
                if sizes is not None:
                    return sizes
                continue
            if not isinstance(value, Array):
                continue
            code = self._of_array(value, site, cls, lifted)
            if code is not None:
                when = given_when(value, site, lifted, self._recorder)
                return f"({code} if {when} else None)" if when else code
        size = self.missing.size(site, lifted.name, self._measured(site, lifted))
        return self._templates.token(size)

    def _of_array(self, value: Array, site: Site, cls: LinenClass, lifted: Lifted) -> str | None:
        """Return the size or shape of an array; None where the constructor cannot say it."""
        visible = self._visible(value, site)
        assert isinstance(visible, Array)
        if lifted.axis is not None:
            dim = visible.shape.axis(lifted.axis)
            return None if dim is None else self._templates.token(dim)
        lines = self._executor.plan_of(cls).init
        if is_enough(visible.shape, lifted.name, lines):
            return self._shape(as_read(visible.shape, lifted.name, lines))
        return None

    def _sizes(self, value: Value, site: Site) -> str | None:
        """Return the last size of each array of a list; None where they are not known here."""
        match value:
            case CodedList(code=code) if value.is_seen_by(site):
                dims = self._templates.dims_in(code)
                return code if all(self._if_visible(dim, site) for dim in dims) else None
            case SizedList(local=local) if value.is_seen_by(site):
                return local
            case Array(origin=origin, shape=Shape(dims=())) if origin:
                return self._templates.items_token(origin)
            case Seq(items=items):
                visible = [self._visible(item, site) for item in items]
                sizes = [one.shape.axis(-1) for one in visible if isinstance(one, Array)]
                if len(sizes) == len(items) and None not in sizes:
                    return self._shape(Shape(tuple(sizes)))
        return None

    def _measured(self, site: Site, lifted: Lifted) -> Iterator[Measured]:
        """Yield the sizes that examples give a submodule's lifted parameter."""
        calls = self.missing.calls(site)
        if not lifted.argument:
            yield from within(lifted, calls)
        for call in calls:
            is_size = not lifted.is_of_items and not lifted.is_number
            if lifted.argument and call.method == lifted.method and is_size:
                value = part_at(dict(call.arguments), lifted.argument)
                yield from of_argument(value, lifted.axis, call)

    def _shape(self, shape: Shape) -> str:
        lead = shape.lead
        parts = [self._size(dim) for dim in (lead.front if lead is not None else ())]
        if lead is not None:
            parts.append(f"*{self._templates.lead_token(lead)}" if lead.argument else "None")
        parts += [self._size(dim) for dim in shape.dims]
        inner = ", ".join(parts)
        return f"({inner},)" if len(parts) == 1 else f"({inner})"

    def _size(self, dim: Dim | None) -> str:
        return "None" if dim is None else self._templates.token(dim)
