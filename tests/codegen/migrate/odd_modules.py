"""Modules in odd layouts, that mention NNX wherever a name, an attribute or a call may stand.

What is drawn need not make sense, and not all of it is Python: what does not parse is left out by
the tests.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Texts = st.SearchStrategy[str]

IMPORTS = (
    "from flax import nnx",
    "import flax.nnx",
    "import flax.nnx as nnx, os",
    "from flax import nnx as n, linen as nn",
    "from flax.nnx import *",
    "from flax.nnx import Param as P, VariableState, (Module)",
    "from flax.nnx import (  # why\n    Param,\n    State as S,  # this\n)",
    "from flax.experimental import nnx",
    "from flax.experimental import \\\n    nnx",
    "import flax.experimental.nnx as nnx; x = nnx.Param(1)",
    "try:\n    from flax import nnx\nexcept ImportError: nnx = None",
    "if TYPE_CHECKING:\n\tfrom flax import nnx\n",
    "import typed_nnx as nnx",
    "from . import nnx",
    "import flax",
    "nnx = __import__('flax').nnx",
)
# With it the names below stand for things of NNX.
PRELUDE = """
class M(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.v = nnx.Param(rngs.params())
        self.model = nnx.Linear(2, 3, rngs=rngs)
rngs = nnx.Rngs(0)
m: M = M(rngs)
v = x = nnx.Variable(1)
state, static = m.split()
"""
NAMES = ("nnx", "m", "x", "self", "state", "v", "rngs", "P", "S", "M", "flax", "n", "_", "ä")
ATTRIBUTES = (
    *("value", "raw_value", "split", "merge", "get_state", "extract", "update", "clone", "init"),
    *("fork", "make_rng", "params", "opt", "model", "flat_state", "filter", "map", "at", "set"),
    *("nnx", "sow", "iter_modules", "iter_children", "create_abstract", "partial_init", "apply"),
)
PUBLIC = (
    *("Param", "Variable", "VariableState", "State", "GraphDef", "Module", "Object", "GraphNode"),
    *("Sequence", "Sequential", "List", "Dict", "Rngs", "Optimizer", "ModuleDef", "Empty", "Ctx"),
    *("TreeNode", "field", "Jit", "Scan", "Vmap", "Remat", "JIT", "jit", "scan", "vmap", "grad"),
    *("StateAxes", "split", "merge", "fork", "ForkStates", "MutableArray", "mutable", "freeze"),
    *("Data", "Static", "is_data_type", "Linear", "Conv", "with_sharding_constraint", "pure"),
    *("register_variable_name_type_pair", "split_rngs", "value_and_grad", "not_there", "remat"),
)
KEYWORDS = (
    *("rngs", "state_axes", "split_rngs", "wrt", "use_ref", "mutable", "sharding", "in_axes"),
    *("sharding_names", "mask_fn", "donate_state", "constrain_state", "split", "length", "x"),
)
SPACES = ("", "", "", " ", "  ", "\t", " \\\n  ")
INSIDE = ("", "", " ", "\n", "\n    # a comment: nnx.Param\n  ", "\t")
COMMENTS = ("", "", "", "  # nnx.VariableState", " # type: ignore", "  # TODO[typed-nnx] TN103: x")
INDENTS = ("    ", "  ", "\t", " ")


def _of(*choices: str) -> Texts:
    return st.sampled_from(choices)


names, attributes, public = (st.sampled_from(kind) for kind in (NAMES, ATTRIBUTES, PUBLIC))
spaces, inside = st.sampled_from(SPACES), st.sampled_from(INSIDE)
atoms = st.one_of(
    names,
    public.map("nnx.{}".format),
    public.map("nnx.{}".format),
    public.map("flax.nnx.{}".format),
    attributes.map("m.{}".format),
    attributes.map("self.v.{}".format),
    _of(
        "0", "'nnx.Param'", "f'{nnx.Param(x)!r:>{v.value}}'", "...", "None", '"""a\nnnx"""', "1_0j"
    ),
)


@st.composite
def calls(draw: Any, parts: Texts) -> str:
    given = draw(st.lists(_arguments(parts), max_size=3))
    end = draw(_of("", "", ",")) if given else ""
    between = f"{draw(inside)},{draw(inside)}"
    return f"{draw(parts)}{draw(inside) and ' '}({draw(inside)}{between.join(given)}{end}{draw(inside)})"


def _arguments(parts: Texts) -> Texts:
    keywords = st.sampled_from(KEYWORDS)
    return st.one_of(
        parts,
        st.builds("{}={}".format, keywords, parts),
        st.builds("{} = {}".format, keywords, parts),
        _of("*", "**").flatmap(lambda star: parts.map(f"{star}{{}}".format)),
    )


def _larger(parts: Texts) -> Texts:
    """Return expressions that are made of others."""
    two, three = (parts, parts), (parts, parts, parts)
    return st.one_of(
        calls(parts),
        st.builds("{}{}.{}{}".format, parts, spaces, spaces, attributes),
        st.builds("{}({}, {})".format, public.map("nnx.{}".format), *two),
        st.builds("({}{}{})".format, inside, parts, inside),
        st.builds("{}[{}{}:{}]".format, *two, inside, parts),
        st.builds("{}[{}, ...]".format, *two),
        st.builds("{}.at[{}].set({})".format, *three),
        st.builds("[{},{}{}, *{}]".format, parts, inside, *two),
        st.builds("{{{}: {}, **{}}}".format, *three),
        st.builds("({} if {} else {})".format, *three),
        st.builds("[{} for {} in {} if {}]".format, parts, names, *two),
        st.builds("(lambda {}, *{}: {})".format, _of("nnx", "x=nnx.Param", "m"), names, parts),
        st.builds("({} := {})".format, names, parts),
        st.builds("{} {} {}".format, parts, _of("+", "**", "is not", "@", "and", "not  in"), parts),
        st.builds("(yield {})".format, parts),
        st.builds("(await {})".format, parts),
        st.builds("f'{{{}}}{{x.value=}}'".format, names),
    )


_expressions = st.recursive(atoms, _larger, max_leaves=6)


@st.composite
def _expression(draw: Any) -> str:
    """Draw an expression. (hypothesis refuses to print strategies as large as this one.)"""
    return draw(_expressions)


expressions = _expression()
targets = st.one_of(
    names,
    attributes.map("m.{}".format),
    attributes.map("self.{}".format),
    _of(
        "nnx.Param", "x.value[0]", "state, static", "(a, *b)", "[m, (v.value, x)]", "x.value.at[0]"
    ),
)
_simple = st.one_of(
    expressions,
    st.builds("{}{}={}{}".format, targets, spaces, spaces, expressions),
    st.builds("{} = {} = {}".format, targets, targets, expressions),
    st.builds("{} {}= {}".format, targets, _of("+", "@", "//", ">>"), expressions),
    st.builds("{}: {}".format, names, expressions),
    st.builds("self.v : {} = {}".format, expressions, expressions),
    st.builds("{} = {}.split({})".format, targets, names, expressions),
    st.builds("del {}".format, targets),
    st.builds("assert {}, {}".format, expressions, expressions),
    st.builds("return {}".format, expressions),
    st.builds("raise {} from {}".format, expressions, expressions),
    st.builds("__all__ = ['nnx', {!r}]".format, public),
    _of("pass", "global nnx", "nonlocal m", "break", "continue", "return", "...", "yield"),
    st.sampled_from(IMPORTS),
)


@st.composite
def _simple_statement(draw: Any) -> str:
    return draw(_simple)


simple = _simple_statement()
headers = st.one_of(
    st.builds("if {}{}:".format, expressions, spaces),
    st.builds("while ({}) :".format, expressions),
    st.builds("for {} in {}:".format, targets, expressions),
    st.builds("with {} as {}, {}:".format, expressions, targets, expressions),
    st.builds("with (\n  {} as x,  # why\n  {},\n):".format, expressions, expressions),
    st.builds(
        "def {}({}, /, x: {} = {}, *, nnx=1) -> {}:".format, names, names, *[expressions] * 3
    ),
    st.builds("async  def {}(self, *{}, **kw):".format, names, names),
    st.builds("@{}\ndef f(m, rngs): ".format, expressions),
    st.builds("@{}\n\n@{}  # last\nclass {}:".format, expressions, expressions, names),
    st.builds("class {}(nnx.Module):".format, names),
    st.builds("class M(nnx.Module, {}):".format, expressions.map("metaclass={}".format)),
    st.builds("class M(nnx.{}[{}]):".format, public, expressions),
    st.builds("match {}:\n case nnx.Param(value=x) | {{'a': nnx.State()}}:".format, expressions),
    st.builds("try:\n  {}\nexcept* ({}) as x:".format, names, expressions),
    st.builds("try: {}\nfinally:".format, expressions),
)


def _indented(lines: str, by: str) -> str:
    return "\n".join(by + line for line in lines.split("\n"))


@st.composite
def blocks(draw: Any, statements: Texts) -> str:
    """Draw a statement with a block, whose header may have a block of its own above it."""
    header = draw(headers)
    if draw(st.integers(0, 4)) == 0:
        return f"{header} {draw(simple)}"
    by = draw(st.sampled_from(INDENTS))
    deeper = "  " if header.startswith("match") else ""
    body = "\n".join(draw(st.lists(statements, min_size=1, max_size=3)))
    return f"{header}{draw(st.sampled_from(COMMENTS))}\n{_indented(body, by + deeper)}"


lines = st.one_of(
    st.builds("{}{}".format, simple, st.sampled_from(COMMENTS)),
    st.builds("{} ; {}{}".format, simple, simple, _of("", ";", " ;  ")),
    st.builds("\n{}".format, simple),
    st.builds("# {}\n\n{}".format, public, simple),
)
statements = st.recursive(lines, blocks, max_leaves=5)


@st.composite
def modules(draw: Any) -> str:
    """Draw a module, which may not be valid Python."""
    first = draw(st.one_of(st.just(IMPORTS[0] + PRELUDE), st.sampled_from(IMPORTS)))
    top = draw(_of("", "", '"""nnx.Param"""\n', "#!/usr/bin/python\n# nnx\n\n", "\f\n"))
    rest = "\n".join(draw(st.lists(statements, min_size=1, max_size=4)))
    return f"{top}{first}\n{rest}{draw(_of(chr(10), '', ' ', chr(10) * 3))}"
