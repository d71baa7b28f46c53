"""Sizes that the code does not tell: parameters of the constructor, or what a trace says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from typed_nnx_codegen.migrate.analysis.syntax import free_name
from typed_nnx_codegen.migrate.linen.domain.class_plan import SIZE, Call, Lifted, Site, Size
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentItems,
    ArgumentNumber,
    ArgumentPresence,
    ArgumentShape,
    ArgumentSize,
    Atom,
    Dim,
    LeadingSize,
    Piece,
    as_dim,
    reads_of,
    shape_code,
)
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.domain.names import snake_case
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Seq, Shape, Value
from typed_nnx_codegen.migrate.linen.evaluate.functions import is_flag, is_optional
from typed_nnx_codegen.migrate.linen.layers import Argument, Built, Inputs, find_layer
from typed_nnx_codegen.migrate.linen.layers.layer import Given, Layer, Template
from typed_nnx_codegen.migrate.linen.layers.products import NormLayer
from typed_nnx_codegen.migrate.linen.trace.record import (
    Instance,
    Measured,
    Trace,
    TracedCall,
    fitting,
)


class Lifting:
    """Names the sizes of arguments that a constructor needs.

    Args:
        cls: The module.
        roots: The methods that were entered from outside, the first one first.
        taken: Names that the constructor binds already.

    Attributes:
        roots: Those methods.
        lifted: The parameters.
    """

    def __init__(self, cls: LinenClass, roots: Iterable[str], taken: Iterable[str]) -> None:
        self._cls = cls
        self.roots = list(roots)
        self._taken = {one.name for one in cls.fields()} | {"rngs", "self", *taken}
        self._whole: set[str] = set()
        self._names: dict[str, str] = {}
        self._items: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self.lifted: list[Lifted] = []

    def need(self, dims: Iterable[Dim]) -> None:
        """Note what the constructor needs of the arguments of calls.

        Args:
            dims: The sizes in it, and what else of arguments stands in their place.
        """
        order: dict[str, set[int | None]] = {}
        dims = list(dims)
        for atom in sorted((atom for dim in dims for atom in dim.atoms()), key=_turn):
            match atom:
                case ArgumentItems(argument=argument):
                    self._need_items(argument)
                case ArgumentSize(argument=argument):
                    order.setdefault(argument, set()).add(atom.axis)
                case LeadingSize(argument=argument) | ArgumentShape(argument=argument):
                    order.setdefault(argument, set()).add(None)
                case ArgumentNumber(argument=argument):
                    self._need_number(argument)
                case ArgumentPresence(argument=argument):
                    order.setdefault(argument, {-1})
        for argument, axes in order.items():
            if shape_code(argument):
                self._whole.add(argument)
                self._names[argument] = shape_code(argument)
                continue
            is_whole = axes != {-1}
            if is_whole:
                self._whole.add(argument)
            name = self._free(argument, "shape" if is_whole else "features")
            self._names[argument] = name
            axis = None if is_whole else -1
            method = self.method_of(argument)
            optional = self._is_optional(argument, method)
            reads = dict.fromkeys(one for dim in dims for one in reads_of(dim, argument))
            lifted = Lifted(name, method, argument, axis, is_optional=optional, reads=tuple(reads))
            self.lifted.append(lifted)

    def _need_items(self, argument: str) -> None:
        """Note that the constructor needs the last size of each array of a list."""
        if argument not in self._items:
            name = self._items[argument] = self._free(argument, "features")
            method = self.method_of(argument)
            self.lifted.append(Lifted(name, method, argument, -1, is_of_items=True))

    def _need_number(self, argument: str) -> None:
        """Note that the constructor needs a number that a method is called with."""
        if argument not in self._numbers:
            name = self._numbers[argument] = self.unused(_number_name(argument))
            self.lifted.append(Lifted(name, self.method_of(argument), argument, is_number=True))

    def unknown(self, name: str, why: str) -> str:
        """Return a parameter for a size that nothing tells."""
        candidate = self.unused(name)
        self.lifted.append(Lifted(candidate, why=why))
        return candidate

    def spelled(self, atom: Atom) -> str:
        """Return the expression for a part of a size in the constructor."""
        match atom:
            case Piece(code=code):
                return code
            case ArgumentSize(argument=argument, axis=axis):
                name = self._names[argument]
                return f"{name}[{axis}]" if argument in self._whole else name
            case ArgumentShape(argument=argument):
                return atom.part(self._names[argument])
            case ArgumentPresence(argument=argument):
                return self._names[argument]
            case ArgumentItems(argument=argument):
                return self._items[argument]
            case ArgumentNumber(argument=argument):
                return self._numbers[argument]
        raise AssertionError(atom)

    def may_be_none(self, atom: Atom) -> bool:
        """Whether a size is one of an argument that does not have to be given."""
        if not isinstance(atom, ArgumentSize | LeadingSize):
            return False
        return self._is_optional(atom.argument, self.method_of(atom.argument))

    def _is_optional(self, argument: str, name: str) -> bool:
        method = self._cls.method(name)
        return method is not None and any(
            one.name.value == argument and is_optional(one, method) for one in method.parameters()
        )

    def method_of(self, argument: str) -> str:
        """Return the method of which an argument is: the first of those that have it."""
        first = re.split(r"[.\[]", argument)[0]
        for name in self.roots:
            method = self._cls.method(name)
            if method is not None and any(one.name.value == first for one in method.parameters()):
                return name
        return "__call__"

    def _free(self, argument: str, suffix: str) -> str:
        prefix = "in" if self._is_first(argument) else _identifier(argument)
        return self.unused(f"{prefix}_{suffix}")

    def unused(self, name: str) -> str:
        """Return a name for a parameter that nothing else has."""
        return free_name(name, self._taken)

    def is_free(self, name: str) -> bool:
        """Whether nothing in the constructor has a name."""
        return name not in self._taken

    def _is_first(self, argument: str) -> bool:
        method = self._cls.method(self.method_of(argument))
        if method is None:
            return False
        arrays = [one.name.value for one in method.parameters() if not is_flag(one)]
        return arrays[:1] == [argument]


def _turn(atom: Atom) -> int:
    """Return when a parameter for an atom is added: those for sizes before those for shapes."""
    match atom:
        case ArgumentItems():
            return 0
        case ArgumentShape():
            return 2
        case ArgumentPresence():
            return 3
    return 1


def _number_name(argument: str) -> str:
    """Return a name for a number: ``out_features`` for ``out_shape[-1]``."""
    shape = re.fullmatch(r"(.*?)_?shape\[-1\]", argument)
    if shape is None:
        return _identifier(argument)
    return _identifier(f"{shape[1]}_features")


def _identifier(argument: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"\W+", "_", argument)).strip("_")


# How many sizes a marker names.
_SHOWN: Final = 8
_AGAIN: Final = 'typed-nnx migrate --linen ... --trace "..."'


class MissingSizes:
    """Finds or names the sizes of submodules that the code of a module does not tell.

    Attributes:
        unknown: The parameters for sizes that nothing tells, by submodule and its parameter.
    """

    def __init__(self, recorder: Recorder, trace: Trace | None, lifting: Lifting) -> None:
        self._recorder = recorder
        self._trace = trace
        self._lifting = lifting
        self._fitted: dict[tuple[int, str], Dim] = {}
        self.unknown: dict[tuple[int, str], Lifted] = {}

    def calls(self, site: Site) -> list[TracedCall]:
        """Return the calls of a submodule in the trace."""
        if self._trace is None:
            return []
        sites = self._recorder.plan.sites
        others = {one.linen for one in sites if one is not site and _is_literal(one.linen)}
        if _is_literal(site.linen):
            others = set()
        calls = self._trace.calls_of(self._recorder.plan.cls, site)
        return [call for call in calls if call.name not in others]

    def sure_calls(self, site: Site) -> list[TracedCall]:
        """Return the calls that are surely of this submodule, not of another of that name."""
        same = [one for one in self._recorder.plan.sites if one.class_name == site.class_name]
        names = [_anonymous(one.linen) for one in same]
        is_sure = not site.aliases and names.count(_anonymous(site.linen)) == 1
        return self.calls(site) if is_sure else []

    def size(
        self,
        site: Site,
        parameter: Lifted,
        measured: Iterable[Measured],
        candidates: Iterable[Dim] = (),
    ) -> Dim:
        """Return a size of a submodule: what fits all traced calls, or a new parameter.

        Args:
            site: The submodule.
            parameter: Its parameter.
            measured: What that is in traced calls.
            candidates: What the code says that it may be; a trace decides between them.
        """
        key = (id(site), parameter.name)
        if key in self._fitted:
            return self._fitted[key]
        if key not in self.unknown:
            index = _index(site, self._recorder)
            if site.is_verbatim and index:
                # `layers_{i}` is not `layers_last_0`.
                name = re.compile(re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(site.linen)))
                measured = [one for one in measured if name.fullmatch(one.call.name)]
            found = _by_owner(list(measured), is_indexed=bool(index))
            fits = self._agreeing(candidates, found)
            if len(fits) != 1:
                fits = fitting(found, self._lifting.method_of)
            if len(fits) == 1:
                self._fitted[key] = fits[0]
                return fits[0]
            self.unknown[key] = self._named(site, parameter, found, fits)
        lifted = self.unknown[key]
        is_one = not parameter.is_several or any(_is_of_several(one) for _, one in lifted.measured)
        index = _index(site, self._recorder) if lifted.is_listed and is_one else ""
        return as_dim(Piece(f"{lifted.name}[{index}]" if index else lifted.name))

    def shape(self, measured: Sequence[Measured]) -> Shape | None:
        """Return the shape of an argument of which each size fits all traced calls."""
        rows = [(one.size, one.call) for one in measured if isinstance(one.size, tuple)]
        if not rows or len(rows) < len(measured) or len({len(sizes) for sizes, _ in rows}) > 1:
            return None
        axes = zip(*(sizes for sizes, _ in rows), strict=True)
        dims: list[Dim | None] = []
        for axis in axes:
            if set(axis) == {None}:
                dims.append(None)
                continue
            each = [
                Measured(size, call)
                for size, (_, call) in zip(axis, rows, strict=True)
                if size is not None
            ]
            fits = fitting(each, self._lifting.method_of) if len(each) == len(rows) else []
            if len(fits) != 1:
                return None
            dims.append(fits[0])
        return Shape(tuple(dims))

    def _agreeing(self, candidates: Iterable[Dim], found: Sequence[Measured]) -> list[Dim]:
        """Return the candidates that are what was measured, in every call."""
        if not found:
            return []
        return [
            dim
            for dim in candidates
            if all(_evaluated(dim, one.call, self._lifting) == one.size for one in found)
        ]

    def _named(
        self, site: Site, parameter: Lifted, found: Sequence[Measured], fits: Sequence[Dim]
    ) -> Lifted:
        """Return a parameter; with a default where all calls have one size, else a marker."""
        name = self._name(site, parameter)
        sizes = list(dict.fromkeys(one.size for one in found))
        shared = _shared(sizes, is_shape=bool(parameter.argument) and parameter.axis is None)
        if shared == 1 and isinstance(find_layer(str(site.target)), NormLayer):
            shared = None  # it would go with inputs of every size
        default = "" if shared is None else repr(shared)
        if not default and not self._recorder.is_abstract:
            message = f"the size of its input is not known: give `{name}`"
            self._recorder.mark(site.node, f"{message}{self._hint(sizes, fits)}", SIZE)
        return Lifted(
            name,
            why="the code does not tell the shape that it is called with",
            default=default,
            is_listed=parameter.is_several or any(isinstance(size, tuple) for size in sizes),
            measured=tuple((one.call.owner, one.size) for one in found),
        )

    def _name(self, site: Site, parameter: Lifted) -> str:
        """Return a name that begins with the submodule; or with one within it, where that is enough."""
        sites = self._recorder.plan.sites
        is_only = [one.target for one in sites].count(site.target) == 1
        is_clear = not any(parameter.name.startswith(f"{_prefix(one)}_") for one in sites)
        is_enough = not parameter.argument and is_only and is_clear
        if is_enough and self._lifting.is_free(parameter.name):
            return self._lifting.unused(parameter.name)
        return self._lifting.unused(f"{_prefix(site)}_{parameter.name}")

    def _hint(self, sizes: Sequence[Size], fits: Sequence[Dim]) -> str:
        if not sizes and self._recorder.plan.cls.is_translated:
            return ""  # only programs of Linen are traced
        if not sizes:
            return f"; {self._reason()}: {_AGAIN}"
        ordered = sorted(map(repr, sizes), key=lambda text: (len(text), text))
        shown = ", ".join(ordered[:_SHOWN])
        text = f"; in the trace it is {shown}"
        if fits:
            codes = " and ".join(f"`{dim.code()}`" for dim in fits[:3])
            text = f"{text}, as are {codes}: trace a run in which they differ"
        return text

    def _reason(self) -> str:
        """Return why no size is known."""
        if self._trace is None:
            return "a run tells it"
        cls = self._recorder.plan.cls
        if self._trace.is_called(cls):
            return "the trace does not reach it"
        changed = cls.name in self._trace.changed
        return f"the trace is older than `{cls.name}`" if changed else "the trace does not call it"


def _prefix(site: Site) -> str:
    """Return what the names of parameters for a submodule begin with."""
    parts = [one.strip("_") for one in re.sub(r"\{\w+\}", "", site.attribute).split(".")]
    behind = [*parts[1:], ""]
    path = [one for one, other in zip(parts, behind, strict=True) if one and one != other]
    return _identifier(snake_case("_".join(path) or site.class_name))


def _is_literal(name: str) -> bool:
    return "{" not in name


def _anonymous(name: str) -> str:
    """Return a pattern of names without the names of what varies."""
    return re.sub(r"\{\w+\}", "{}", name)


def within(lifted: Lifted, calls: Iterable[TracedCall]) -> Iterator[Measured]:
    """Yield what a parameter of a submodule has to be, from what is within the submodule."""
    sizes: dict[Instance, list[Size]] = {}
    for owner, size in lifted.measured:
        sizes.setdefault(owner, []).append(size)
    for call in calls:
        yield from (Measured(size, call) for size in sizes.get(call.module, ()))


def of_argument(value: Value, lifted: Lifted, call: TracedCall) -> Iterator[Measured]:
    """Yield what a parameter has to be that is a size or the shape of an argument, or sizes of items."""
    if lifted.is_of_items and isinstance(value, Seq):
        sizes = [one for item in value.items for one in _measured(item, lifted)]
        if len(sizes) == len(value.items):
            yield Measured(tuple(sizes), call)
    elif not lifted.is_of_items:
        yield from (Measured(size, call) for size in _measured(value, lifted))


def _measured(value: Value, lifted: Lifted) -> Iterator[Size]:
    """Yield the size or shape of an array."""
    if not isinstance(value, Array):
        return
    if lifted.axis is None:
        dims = as_read(value.shape, lifted).dims
        yield tuple(None if one is None else one.constant for one in dims)
        return
    dim = value.shape.axis(lifted.axis)
    if dim is not None and dim.constant is not None:
        yield dim.constant


def as_read(shape: Shape, lifted: Lifted) -> Shape:
    """Return a shape without the dimensions that a constructor does not read."""
    if shape.lead is not None or any(isinstance(one, ArgumentShape) for one in lifted.reads):
        return shape
    count = len(shape.dims)
    read = {one % count for one in lifted.reads if isinstance(one, int) and -count <= one < count}
    return Shape(tuple(dim if k in read else None for k, dim in enumerate(shape.dims)))


def _by_owner(found: list[Measured], *, is_indexed: bool) -> list[Measured]:
    """Return one measure for each module: those of the submodules of a list in one."""
    by_owner: dict[Instance, dict[Instance, Measured]] = {}
    for one in found:
        by_owner.setdefault(one.call.owner, {})[one.call.module] = one
    is_one = all(len({m.size for m in paths.values()}) == 1 for paths in by_owner.values())
    if is_one or not is_indexed:
        return list({(m.size, m.call.owner): m for m in found}.values())
    return [
        Measured(tuple(one.size for one in paths.values()), next(iter(paths.values())).call)
        for paths in by_owner.values()
    ]


def _index(site: Site, recorder: Recorder) -> str:
    """Return the code of the index of a submodule in its list, where it is constructed."""
    name = site.attribute.partition(".")[0]
    if site.is_listed and not site.is_verbatim:
        return f"len(self.{name})"
    if sum(one.attribute.partition(".")[0] == name for one in recorder.plan.sites) > 1:
        return ""
    loops = [recorder.headers.get(number, ("", "")) for number in site.loops]
    is_counted = len(loops) == 1 and re.fullmatch(r"range\([^,]*\)", loops[0][1]) is not None
    return loops[0][0] if is_counted and site.linen.endswith("}") else ""


def _is_of_several(size: Size) -> bool:
    """Whether a size is one of several of which each has several: the shapes of a list."""
    return isinstance(size, tuple) and any(isinstance(one, tuple) for one in size)


def _shared(sizes: Sequence[Size], *, is_shape: bool) -> Size | None:
    """Return what all calls have; the first dimension of a shape may differ, as a batch does."""
    if len(sizes) == 1:
        return sizes[0]
    if not is_shape or any(map(_is_of_several, sizes)):
        return None
    rows = [size for size in sizes if isinstance(size, tuple) and len(size) > 1]
    if len(rows) == len(sizes) > 0 and len({row[1:] for row in rows}) == 1:
        return (None, *rows[0][1:])
    return None


def mark_widths(site: Site, recorder: Recorder) -> None:
    """Mark a submodule in a list whose items are called one by one, with other sizes."""
    if not site.loops:
        return
    widths: dict[str, set[Dim]] = {}
    for call in recorder.log.about(Call, site):
        first = next(iter(call.values.values()), UNKNOWN)
        dim = first.shape.axis(-1) if isinstance(first, Array) else None
        if dim is not None and call.method == "__call__":
            widths.setdefault(call.root, set()).add(dim)
    if any(len(found) > 1 for found in widths.values()):
        message = "the items of this list are called with inputs of different sizes"
        recorder.mark(site.node, message, SIZE)


# More dimensions than any input has.
_RANK: Final = 8
_UNKNOWN: Final = tuple(as_dim(Piece(f"__unknown_{axis}")) for axis in range(_RANK))


def stand_in(layer: Layer, sizes: Mapping[Dim, Dim] | None = None) -> Inputs:
    """Return inputs each of whose dimensions is one that is not known, or what stands for it."""
    dims = _UNKNOWN if sizes is None else tuple(sizes.get(one, one) for one in _UNKNOWN)
    array = Array(Shape(dims))
    return Inputs({one.linen: array for one in layer.calls.get("__call__", ())})


def missing_sizes(layer: Layer, given: Mapping[str, Given]) -> list[Dim]:
    """Return the sizes of inputs of which none is known that the constructor of a layer asks for."""
    built = layer.build(given, stand_in(layer))
    arguments = built.arguments if isinstance(built, Built) else ()
    asked = {part for argument in arguments for part in _parts(argument)}
    return [one for one in _UNKNOWN if one in asked]


def disagreement(
    layer: Layer,
    given: Mapping[str, Given],
    built: Built,
    calls: Iterable[TracedCall],
    lifting: Lifting,
) -> str:
    """Return where a traced call has another size than the code of a layer; empty if none has.

    Args:
        layer: The layer.
        given: The arguments of the Linen constructor.
        built: How it is constructed.
        calls: The traced calls.
        lifting: The sizes that callers give.
    """
    for call in calls:
        measured = layer.build(given, Inputs(call.arguments)) if call.method == "__call__" else None
        if not isinstance(measured, Built) or len(measured.arguments) != len(built.arguments):
            continue
        for said, found in zip(built.arguments, measured.arguments, strict=True):
            if isinstance(said.code, Dim) and isinstance(found.code, Dim):
                problem = contradiction(said.code, found.code.constant, call, lifting)
                if problem:
                    return problem
    return ""


def contradiction(said: Dim, found: Size | None, call: TracedCall, lifting: Lifting) -> str:
    """Return how a size of the code differs from that of a traced call; empty if it does not."""
    size = _evaluated(said, call, lifting)
    if size is None or not isinstance(found, int) or size == found:
        return ""
    code = "" if said.constant is not None else f"`{said.code()}`, "
    return f"the code says that a size is {code}{size}, in the trace of `{call.run}` it is {found}"


def _evaluated(dim: Dim, call: TracedCall, lifting: Lifting) -> int | None:
    """Return a size in a call, where it depends on nothing but arguments and fields."""
    known: dict[Atom, Dim] = {}
    for atom in dim.atoms():
        size: int | None = None
        if isinstance(atom, Piece):
            size = call.sizes.get(atom.code)
        elif isinstance(atom, ArgumentSize):
            is_of_call = lifting.method_of(atom.argument) == call.around_method
            value = call.around.get(atom.argument) if is_of_call else None
            found = value.shape.axis(atom.axis) if isinstance(value, Array) else None
            size = None if found is None else found.constant
        if size is None:
            return None
        known[atom] = as_dim(size)
    return dim.replaced(known).constant


def measured_widths(
    layer: Layer, given: Mapping[str, Given], calls: Iterable[TracedCall], asked: Dim
) -> Iterator[Measured]:
    """Yield what one of the missing sizes of a layer is, for each traced call."""
    wanted = layer.build(given, stand_in(layer))
    if not isinstance(wanted, Built):
        return
    for call in calls:
        built = layer.build(given, Inputs(call.arguments)) if call.method == "__call__" else None
        if not isinstance(built, Built) or len(built.arguments) != len(wanted.arguments):
            continue
        for argument, measured in zip(wanted.arguments, built.arguments, strict=True):
            for part, size in zip(_parts(argument), _parts(measured), strict=False):
                if part == asked and isinstance(size, Dim) and size.constant is not None:
                    yield Measured(size.constant, call)


def _parts(argument: Argument) -> tuple[str | Dim, ...]:
    code = argument.code
    return code.parts if isinstance(code, Template) else (code,)
