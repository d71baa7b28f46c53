"""`Lift`: one transform of Linen with its settings, in methods and around what constructors build."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    ClassPlan,
    Site,
    given_of,
    linen_class_name,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.expr import has_slots
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassTransform,
    ModuleValue,
    Ref,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    Code,
    Const,
    Passed,
    Seq,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer

Axis = int | Literal["carry"] | None

# Settings that NNX does not have, with the value that changes nothing.
_LACKING: Final[Mapping[str, object]] = {
    "variables": True,
    "rngs": True,
    "concrete": False,
    "data_transform": None,
    "methods": None,
}


@dataclass(frozen=True)
class Kind:
    """A transform that NNX has, too.

    Attributes:
        parameters: Its parameters after the target, by position.
        same: Those that NNX takes as they are.
        maps: Whether it runs what it transforms more than once.
    """

    parameters: tuple[str, ...]
    same: tuple[str, ...]
    maps: bool = False


_KINDS: Final = {
    "remat": Kind(
        (
            *("variables", "rngs", "concrete", "prevent_cse", "static_argnums", "policy"),
            "methods",
        ),
        ("prevent_cse", "static_argnums", "policy"),
    ),
    "jit": Kind(
        (
            *("variables", "rngs", "static_argnums", "static_argnames", "donate_argnums"),
            *("device", "backend", "methods"),
        ),
        ("static_argnums", "static_argnames", "donate_argnums", "device", "backend"),
    ),
    "vmap": Kind(
        (
            *("variable_axes", "split_rngs", "in_axes", "out_axes", "axis_size", "axis_name"),
            *("spmd_axis_name", "metadata_params", "methods"),
        ),
        ("axis_name", "spmd_axis_name"),
        maps=True,
    ),
    "scan": Kind(
        (
            *("variable_axes", "variable_broadcast", "variable_carry", "split_rngs", "in_axes"),
            *("out_axes", "length", "reverse", "unroll", "data_transform", "metadata_params"),
            *("methods", "_split_transpose", "check_constancy_invariants"),
        ),
        ("reverse", "unroll", "_split_transpose"),
        maps=True,
    ),
}


_NAMES: Final = frozenset({*_KINDS, "checkpoint", "remat_scan"})


def is_transform(name: str) -> bool:
    """Whether the public name of something of Linen is that of a transform."""
    return name.startswith(f"{LINEN}.") and name.rpartition(".")[2] in _NAMES


class Unsupported(Exception):
    """A transform with settings that NNX does not have, or that are not known."""


@dataclass(frozen=True)
class Lift:
    """A transform of Linen.

    Attributes:
        kind: Its name: ``scan``, ``vmap``, ``remat``, ``jit``.
        given: Its settings.
        axes: The axis of each collection that is lifted: None where all share it, ``carry``
            where each step hands it to the next; under True that of all others.
        is_split: Whether each step or member has random keys of its own.
        condition: Where it applies only to some objects, the condition.
    """

    kind: str
    given: Mapping[str, Passed]
    axes: Mapping[object, Axis]
    is_split: Mapping[object, bool]
    condition: str = ""

    __hash__ = object.__hash__

    @property
    def maps(self) -> bool:
        """Whether it runs what it transforms more than once."""
        return _KINDS[self.kind].maps

    def axis(self, collection: str) -> Axis:
        """Return the axis along which the variables of a collection are stacked."""
        return self.axes.get(collection, self.axes.get(True))

    def splits(self, stream: str) -> bool:
        """Whether each step or member has keys of its own of a stream."""
        return self.is_split.get(stream, self.is_split.get(True, False))

    @property
    def splits_any(self) -> bool:
        """Whether any stream is split."""
        return any(self.is_split.values())

    def stacks(self, collections: frozenset[str]) -> bool:
        """Whether variables of a module with some collections get one more axis."""
        return self.maps and any(
            isinstance(self.axis(one), int) for one in (collections or {"params"})
        )

    @property
    def kept(self) -> tuple[str, ...]:
        """The settings that NNX takes as they are."""
        return tuple(name for name in _KINDS[self.kind].same if name in self.given)

    def value(self, name: str, default: Value) -> Value:
        """Return what is known of a setting."""
        return self.given[name].value if name in self.given else default


def lift_of(transform: ClassTransform) -> Lift:
    """Return a transform with its settings.

    Raises:
        Unsupported: NNX has no such transform, or its settings are not known.
    """
    kind = transform.name.rpartition(".")[2]
    kind = "remat" if kind == "checkpoint" else kind
    if kind not in _KINDS:
        raise Unsupported(f"`nn.{kind}` is not migrated")
    names = _KINDS[kind].parameters
    given = dict(zip(names, transform.args, strict=False)) | {
        one.keyword: one for one in transform.keywords
    }
    for name, bound in given.items():
        if name not in names:
            raise Unsupported(f"`nn.{kind}` has no parameter `{name}`")
        if name in _LACKING and bound.value != Const(_LACKING[name]):
            raise Unsupported(f"`{name}` of `nn.{kind}` has no counterpart in NNX")
    if transform.name.endswith("partitioning.remat") and "static_argnums" in given:
        given["static_argnums"] = _behind_the_module(given["static_argnums"])
    return Lift(
        kind,
        given,
        _axes(kind, given),
        _split(kind, given),
        transform.condition,
    )


def _behind_the_module(bound: Passed) -> Passed:
    """Return positions of arguments that count the module, where they do not count it."""
    value = bound.value
    items = value.items if isinstance(value, Seq) else (value,)
    numbers = [one.value for one in items if isinstance(one, Const)]
    known = [one for one in numbers if isinstance(one, int) and one >= 0]
    if len(known) != len(items):
        raise Unsupported("`static_argnums` is not known")
    code = repr(tuple(one + 1 for one in known))
    shifted = Seq(tuple(Const(one + 1) for one in known))
    return replace(bound, value=shifted, code=code, node=cst.parse_expression(code))


def without_module(lift: Lift, module: str) -> Lift:
    """Return a transform of a method whose `static_argnames` do not name the module.

    Linen, which does not pass it as an argument, ignores its name.

    Args:
        lift: The transform.
        module: The name of the first parameter.
    """
    bound = lift.given.get("static_argnames")
    value = NONE if bound is None else bound.value
    items = value.items if isinstance(value, Seq) else (value,)
    names = [one.value for one in items if isinstance(one, Const)]
    if bound is None or module not in names or len(names) < len(items):
        return lift
    left = tuple(one for one in items if one != Const(module))
    code = repr(tuple(name for name in names if name != module))
    given = replace(bound, value=Seq(left), code=code, node=cst.parse_expression(code))
    return replace(lift, given={**lift.given, "static_argnames": given})


def _axes(kind: str, given: Mapping[str, Passed]) -> dict[object, Axis]:
    axes: dict[object, Axis] = {}
    for name, value in _table(kind, "variable_axes", given):
        match value:
            case Const(value=None):
                axes[name] = None
            case Const(value=int() as number) if not isinstance(number, bool):
                axes[name] = number
            case _:
                raise Unsupported(f"an axis of `variable_axes` of `nn.{kind}` is not known")
    shared: tuple[tuple[str, Axis], ...] = (
        ("variable_broadcast", None),
        ("variable_carry", "carry"),
    )
    for setting, axis in shared:
        if setting in given:
            axes.update(dict.fromkeys(_filter(kind, setting, given[setting].value), axis))
    return axes


def _split(kind: str, given: Mapping[str, Passed]) -> dict[object, bool]:
    found: dict[object, bool] = {}
    for name, value in _table(kind, "split_rngs", given):
        if not isinstance(value, Const):
            raise Unsupported(f"`split_rngs` of `nn.{kind}` is not known")
        found[name] = bool(value.value)
    return found


def _table(kind: str, setting: str, given: Mapping[str, Passed]) -> Iterator[tuple[object, Value]]:
    if setting not in given:
        return
    value = given[setting].value
    if not isinstance(value, Table):
        raise Unsupported(f"`{setting}` of `nn.{kind}` is not known")
    for key, one in value.items.items():
        if not isinstance(key, str) and key is not True:
            raise Unsupported(f"a filter in `{setting}` of `nn.{kind}` is not known")
        yield key, one


def _filter(kind: str, setting: str, value: Value) -> Iterator[object]:
    match value:
        case Const(value=False):
            return
        case Const(value=True):
            yield True
        case Const(value=str() as name):
            yield name
        case Seq(items=items):
            for item in items:
                yield from _filter(kind, setting, item)
        case _:
            raise Unsupported(f"`{setting}` of `nn.{kind}` is not known")


def is_broadcast(value: Value) -> bool:
    """Whether an axis says that all steps or members get the same."""
    return value == Const(None) or (
        isinstance(value, Ref) and value.name.rpartition(".")[2] == "broadcast"
    )


Spelled = Callable[[Passed], str]


def in_method(bound: Passed, *, is_here: bool) -> str:
    """Return a setting as it is written in a method.

    Args:
        bound: The setting.
        is_here: Whether the transform is written in the method that is called, so that the names
            in it are those of the call.

    Raises:
        Unsupported: Nothing that the method can see says it.
    """
    code = bound.code
    if code is not None and not has_slots(code) and (not is_here or _is_global(code)):
        return code
    if is_here:
        return code_of(bound.node)
    raise Unsupported("a setting of this transform cannot be said where it is called")


def _is_global(code: str) -> bool:
    """Whether an expression names nothing but attributes of the object, modules and literals."""
    return bool(re.fullmatch(r"[\w.]+|[\w.]*\{.*\}", code)) and (
        "." in code or code in ("None", "True", "False") or code.isdigit() or code[:1] == "{"
    )


def axes_of(lift: Lift, count: int) -> list[Value]:
    """Return the axes of the arguments that a transform maps over, one by one."""
    value = lift.value("in_axes", Const(0))
    if isinstance(value, Seq):
        if len(value.items) < count:
            raise Unsupported(f"`in_axes` of `nn.{lift.kind}` are fewer than the arguments")
        return list(value.items[:count])
    return [value] * count


def axis_code(value: Value, lift: Lift, setting: str, spelled: Spelled) -> str:
    """Return the axes of an argument, or of the results, as code.

    Raises:
        Unsupported: They are not known.
    """
    if is_broadcast(value):
        return "None"
    match value:
        case Const(value=int() as axis):
            return str(axis)
        case Code() if lift.given[setting].value == value:
            return spelled(lift.given[setting])
    raise Unsupported(f"`{setting}` of `nn.{lift.kind}` is not known")


def size_setting(lift: Lift) -> Passed | None:
    """Return the setting that says how many steps or members there are."""
    name = "axis_size" if lift.kind == "vmap" else "length"
    bound = lift.given.get(name)
    return None if bound is None or bound.value == NONE else bound


def static_code(lift: Lift, closed: Sequence[int], spelled: Spelled) -> str:
    """Return `static_argnums` where some arguments are no arguments any more.

    Args:
        lift: The transform.
        closed: The positions that are gone; the module is 0.
        spelled: Writes settings.
    """
    bound = lift.given["static_argnums"]
    if not closed:
        return spelled(bound)
    match bound.value:
        case Const(value=int() as number):
            numbers = [number]
        case Seq(items=items) if all(
            isinstance(one, Const) and isinstance(one.value, int) for one in items
        ):
            found = [one.value for one in items if isinstance(one, Const)]
            numbers = [number for number in found if isinstance(number, int)]
        case _:
            raise Unsupported("`static_argnums` is not known")
    left = [
        number - sum(one < number for one in closed) for number in numbers if number not in closed
    ]
    return repr(tuple(left))


Refer = Callable[[str], str]

TYPES: Final = {
    "params": "nnx.Param",
    "batch_stats": "nnx.BatchStat",
    "cache": "nnx.Cache",
    "intermediates": "nnx.Intermediate",
    "perturbations": "nnx.Perturbation",
}
_RANDOM: Final = ("Dropout", "MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")


def collections_of(site: Site, plan_of: Callable[[LinenClass], ClassPlan]) -> frozenset[str]:
    """Return the collections in which a submodule has variables."""
    if isinstance(site.target, LinenClass):
        return collections_in(plan_of(site.target))
    layer = find_layer(site.target)
    variables = layer.variables(given_of(site)) if layer is not None else ()
    return _first_parts(one.linen for one in variables)


def collections_in(plan: ClassPlan) -> frozenset[str]:
    """Return the collections in which a module of the project has variables."""
    return _first_parts(one.linen for one in plan.entries)


def _first_parts(paths: Iterable[str]) -> frozenset[str]:
    """Return the collections that begin paths; not those of a layer in another one, which it has itself."""
    return frozenset(path.partition("/")[0] for path in paths) - {"{collection}"}


def draws(site: Site, plan_of: Callable[[LinenClass], ClassPlan]) -> bool:
    """Whether a submodule draws random keys when it is called."""
    if isinstance(site.target, LinenClass):
        return plan_draws(plan_of(site.target), plan_of)
    return site.class_name in _RANDOM


def plan_draws(plan: ClassPlan, plan_of: Callable[[LinenClass], ClassPlan]) -> bool:
    """Whether a module of the project draws random keys when it is called."""
    own = (site for site in plan.sites if site.target is not plan.cls)
    return plan.stores_rngs or any(draws(site, plan_of) for site in own)


def state_axes(
    lift: Lift,
    collections: frozenset[str],
    refer: Refer,
    *,
    random: Axis | str = "",
    carries: bool = True,
) -> str:
    """Return the axes of the variables of a module, as NNX takes them.

    Args:
        lift: The transform.
        collections: The collections of the module.
        refer: Spells public names of NNX.
        random: The axis of its random state; empty where it has that of most.
        carries: Whether variables may be carried; else they are shared.
    """
    base = 0 if _is_stacked(lift, collections) else None
    entries: dict[str, str] = {}
    if random != "" and random != base:
        entries[refer("nnx.RngState")] = _axis(random, refer)
    for name in sorted(collections):
        axis = lift.axis(name)
        axis = None if axis == "carry" and not carries else axis
        if axis != base:
            entries[variable_type(name, refer)] = _axis(axis, refer)
    if not entries:
        return str(base)
    inner = ", ".join(f"{key}: {axis}" for key, axis in entries.items())
    return f"{refer('nnx.StateAxes')}({{{inner}, ...: {base}}})"


def _is_stacked(lift: Lift, collections: frozenset[str]) -> bool:
    if "params" in collections or not collections:
        return isinstance(lift.axis("params"), int)
    return lift.stacks(collections)


def _axis(axis: object, refer: Refer) -> str:
    return refer("nnx.Carry") if axis == "carry" else str(axis)


def variable_type(collection: str, refer: Refer) -> str:
    """Return the expression for the type of the variables of a collection."""
    if collection in TYPES:
        return refer(TYPES[collection])
    return f"{refer('nnx.variable_type_from_name')}({collection!r}, allow_register=True)"


# -- submodules that transforms stack ----------------------------------------------------------


@dataclass(frozen=True)
class Stack(Value):
    """A transform around the code that constructs submodules.

    Attributes:
        lift: The transform.
        size: How many steps or members there are, by what it is called with.
    """

    lift: Lift
    size: Dim | None = None


def lifts_of(site: Site) -> list[Lift]:
    """Return the transforms of a class, outermost first.

    Raises:
        Unsupported: One of them has no counterpart.
    """
    return [lift_of(one) for one in site.transforms if isinstance(one, ClassTransform)]


def stacks_of(site: Site) -> list[Stack]:
    """Return all transforms around a submodule that map, outermost first.

    Raises:
        Unsupported: One of them has no counterpart.
    """
    sizes = dict(enumerate(site.sizes))
    own = [Stack(lift, sizes.get(k)) for k, lift in enumerate(lifts_of(site))]
    around = [one for one in site.stacks if isinstance(one, Stack)]
    return [one for one in (*around, *own) if one.lift.maps]


def stacked(
    code: str,
    site: Site,
    collections: frozenset[str],
    *,
    rngs: str,
    token: Callable[[Dim], str],
    refer: Refer,
) -> str:
    """Return the code that constructs a submodule as often as transforms run it.

    Args:
        code: The code that constructs one.
        site: The submodule.
        collections: The collections in which it has variables.
        rngs: The name of the random keys in the constructor.
        token: Writes sizes.
        refer: Spells public names of NNX.

    Raises:
        Unsupported: It is not known how often, or NNX cannot do the same.
    """
    for one in reversed(stacks_of(site)):
        if not one.lift.stacks(collections):
            continue
        code = _stacked_once(code, one.lift, _size(one, token), collections, rngs, refer)
    return code


def _stacked_once(
    code: str, lift: Lift, size: str, collections: frozenset[str], rngs: str, refer: Refer
) -> str:
    out = state_axes(lift, collections, refer, carries=False)
    settings = [f"lambda {rngs}: {code}"]
    is_split = lift.splits("params")
    if not is_split:
        settings.append("in_axes=None")
    if out != "0":
        settings.append(f"out_axes={out}")
    if not is_split:
        settings.append(f"axis_size={size}")
    metadata = lift.given.get("metadata_params")
    if metadata is not None and metadata.code is not None:
        settings.append(f"transform_metadata={metadata.code}")
    keys = f"{rngs}.split({size})" if is_split else rngs
    return f"{refer('nnx.vmap')}({', '.join(settings)})({keys})"


def _size(stack: Stack, token: Callable[[Dim], str]) -> str:
    """Return how often a submodule is built."""
    bound = size_setting(stack.lift)
    if bound is not None and bound.code is not None:
        return bound.code
    if stack.size is None:
        raise Unsupported(
            f"it is not known how often `nn.{stack.lift.kind}` runs it: give `length` or `axis_size`"
        )
    return token(stack.size)


# Transforms that change how something is computed, not what.
_SAME_RESULTS: Final = frozenset({"remat", "checkpoint", "jit"})
_WORDS: Final = frozenset({"and", "or", "not", "in", "is", "None", "True", "False", "self"})


def optional_transform(one: Value, other: Value, code: str) -> Value | None:
    """Return a class or function that is under a transform only where a condition holds.

    Returns:
        The transform with its condition; None where the two do not differ by one transform, or
        methods cannot say the condition.
    """
    if not is_of_self(code):
        return None
    if isinstance(one, ClassTransform) and _is_around(one, other):
        return replace(one, condition=code)
    if isinstance(other, ClassTransform) and _is_around(other, one):
        return replace(other, condition=f"not ({code})")
    return None


def settle_branches(one: Value, other: Value, codes: Mapping[int, str]) -> None:
    """Note on which condition submodules of two sides of a branch are under a transform.

    Args:
        one: The submodule, or the list of such, of one side.
        other: That of the other side.
        codes: The conditions of branches, by number.
    """
    if isinstance(one, Repeated) and isinstance(other, Repeated):
        settle_branches(one.element, other.element, codes)
    if not isinstance(one, ModuleValue) or not isinstance(other, ModuleValue):
        return
    for site, plain in ((one.site, other.site), (other.site, one.site)):
        if not site.conditions or not site.transforms or site.transforms[1:] != plain.transforms:
            continue
        last, first = site.conditions[-1], site.transforms[0]
        code = codes.get(last.number, "")
        if not isinstance(first, ClassTransform) or first.condition or not code:
            continue
        if first.name.rpartition(".")[2] in _SAME_RESULTS and is_of_self(code):
            condition = code if last.side else f"not ({code})"
            site.transforms = (replace(first, condition=condition), *site.transforms[1:])


def _is_around(one: ClassTransform, inner: Value) -> bool:
    name = one.name.rpartition(".")[2]
    return one.target == inner and name in _SAME_RESULTS and not one.condition


def is_of_self(code: str) -> bool:
    """Whether code reads nothing but attributes of the object and literals."""
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "", code)
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", plain)
    return all(name in _WORDS for name in names) and "(" not in plain.replace("(not ", "")


def name_optional(recorder: Recorder) -> None:
    """Note the names that submodules have in Linen where their optional transform is left out."""
    sites = [site for site in recorder.plan.sites if not site.is_verbatim and not site.explicit]
    taken = {linen_class_name(site) for site in sites}
    for site in sites:
        for other in _without_optional(site):
            name = linen_class_name(site)
            plain = linen_class_name(other)
            if plain in taken:
                recorder.mark(
                    site.node,
                    f"Linen counts this submodule with others named `{plain}` where its"
                    " transform is left out; give it `name=` before migrating",
                )
            elif site.linen.startswith(f"{name}_"):
                site.aliases = (*site.aliases, plain + site.linen.removeprefix(name))


def _without_optional(site: Site) -> list[Site]:
    is_optional = [
        isinstance(one, ClassTransform) and bool(one.condition) for one in site.transforms
    ]
    if not any(is_optional):
        return []
    kept = tuple(one for one, gone in zip(site.transforms, is_optional, strict=True) if not gone)
    return [replace(site, transforms=kept)]
