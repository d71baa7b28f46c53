"""Transforms that only some objects have: ``nn.remat(Block) if self.use_remat else Block``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.names.site_names import linen_class_name
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import ClassTransform, ModuleValue, Repeated
from typed_nnx_codegen.migrate.linen.running.values import Value

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
