"""Sizes that the code does not tell: what examples say of them, and the parameters for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.layers.normalization import NormLayer
from typed_nnx_codegen.migrate.linen.marker_codes import SIZE
from typed_nnx_codegen.migrate.linen.plan import Lifted, Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Array, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.sizes.fitting import Measured, Size, fitting
from typed_nnx_codegen.migrate.linen.sizes.lifting import Lifting
from typed_nnx_codegen.migrate.linen.sizes.recorded import Recorded, RecordedCall

# How many sizes a marker names.
_SHOWN: Final = 8


class MissingSizes:
    """Finds or names the sizes of submodules that the code of a module does not tell.

    Args:
        recorder: What was seen of the module.
        recorded: What an example of the project was seen to do, if any.
        lifting: The sizes that callers give.

    Attributes:
        unknown: The parameters for sizes that nothing tells, by submodule and its parameter.
    """

    def __init__(self, recorder: Recorder, recorded: Recorded | None, lifting: Lifting) -> None:
        self._recorder = recorder
        self._recorded = recorded
        self._lifting = lifting
        self._fitted: dict[tuple[int, str], Dim] = {}
        self.unknown: dict[tuple[int, str], Lifted] = {}

    def calls(self, site: Site) -> list[RecordedCall]:
        """Return the calls of a submodule in examples."""
        found = self._recorded
        if found is None:
            return []
        sites = self._recorder.plan.sites
        others = {one.linen for one in sites if one is not site and _is_literal(one.linen)}
        if _is_literal(site.linen):
            others = set()
        calls = found.calls_of(self._recorder.plan.cls, site)
        return [call for call in calls if "/".join(call.path[len(call.owner) :]) not in others]

    def sure_calls(self, site: Site) -> list[RecordedCall]:
        """Return the calls that are surely of this submodule, not of another of that name."""
        same = [one for one in self._recorder.plan.sites if one.class_name == site.class_name]
        names = [_anonymous(one.linen) for one in same]
        is_sure = not site.aliases and names.count(_anonymous(site.linen)) == 1
        return self.calls(site) if is_sure else []

    def size(self, site: Site, parameter: str, measured: Iterable[Measured]) -> Dim:
        """Return a size of a submodule: what fits all examples, or a new parameter.

        Args:
            site: The submodule.
            parameter: Its parameter.
            measured: What that is in examples.
        """
        key = (id(site), parameter)
        if key in self._fitted:
            return self._fitted[key]
        if key not in self.unknown:
            found = _by_owner(site, list(measured))
            fits = fitting(found, self._lifting.roots)
            if len(fits) == 1:
                self._fitted[key] = fits[0]
                return fits[0]
            self.unknown[key] = self._named(site, parameter, found, fits)
        return as_dim(Piece(_code(self.unknown[key], site)))

    def _named(
        self, site: Site, parameter: str, found: Sequence[Measured], fits: Sequence[Dim]
    ) -> Lifted:
        """Return a parameter; with a default where all examples have one size, else a marker."""
        prefix = re.sub(r"\W+", "_", re.sub(r"\{\w+\}", "", site.attribute)).strip("_")
        name = self._lifting.unused(f"{prefix or site.class_name.lower()}_{parameter}")
        sizes = list(dict.fromkeys(one.size for one in found))
        shared = _shared(sizes)
        if shared == 1 and isinstance(find_layer(str(site.target)), NormLayer):
            shared = None  # it would go with inputs of every size
        default = "" if shared is None else repr(shared)
        if not default:
            message = f"the size of its input is not known: give `{name}`"
            self._recorder.mark(site.node, f"{message}{self._hint(sizes, fits)}", SIZE)
        return Lifted(
            name,
            why="the code does not tell the shape that it is called with",
            default=default,
            is_listed=any(isinstance(size, tuple) for size in sizes),
            measured=tuple(((one.call.example, one.call.owner), one.size) for one in found),
        )

    def _hint(self, sizes: Sequence[Size], fits: Sequence[Dim]) -> str:
        if not sizes:
            return "; no example calls it" if self._recorded else ", or run with --example"
        ordered = sorted(map(repr, sizes), key=lambda text: (len(text), text))
        shown = ", ".join(ordered[:_SHOWN])
        text = f"; in the examples it is {shown}"
        if fits:
            codes = " and ".join(f"`{dim.code()}`" for dim in fits[:3])
            text = f"{text}, as are {codes}: add an example in which they differ"
        return text


def _is_literal(name: str) -> bool:
    return "{" not in name


def _anonymous(name: str) -> str:
    """Return a pattern of names without the names of what varies."""
    return re.sub(r"\{\w+\}", "{}", name)


def within(lifted: Lifted, calls: Iterable[RecordedCall]) -> Iterator[Measured]:
    """Yield what a parameter of a submodule has to be, from what is within the submodule.

    Args:
        lifted: The parameter.
        calls: The calls of the submodule.
    """
    for call in calls:
        for (example, owner), size in lifted.measured:
            if example == call.example and owner == call.path:
                yield Measured(size, call)


def of_argument(value: Value, axis: int | None, call: RecordedCall) -> Iterator[Measured]:
    """Yield what a parameter has to be that is a size or the shape of an argument."""
    if not isinstance(value, Array):
        return
    if axis is None:
        yield Measured(
            tuple(None if one is None else one.constant for one in value.shape.dims), call
        )
        return
    dim = value.shape.axis(axis)
    if dim is not None and dim.constant is not None:
        yield Measured(dim.constant, call)


def _by_owner(site: Site, found: list[Measured]) -> list[Measured]:
    """Return one measure for each module: those of the submodules of a list in one."""
    by_owner: dict[tuple[str, tuple[str, ...]], dict[tuple[str, ...], Measured]] = {}
    for one in found:
        by_owner.setdefault((one.call.example, one.call.owner), {})[one.call.path] = one
    is_one = all(len({m.size for m in paths.values()}) == 1 for paths in by_owner.values())
    is_plain = all(isinstance(one.size, int) for one in found)
    if is_one or not is_plain or not _is_indexed(site):
        return list({(m.size, m.call.example, m.call.owner): m for m in found}.values())
    return [
        Measured(
            tuple(one.size for one in paths.values() if isinstance(one.size, int)),
            next(iter(paths.values())).call,
        )
        for paths in by_owner.values()
    ]


def _is_indexed(site: Site) -> bool:
    """Whether the submodules of a list are constructed one after the other."""
    return site.is_listed and not site.is_verbatim


def _code(lifted: Lifted, site: Site) -> str:
    if lifted.is_listed and _is_indexed(site):
        return f"{lifted.name}[len(self.{site.attribute.partition('.')[0]})]"
    return lifted.name


def _shared(sizes: Sequence[Size]) -> Size | None:
    """Return what all examples have; a first dimension may differ, as that of a batch does."""
    if len(sizes) == 1:
        return sizes[0]
    rows = [size for size in sizes if isinstance(size, tuple) and len(size) > 1]
    if len(rows) == len(sizes) > 0 and len({row[1:] for row in rows}) == 1:
        return (None, *rows[0][1:])
    return None


def mark_widths(site: Site, recorder: Recorder) -> None:
    """Mark a submodule in a list whose items are called one by one, with other sizes."""
    if not site.loops:
        return
    widths: dict[str, set[Dim]] = {}
    for root, method, values in site.calls:
        first = next(iter(values.values()), UNKNOWN)
        dim = first.shape.axis(-1) if isinstance(first, Array) else None
        if dim is not None and method == "__call__":
            widths.setdefault(root, set()).add(dim)
    if any(len(found) > 1 for found in widths.values()):
        message = "the items of this list are called with inputs of different sizes"
        recorder.mark(site.node, message, SIZE)
