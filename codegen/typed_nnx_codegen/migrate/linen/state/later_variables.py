"""Variables that a call makes: of its own sizes, or only where it asks for them, like caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Site
from typed_nnx_codegen.migrate.linen.running.frames import Frame, Line, Recorder, VariableSite
from typed_nnx_codegen.migrate.linen.running.values import Value
from typed_nnx_codegen.migrate.linen.state.declaring import Declaring, VariableName
from typed_nnx_codegen.migrate.linen.transforms.constructing import Stack, stacks_of
from typed_nnx_codegen.migrate.linen.transforms.lifts import Unsupported

# The arguments of `self.variable` before those of the initializer.
_FIRST: Final = ("col", "name", "init_fn")

MADE_ONCE: Final = Helper(
    "made_once",
    '''\
def made_once(module, name, kind, init_fn, *args, **kwargs):
    """Return a variable of a module; the first call that asks for it makes it."""
    if getattr(module, name) is None:
        setattr(module, name, kind(init_fn(*args, **kwargs)))
    return getattr(module, name)
''',
)


class LaterVariables:
    """Declares variables that the constructor leaves None.

    Args:
        refer: Gives the code for a public name.
        declaring: Declares variables.
    """

    def __init__(self, refer: Callable[[str], str], declaring: Declaring) -> None:
        self._refer = refer
        self._declaring = declaring

    def declare(
        self, collection: str, name: VariableName, value: Value, node: cst.Call, frame: Frame
    ) -> str:
        """Declare a variable; return its attribute, or nothing where a call cannot make it.

        Args:
            collection: Its collection.
            name: Its name.
            value: What is known of it.
            node: The call that declares it.
            frame: The frame.
        """
        recorder = frame.recorder
        is_plain = name.is_literal and not name.is_pattern and not recorder.owner
        if not is_plain or collection == "params" or frame.verbatim or recorder.loops:
            return ""
        if any(isinstance(one, Stack) for one in recorder.stacks) or not _is_spelled(node):
            return ""
        key = f"{collection}/{name.text}"
        known = recorder.variables.get(key)
        if known is not None and not known.is_later:
            return ""
        attribute = self._declaring.attribute(collection, name, frame)
        if known is None:
            none = f"{self._refer('nnx.data')}(None)"
            recorder.setup.append(Line(f"self.{attribute} = {none}"))
            recorder.variables[key] = VariableSite(
                node, collection, name.text, attribute, none, value, is_later=True
            )
        recorder.helpers.append(MADE_ONCE)
        kind = self._declaring.kind(collection)
        if "(" in kind:
            kind = f"lambda value: {kind}(value)"
        recorder.plan.rebuilt[node] = _MadeOnce(attribute, kind)
        return attribute


def asks_for(collection: str, recorder: Recorder) -> bool:
    """Whether a module asks whether it has variables of a collection."""
    for method in recorder.plan.cls.methods().values():
        for text in _questions(method.node):
            if text in ("", collection):
                return True
    return False


def mark_stacked(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Mark submodules under transforms that cannot pass on variables made within a call."""
    plan = recorder.plan
    plan.makes_later = any(one.is_later for one in recorder.variables.values())
    for site in plan.sites:
        for one in (site, *site.alternatives):
            if not isinstance(one.target, LinenClass) or not plan_of(one.target).makes_later:
                continue
            plan.makes_later = True
            if _maps(site):
                recorder.mark(site.node, "variables that a call makes under a transform")


def _maps(site: Site) -> bool:
    """Whether transforms around a submodule run it more than once, or may."""
    try:
        return bool(stacks_of(site))
    except Unsupported:
        return True


def _questions(function: cst.FunctionDef) -> list[str]:
    """Return the collections in which a function asks for variables; "" for any."""
    found: list[str] = []
    for node in descendants(function):
        match node:
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="has_variable")), args=[first, *_]
            ):
                asked = first.value
                text = asked.evaluated_value if isinstance(asked, cst.SimpleString) else ""
                found.append(str(text))
    return found


def _is_spelled(node: cst.Call) -> bool:
    """Whether the first arguments of `self.variable` are where they are looked for."""
    names = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    return (
        isinstance(node.func, cst.Attribute)
        and not any(arg.star for arg in node.args[:3])
        and "unbox" not in names
        and all(name in ("", wanted) for name, wanted in zip(names, _FIRST, strict=False))
        and len(names) > len(_FIRST) - 1
        and not set(names[3:]) & set(_FIRST)
    )


@dataclass(frozen=True)
class _MadeOnce:
    """Writes `self.variable(...)` as the call that makes the variable once.

    Attributes:
        attribute: The attribute of the variable.
        kind: The expression for its type.
    """

    attribute: str
    kind: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        assert isinstance(updated.func, cst.Attribute)
        _, _, init, *others = updated.args
        first = [
            updated.func.value,
            cst.parse_expression(repr(self.attribute)),
            cst.parse_expression(self.kind),
            init.value,
        ]
        space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [cst.Arg(one, comma=space) for one in first]
        if not others:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return cst.Call(cst.Name(MADE_ONCE.name), [*args, *others])
