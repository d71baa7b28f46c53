"""``nnx-deprecated``: older spellings, with the number of the rule that rewrites them.

What the runtimes do not have any more is an error of mypy already, and not reported again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.nodes import AssignmentStmt, CallExpr, MemberExpr, NameExpr, RefExpr
from mypy.plugin import AttributeContext
from mypy.types import NoneType, UnboundType

from typed_nnx_codegen.facts.names import HOOKS, VARIABLES, name_of
from typed_nnx_mypy.call import Argument, Call, ClassCheck
from typed_nnx_mypy.errorcodes import DEPRECATED
from typed_nnx_mypy.registry import on_call, on_class
from typed_nnx_mypy.reporter import Reporter

_ANNOTATIONS: Final = ("Data", "Static")


@dataclass(frozen=True)
class Spelling:
    """An older spelling that still works.

    Attributes:
        code: The number of the rule of the codemod that rewrites it.
        write: What to write instead.
        name: A public name as in `names.py`; with a keyword, the function or class that takes it.
        keyword: The keyword argument, where only that is old.
    """

    code: str
    write: str
    name: str
    keyword: str = ""

    @property
    def message(self) -> str:
        """What to report."""
        what = f"{self.name}({self.keyword}=...)" if self.keyword else self.name
        return f"`{what}` is deprecated ({self.code}). Fix: {self.write}"


CELLS: Final = ("GRUCell", "LSTMCell", "OptimizedLSTMCell", "SimpleCell")
_OWN_CLASS: Final = "a Variable class of your own with get_value or set_value"


def _keywords(code: str, write: str, keyword: str, *names: str) -> list[Spelling]:
    return [Spelling(code, write, name, keyword) for name in names]


SPELLINGS: Final = (
    Spelling("TN103", "nnx.Variable", "VariableState"),
    Spelling("TN120", "v[...] where it is an array, v.get_value() otherwise", "Variable.value"),
    Spelling("TN121", "v.get_raw_value(), or v.set_raw_value(x) to set it", "Variable.raw_value"),
    *_keywords("TN123", "rngs.split(n)", "split", "Rngs.fork", "RngStream.fork"),
    *_keywords("TN123", "nnx.split_rngs(node, splits=n)", "split", "fork_rngs"),
    *_keywords("TN127", "ref=; `use_ref` is kept and does nothing", "use_ref", *VARIABLES),
    *_keywords("TN127", "ref=; `mutable` is kept and does nothing", "mutable", *VARIABLES),
    Spelling("TN128", "x: T = nnx.data()", "Data"),
    Spelling("TN128", "x: T = nnx.static()", "Static"),
    Spelling("TN130", "nnx.to_flat_state(state)", "State.flat_state"),
    Spelling("TN130", "nnx.from_flat_state(flat)", "State.from_flat_path"),
    Spelling("TN130", "nnx.map_state(f, state)", "State.map"),
    Spelling("TN130", "nnx.merge_state(state, *states)", "State.merge"),
    Spelling("TN130", "nnx.filter_state(state, *filters)", "State.filter"),
    Spelling("TN130", "nnx.split_state(state, *filters)", "State.split"),
    Spelling("TN130", "nnx.to_pure_dict(state)", "State.to_pure_dict"),
    Spelling("TN130", "nnx.replace_by_pure_dict(state, values)", "State.replace_by_pure_dict"),
    *_keywords("TN131", "out_sharding=", "sharding", "with_metadata", *VARIABLES),
    *_keywords("TN131", "out_sharding=", "sharding_names", "with_metadata", *VARIABLES),
    Spelling("TN131", "v.out_sharding", "Variable.sharding_names"),
    Spelling("TN132", "nnx.as_pure(tree)", "pure"),
    Spelling("TN132", "nnx.with_vars(node, ...)", "vars_as"),
    Spelling("TN132", "nnx.as_abstract(tree)", "abstract_with_sharding"),
    Spelling("TN134", "nnx.iter_modules(m)", "Module.iter_modules"),
    Spelling("TN134", "nnx.iter_children(m)", "Module.iter_children"),
    *(each for hook in HOOKS for each in _keywords("TN137", _OWN_CLASS, hook, *VARIABLES)),
    *_keywords("TN140", "nnx.RNN(cell, rngs=rngs)", "keep_rngs", *CELLS),
)
_OLD: Final[dict[str, list[Spelling]]] = {}
for _each in SPELLINGS:
    _OLD.setdefault(_each.name, []).append(_each)
# A class by its older name is the class: mypy calls it by the name of now.
_OLD["Variable"] += _OLD["VariableState"]
# Methods that every Module of a user has.
INHERITED: Final = frozenset(
    each.name.removeprefix("Module.") for each in SPELLINGS if each.name.startswith("Module.")
)
_FALSE: Final = "builtins.False"
_ENDINGS: Final = tuple(f".{e.name}" for e in SPELLINGS if e.name.startswith("Variable."))


# -- calls ------------------------------------------------------------------------------------


@on_call(*(name for name in _OLD if name not in _ANNOTATIONS))
def older_spellings_are_replaced(call: Call) -> None:
    """Report calls of what is deprecated, and deprecated arguments."""
    for old in _OLD[call.name]:
        if old.keyword:
            given = call.keyword(old.keyword)
            if given is not None and not _is_off(given):
                call.report(DEPRECATED, old.message, given.expression)
        elif _is_written(old, call):
            call.report(DEPRECATED, old.message)


def _is_off(given: Argument) -> bool:
    """Tell whether an argument is what it is without it."""
    is_false = isinstance(given.expression, RefExpr) and given.expression.fullname == _FALSE
    return is_false or isinstance(given.type, NoneType)


def _is_written(spelling: Spelling, call: Call) -> bool:
    """Tell whether a call is written with the older name, and not with another of the same."""
    node = call.node
    callee = node.callee if isinstance(node, CallExpr) else None
    name = spelling.name.rpartition(".")[2]
    return isinstance(callee, NameExpr | MemberExpr) and callee.name == name


# -- attributes -------------------------------------------------------------------------------


def is_older_attribute(fullname: str) -> bool:
    """Tell whether a full name is that of an older attribute of Variables."""
    return fullname.endswith(_ENDINGS)


def report_attribute(context: AttributeContext, public: str, checker: Reporter) -> None:
    """Report that an older attribute is read or set; a class that overrides it does neither."""
    if not isinstance(context.context, MemberExpr):
        return
    for old in _OLD.get(public, ()):
        checker.report(DEPRECATED, old.message, context.context)


# -- annotations ------------------------------------------------------------------------------


@on_class
def fields_are_marked_by_value(check: ClassCheck) -> None:
    """Report ``x: nnx.Data[T]`` in the body of a class."""
    for statement in check.owner.defn.defs.body:
        if not isinstance(statement, AssignmentStmt):
            continue
        written = statement.unanalyzed_type
        if isinstance(written, UnboundType):
            symbol = check.checker.named(written.name)
            name = name_of(symbol.fullname or "") if symbol is not None else None
            if name is not None and name.public in _ANNOTATIONS:
                check.report(DEPRECATED, _OLD[name.public][0].message, written)
