"""Fields that hold one of several classes: what differs between them is asked of the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from typed_nnx_codegen.migrate.linen.layers import Helper, find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import Site

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.running.frames import Recorder

CONSTRUCTS: Final = Helper(
    "constructs",
    '''\
def constructs(layer, kind):
    """Whether a class, or a partial of one, constructs objects of a class."""
    made = getattr(layer, "func", layer)
    return isinstance(made, type) and issubclass(made, kind)
''',
)


def class_code(site: Site, recorder: Recorder, refer: Callable[[str], str]) -> str | None:
    """Return the expression for the class of a submodule; None where the file may not have it."""
    target = site.target
    if isinstance(target, LinenClass):
        return target.name if target.home == recorder.plan.cls.home else None
    layer = find_layer(target)
    if layer is None or not layer.nnx.startswith("nnx."):
        return None
    return refer(layer.nnx)


def chosen_constructor(
    codes: Iterable[tuple[Site, str]], recorder: Recorder, refer: Callable[[str], str]
) -> str | None:
    """Return the code that constructs whichever class a field holds; None if it cannot be told.

    Args:
        codes: The sites, and the code that constructs each; the first one is the default.
        recorder: What was seen of the module.
        refer: Gives the code for a public name.
    """
    (first, last), *others = codes
    text = ""
    for site, code in others:
        if code == last:
            continue
        name = class_code(site, recorder, refer)
        if name is None or site.code != first.code or not site.code.startswith("self."):
            return None
        text += f"{code} if {CONSTRUCTS.name}({site.code}, {name}) else "
    recorder.helpers.append(CONSTRUCTS)
    return f"({text}{last})"


def chosen_keyword(
    name: str,
    code: str,
    sites: Iterable[Site],
    owner: Site,
    recorder: Recorder,
    refer: Callable[[str], str],
) -> str | None:
    """Return a keyword that only calls of some classes get; None where that cannot be told.

    Args:
        name: The keyword.
        code: Its value.
        sites: The sites of the classes that take it.
        owner: The site of the submodule that is called.
        recorder: What was seen of the module.
        refer: Gives the code for a public name.
    """
    kinds = [class_code(site, recorder, refer) for site in sites]
    known = [kind for kind in kinds if kind is not None]
    reference = owner.reference
    is_plain = reference.startswith("self.") and reference.removeprefix("self.").isidentifier()
    if len(known) != len(kinds) or not is_plain:
        return None
    classes = known[0] if len(known) == 1 else f"({', '.join(known)})"
    return f"**({{{name!r}: {code}}} if isinstance({reference}, {classes}) else {{}})"
