"""Where the names that Linen counts are not those of one run through the methods."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Instance
from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.modules.classes import Method
from typed_nnx_codegen.migrate.linen.names.site_names import linen_class_name
from typed_nnx_codegen.migrate.linen.running.frames import Recorder

_SCOPED = ("flax.linen.compact_name_scope", "flax.linen.module.compact_name_scope")


def mark_restarted_names(recorder: Recorder) -> None:
    """Mark what makes names of submodules start again, or belong to a scope of a method.

    Linen counts from zero whenever a compact method is entered from one that is not compact: then
    two calls share their submodules, which the new model does not.
    """
    cls = recorder.plan.cls
    methods = cls.methods().values()
    for method in methods:
        if any(name in _SCOPED for name in method.decorators):
            recorder.mark(method.node, "`nn.compact_name_scope` is not migrated", NAME)
        if _constructs_itself(method):
            recorder.mark(method.node, "`cls(...)` needs the sizes that the constructor got")
    compact = {method.node for method in methods if method.is_compact}
    entered = [
        (call, called)
        for caller, call, called in recorder.self_calls
        if called in compact and caller not in compact
    ]
    counted = [site for site in recorder.plan.sites if not site.explicit and not site.is_verbatim]
    again = len(entered) > 1 or any(called in recorder.repeated for _, called in entered)
    if counted and again:
        recorder.mark(
            entered[-1][0],
            "Linen counts the names of submodules anew here, and shares those that are named alike",
            NAME,
        )


def _constructs_itself(method: Method) -> bool:
    """Whether a class method constructs an object of its class."""
    params = method.node.params.params
    if "builtins.classmethod" not in method.decorators or not params:
        return False
    name = params[0].name.value
    values = method.owner.analysis.values
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == name
        and not isinstance(values.get(node, UNKNOWN), Instance)  # callers are rewritten for it
        for node in descendants(method.node.body)
    )


def mark_shifting_names(recorder: Recorder) -> None:
    """Mark submodules of one of several classes where others count by one of these names, too."""
    sites = [one for one in recorder.plan.sites if not one.explicit and not one.is_verbatim]
    for site in sites:
        if not site.alternatives:
            continue
        names = {linen_class_name(one) for one in (site, *site.alternatives)}
        for other in sites:
            if other.code == site.code:
                continue
            counted = {linen_class_name(one) for one in (other, *other.alternatives)}
            if names & counted:
                recorder.mark(
                    site.node,
                    f"which number its name in Linen has depends on what `{site.code}` is:"
                    f" `{code_of(other.node.func)}` may be counted with it",
                    NAME,
                )
                break
