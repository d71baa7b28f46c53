"""Calls of methods that are functions now: ``m.clone()`` is ``nnx.clone(m)``."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted, has_star
from typed_nnx_codegen.migrate.analysis.values import NNX, External, Instance, ProjectClass
from typed_nnx_codegen.migrate.file import File, MethodCall
from typed_nnx_codegen.migrate.patterns.definition_names import is_called_state

# Methods of Modules that take filters.
_TAKE_FILTERS = frozenset({"extract", "filter", "split"})
# Functions whose first argument is a model.
_TAKE_MODELS = frozenset(
    {"nnx.clone", "nnx.graphdef", "nnx.pop", "nnx.split", "nnx.state", "nnx.update"}
)
_ENDS_OF_CALLS = (cst.Await, cst.Yield, cst.NamedExpr, cst.Call, cst.BaseComp)


def module_method(file: File, call: cst.Call, *names: str) -> MethodCall | None:
    """Return a call of a method that Modules had; None where it is none, or not sure."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in names:
        return None
    method = file.method(call)
    if method is None or method.cls != "Module" or method.name not in names:
        return None
    return None if method.on_class else method


def function_call(
    public: str, file: File, updated: cst.Call, keep: tuple[cst.Arg, ...] | None = None
) -> cst.Call:
    """Return a call of a function instead of a method, with the object as the first argument.

    Args:
        public: The function.
        file: The file.
        updated: The call of the method.
        keep: The arguments that stay; None for all.
    """
    assert isinstance(updated.func, cst.Attribute)
    args = tuple(updated.args) if keep is None else keep
    receiver = cst.Arg(updated.func.value, whitespace_after_arg=_comment_at(updated.func.dot))
    if args:
        receiver = receiver.with_changes(comma=_first_comma(updated))
    elif updated.args:
        # What is left has no comma of an argument that is gone.
        updated = updated.with_changes(whitespace_before_args=cst.SimpleWhitespace(""))
    return updated.with_changes(func=file.refer(public), args=[receiver, *args])


def _comment_at(dot: cst.Dot) -> cst.BaseParenthesizableWhitespace:
    """Return the space around a dot if there is a comment in it, and none otherwise."""
    for space in (dot.whitespace_before, dot.whitespace_after):
        if isinstance(space, cst.ParenthesizedWhitespace) and "#" in code_of(space):
            return space
    return cst.SimpleWhitespace("")


def _first_comma(call: cst.Call) -> cst.Comma:
    """Return a comma after which the next argument has a line of its own if the others have."""
    space = call.whitespace_before_args
    comma = call.args[0].comma
    is_alone = isinstance(comma, cst.Comma) and isinstance(
        comma.whitespace_after, cst.ParenthesizedWhitespace
    )
    if is_alone and isinstance(space, cst.ParenthesizedWhitespace):
        space = space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
        return cst.Comma(whitespace_after=space)
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def loses_comment(call: cst.Call) -> bool:
    """Whether there are comments on both sides of the dot of a method: one would be lost."""
    if not isinstance(call.func, cst.Attribute):
        return False
    dot = call.func.dot
    return all("#" in code_of(space) for space in (dot.whitespace_before, dot.whitespace_after))


def is_foreign(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression is a call of something of another package."""
    name = file.name(node.func) if isinstance(node, cst.Call) else ""
    return bool(name) and not name.startswith(f"{NNX}.")


def is_quick(node: cst.CSTNode) -> bool:
    """Whether evaluating an expression runs nothing: names, attributes, literals of them."""
    return not any(isinstance(below, _ENDS_OF_CALLS) for below in descendants(node))


def takes_filters(file: File, call: cst.Call) -> bool:
    """Whether a method surely gets filters of NNX, and of something that may be a Module.

    A first argument that is none is a model, and the method a function of a package.
    """
    if not call.args or call.args[0].star or not isinstance(call.func, cst.Attribute):
        return False
    return is_filter_of_nnx(file, call.args[0].value) and not is_called_state(call.func.value)


def is_filter_of_nnx(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression surely is a filter of NNX: ``nnx.Param``, ``...``, a class of Variables."""
    if isinstance(node, cst.Ellipsis):
        return True
    value = file.value(node)
    if isinstance(value, External):
        name = value.public.removeprefix(f"{NNX}.")
        return name != value.public and name[:1].isupper()
    if isinstance(value, ProjectClass):
        return class_derives(value, "Variable") is True
    if isinstance(value, Instance):
        return isinstance(value.cls, str) and value.cls in {"nnx.All", "nnx.Any", "nnx.Not"}
    return False


class Models:
    """What a file uses as a model, by the names of it, where nothing else is known.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._found: frozenset[str] | None = None

    def has(self, node: cst.BaseExpression) -> bool:
        """Whether an expression has the name of something that is used as a model."""
        if self._found is None:
            self._found = frozenset(self._search())
        name = dotted(node)
        return bool(name) and name in self._found

    def _search(self) -> set[str]:
        found: set[str] = set()
        for node in self._file.analysis.known.of(cst.Call):
            if isinstance(node.func, cst.Attribute) and self._is_of_module(node, node.func):
                found.add(dotted(node.func.value))
            elif node.args and not has_star(node) and self._file.name(node.func) in _TAKE_MODELS:
                found.add(dotted(node.args[0].value))
        return found - {""}

    def _is_of_module(self, call: cst.Call, function: cst.Attribute) -> bool:
        if function.attr.value in _TAKE_FILTERS and takes_filters(self._file, call):
            return True
        method = self._file.method(call)
        return method is not None and method.cls == "Module" and not method.on_class
