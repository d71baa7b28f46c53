"""Submodules that a transform stacks, also where only some objects have it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from typed_nnx_codegen.migrate.linen.domain.class_plan import Entry, Site, linen_class_name
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.domain.references import ClassTransform, ModuleValue, Repeated
from typed_nnx_codegen.migrate.linen.domain.values import NONE, Seq, Value
from typed_nnx_codegen.migrate.linen.transforms.lifts import (
    Lift,
    Refer,
    Unsupported,
    lift_of,
    size_setting,
    state_axes,
)


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
        for size in reversed(_sizes(one, token)):
            code = _stacked_once(code, one.lift, size, collections, rngs, refer)
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


def _sizes(stack: Stack, token: Callable[[Dim], str]) -> list[str]:
    """Return how often a submodule is built, for each axis that it gets."""
    if stack.lift.kind == "remat_scan":
        return lengths_of(stack.lift)
    bound = size_setting(stack.lift)
    if bound is not None and bound.value != NONE and bound.code is not None:
        return [bound.code]
    if stack.size is None:
        raise Unsupported(
            f"it is not known how often `nn.{stack.lift.kind}` runs it: give `length` or `axis_size`"
        )
    return [token(stack.size)]


def lengths_of(lift: Lift) -> list[str]:
    """Return the lengths of a `remat_scan`.

    Raises:
        Unsupported: They are not known.
    """
    bound = lift.given.get("lengths")
    if bound is None or bound.code is None or not isinstance(bound.value, Seq):
        raise Unsupported("`lengths` of `nn.remat_scan` are not known")
    numbers = [getattr(one, "value", None) for one in bound.value.items]
    return [
        str(number) if isinstance(number, int) else f"{bound.code}[{k}]"
        for k, number in enumerate(numbers)
    ]


def stacked_entry(entry: Entry, site: Site) -> Entry:
    """Return a variable of a submodule that transforms stack: its layout has more axes."""
    if not entry.change or not (site.transforms or site.stacks):
        return entry
    collection = entry.linen.partition("/")[0]
    try:
        axes = [
            axis
            for one in reversed(stacks_of(site))
            for axis in [one.lift.axis(collection)] * _depth(one.lift)
            if isinstance(axis, int)
        ]
    except Unsupported:
        return entry
    change = dict(entry.change)
    for axis in axes:
        change = _stacked_change(change, axis)
    return Entry(entry.linen, entry.to, change)


def _depth(lift: Lift) -> int:
    return len(lengths_of(lift)) if lift.kind == "remat_scan" else 1


def _stacked_change(change: dict[str, object], axis: int) -> dict[str, object]:
    found = dict(change)
    order = found.get("transpose")
    if isinstance(order, (tuple, list)):
        numbers = [int(one) for one in order]
        place = axis if axis >= 0 else len(numbers) + 1 + axis
        moved = [one + (one >= place) for one in numbers]
        found["transpose"] = [*moved[:place], place, *moved[place:]]
    shape = found.get("reshape")
    if isinstance(shape, (tuple, list)):
        raise Unsupported("the weights of a stacked layer have another layout in NNX")
    return found


# Transforms that change how something is computed, not what.
_SAME_RESULTS: Final = frozenset({"remat", "checkpoint", "jit"})
_WORDS: Final = frozenset({"and", "or", "not", "in", "is", "None", "True", "False", "self"})


def optional_transform(one: Value, other: Value, code: str) -> Value | None:
    """Return a class or function that is under a transform only where a condition holds.

    Args:
        one: What it is where the condition holds.
        other: What it is elsewhere.
        code: The condition.

    Returns:
        The transform with its condition; None where the two do not differ by one transform, or
        methods cannot say the condition.
    """
    if not _is_of_self(code):
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
        if first.name.rpartition(".")[2] in _SAME_RESULTS and _is_of_self(code):
            condition = code if last.side else f"not ({code})"
            site.transforms = (replace(first, condition=condition), *site.transforms[1:])


def _is_around(one: ClassTransform, inner: Value) -> bool:
    name = one.name.rpartition(".")[2]
    return one.target == inner and name in _SAME_RESULTS and not one.condition


def _is_of_self(code: str) -> bool:
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
