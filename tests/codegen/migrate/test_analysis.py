"""The analysis knows what expressions stand for, and says when it does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NOTHING,
    UNKNOWN,
    Collection,
    Constant,
    External,
    Instance,
    Method,
    OneOf,
    Plain,
    ProjectClass,
    ProjectFunction,
    Value,
    Wrapped,
)
from typed_nnx_codegen.migrate.project import Project


def shown(value: Value) -> str:
    """Return a value as a short text."""
    match value:
        case Instance():
            name = value.cls if isinstance(value.cls, str) else value.cls.name
            plain = (UNKNOWN, NOTHING, ARRAY)
            return name if value.of in plain else f"{name}[{shown(value.of)}]"
        case Collection(items=None):
            return f"{value.kind}[{shown(value.element)}, ...]"
        case Collection():
            return f"{value.kind}[{', '.join(shown(item) for item in value.items or ())}]"
        case OneOf():
            return " | ".join(shown(option) for option in value.options)
        case External():
            return f"<{value.public}>"
        case ProjectClass() | ProjectFunction():
            return f"<{value.name}>"
        case Wrapped():
            return f"{value.by}({shown(value.function)})"
        case Method():
            return f"{shown(value.receiver)}.{value.name}"
        case Constant():
            return repr(value.value)
        case Plain():
            return value.type_name
    return {UNKNOWN: "?", NOTHING: "nothing", ARRAY: "array"}[value]


def revealed(text: str, folder: Path | None = None) -> list[str]:
    """Return what the arguments of the calls of ``reveal`` stand for, in the order of the text."""
    root = folder or Path(__file__).parent / "nowhere"
    tree = cst.parse_module("from flax import nnx\nimport jax, jax.numpy as jnp\n" + dedent(text))
    analysis = Project((root,)).analyse(tree, root / "main.py")

    class Reveal(cst.CSTVisitor):
        found: list[str] = []

        def visit_Call(self, node: cst.Call) -> None:
            if isinstance(node.func, cst.Name) and node.func.value == "reveal":
                self.found.append(shown(analysis.values.get(node.args[0].value, NOTHING)))

    visitor = Reveal()
    visitor.found = []
    tree.visit(visitor)
    return visitor.found


MODEL = """
    class Block(nnx.Module):
        count: nnx.BatchStat
        def __init__(self, *, rngs):
            self.linear = nnx.Linear(2, 3, rngs=rngs)
            self.scale = nnx.Param(jnp.ones(3))
            self.maybe = None
            self.layers = [nnx.Conv(1, 2, (3,), rngs=rngs) for _ in range(3)]
            self.other = unknown()
        def late(self):
            self.maybe = nnx.Param(jnp.ones(3))
            return self
        def __call__(self, x):
            return self.linear(x)
        @property
        def weight(self):
            return self.linear.kernel
    block = Block(rngs=nnx.Rngs(0))
"""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("reveal(nnx.Linear)", ["<nnx.Linear>"], id="class"),
        pytest.param("from flax.nnx import Param as P\nreveal(P)", ["<nnx.Param>"], id="alias"),
        pytest.param("import flax\nreveal(flax.nnx.Param)", ["<nnx.Param>"], id="spelled_out"),
        pytest.param("from flax.nnx import *\nreveal(Linear)", ["<nnx.Linear>"], id="star"),
        pytest.param(
            "from flax.nnx.nn import linear\nreveal(linear.Linear)", ["<nnx.Linear>"], id="module"
        ),
        pytest.param("import nnx as other\nreveal(other.Param)", ["<other.nnx.Param>"], id="other"),
        pytest.param("def f(nnx): reveal(nnx.Linear)", ["?"], id="hidden_by_a_parameter"),
        pytest.param("[reveal(nnx.x) for nnx in y]", ["?"], id="hidden_in_a_comprehension"),
        pytest.param("def f():\n  nnx = 1\n  reveal(nnx)", ["1"], id="hidden_by_a_local"),
        pytest.param("x = 1 if y else 'a'\nreveal(x)", ["1 | 'a'"], id="either"),
        pytest.param(
            "if y:\n  x = nnx.Param(1)\nelse:\n  x = None\nreveal(x)",
            ["nnx.Param[1] | None"],
            id="branches",
        ),
        pytest.param("x = nnx.Rngs(0)\nif y:\n  x = f()\nreveal(x)", ["?"], id="unsure_branch"),
        pytest.param(
            "x = nnx.Rngs(0)\nif y:\n  x = 1\n  raise x\nreveal(x)",
            ["nnx.Rngs"],
            id="branch_that_leaves",
        ),
        pytest.param(
            "try:\n  import typed_nnx as n\nexcept ImportError:\n  from flax import nnx as n\nreveal(n.Param)",
            ["<nnx.Param>"],
            id="fallback",
        ),
        pytest.param(
            "for i, x in enumerate([nnx.Rngs(0)]): reveal(x)", ["nnx.Rngs"], id="enumerate"
        ),
        pytest.param(
            "a, (b, *c) = 1, (2, 3, 4)\nreveal(b); reveal(c)",
            ["2", "list[int, ...]"],
            id="unpacking",
        ),
        pytest.param("reveal(jnp.ones(3) * 2 + 1)", ["array"], id="arithmetic"),
        pytest.param("x: list[nnx.Param] = f()\nreveal(x[0])", ["nnx.Param"], id="annotated"),
        pytest.param("def f(x: 'nnx.Param | None'): reveal(x)", ["nnx.Param | None"], id="quoted"),
        pytest.param(
            "from typing import Optional\ndef f(x: Optional[nnx.Rngs] = None): reveal(x)",
            ["nnx.Rngs | None"],
            id="optional",
        ),
        pytest.param(
            "def f(x):\n  if isinstance(x, nnx.Param):\n    reveal(x)\n  reveal(x)",
            ["nnx.Param", "?"],
            id="isinstance",
        ),
        pytest.param(
            "def f(x):\n  if not isinstance(x, nnx.Param):\n    return\n  reveal(x)",
            ["nnx.Param"],
            id="early_return",
        ),
        pytest.param("def f(x):\n  return x\nreveal(f(nnx.Rngs(0)))", ["nnx.Rngs"], id="passed_on"),
        pytest.param("g = lambda x: reveal(x)\ng(nnx.Rngs(0))", ["nnx.Rngs"], id="lambda"),
        pytest.param(
            "def f(x): reveal(x)\nf(nnx.Rngs(0))\nf(3)", ["nnx.Rngs | 3"], id="two_callers"
        ),
        pytest.param("def f(x): reveal(x)\nregister(f)\nf(3)", ["?"], id="unknown_caller"),
        pytest.param(
            "def f(a, x): reveal(x)\njax.vmap(f, in_axes=(0, None))(1, nnx.Rngs(0))",
            ["nnx.Rngs"],
            id="under_vmap",
        ),
        pytest.param(
            "from functools import partial\ndef f(a, x): reveal(x)\npartial(f, 1)(nnx.Rngs(0))",
            ["nnx.Rngs"],
            id="under_partial",
        ),
        pytest.param(
            "@nnx.jit\ndef f(x):\n  return x\nreveal(f(nnx.Rngs(0)))", ["nnx.Rngs"], id="decorated"
        ),
        pytest.param(
            "from functools import partial\n@partial(jax.jit, static_argnums=0)\n"
            "def f(x):\n  return x\nreveal(f(nnx.Rngs(0)))",
            ["nnx.Rngs"],
            id="decorated_by_partial",
        ),
        pytest.param(
            "d = {'a': nnx.Param(jnp.ones(1)), 'b': 1}\nreveal(d['a']); reveal(d['b'])",
            ["nnx.Param", "1"],
            id="dict",
        ),
        pytest.param(
            "x = []\nfor i in y:\n  x.append(nnx.Linear(1, 2))\nreveal(x)",
            ["list[nnx.Linear, ...]"],
            id="append",
        ),
        pytest.param("match x:\n  case nnx.Param(value=nnx): reveal(nnx)", ["?"], id="pattern"),
        pytest.param("with open(f) as nnx:\n  reveal(nnx.Param)", ["?"], id="with"),
        pytest.param(
            "def f():\n  global nnx\n  nnx = 3\ndef g(): reveal(nnx)", ["<nnx> | 3"], id="global"
        ),
        pytest.param(
            "n = nnx.List([nnx.Rngs(0)])\nreveal(n[0])\nfor x in n: reveal(x)",
            ["nnx.Rngs", "nnx.Rngs"],
            id="nnx_list",
        ),
        pytest.param(
            """
            try:
                import jax.numpy as jnp
            except ImportError:
                import numpy as jnp
            reveal(jnp)

            def later():
                reveal(jnp)
            """,
            ["<jax.numpy>", "<jax.numpy>"],
            id="an import that may fail",
        ),
        pytest.param(
            """
            try:
                import jax.numpy as jnp
            except ValueError:
                import numpy as jnp
            reveal(jnp)
            """,
            ["<numpy> | <jax.numpy>"],
            id="another error",
        ),
    ],
)
def test_what_an_expression_stands_for(text: str, values: list[str]) -> None:
    assert revealed(text) == values


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("block", "Block"),
        ("block.linear", "nnx.Linear"),
        ("block.linear.kernel", "nnx.Param"),
        ("block.linear.bias", "nnx.Param | None"),
        ("block.scale", "nnx.Param"),
        ("block.count", "nnx.BatchStat"),
        ("block.maybe", "None | nnx.Param"),
        ("block.layers", "list[nnx.Conv, ...]"),
        ("block.layers[1].kernel", "nnx.Param"),
        ("block.other", "?"),
        ("block.weight", "nnx.Param"),
        ("block.late().scale", "nnx.Param"),
        ("block(jnp.ones((1, 2)))", "array"),
        ("block.split()", "tuple[nnx.State[Block], nnx.GraphDef[Block]]"),
        ("nnx.split(block)", "tuple[nnx.GraphDef[Block], nnx.State[Block]]"),
        ("nnx.split(block, nnx.Param, ...)[2]", "nnx.State[Block]"),
        ("nnx.state(block)['linear']", "nnx.State[nnx.Linear]"),
        ("nnx.state(block)['linear']['kernel']", "nnx.Param"),
        ("nnx.state(block).layers[0].kernel", "nnx.Param"),
        ("nnx.merge(*nnx.split(block)).scale", "nnx.Param"),
        ("nnx.merge(nnx.graphdef(block), unknown).scale", "nnx.Param"),
        ("nnx.clone(block)", "Block"),
        ("nnx.Optimizer(block, tx)", "nnx.Optimizer[Block]"),
        ("nnx.grad(unknown)(block, 1)", "nnx.State[Block]"),
        ("nnx.value_and_grad(lambda m: m.scale)(block)[1]", "nnx.State[Block]"),
        ("nnx.Sequential(block, block)", "nnx.Sequential[Block]"),
        ("nnx.Rngs(0).params", "nnx.RngStream"),
        ("nnx.Rngs(0).params()", "array"),
        ("nnx.eval_shape(lambda: Block(rngs=nnx.Rngs(0)))", "Block"),
        ("jax.lax.cond(p, lambda b: b, lambda b: b, block)", "Block"),
        ("[b for b in [block]][0]", "Block"),
        ("type(block)", "<Block>"),
    ],
)
def test_what_a_model_is_made_of(expression: str, value: str) -> None:
    assert revealed(MODEL + f"\n    reveal({expression})\n") == [value]


def test_a_class_of_the_project_hides_the_methods_that_it_defines() -> None:
    text = """
    class A(nnx.Module):
        def split(self): return 3
    class B(A): ...
    reveal(B().split())
    class C(Unknown): ...
    reveal(C().split())
    """
    assert revealed(text) == ["3", "?"]


def test_names_follow_the_imports_of_the_project(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package.common import *\n")
    (package / "common.py").write_text(
        "from flax import nnx\nfrom flax.nnx import Param\n"
        "class Model(nnx.Module):\n  def __init__(self): self.w = Param(1.0)\n"
        "_hidden = 1\n__all__ = ['nnx', 'Model']\n"
    )
    text = """
    from package import nnx as n, Model, Param
    from package.common import Param as P
    from package import common
    reveal(n.Linear); reveal(Model().w); reveal(P); reveal(common.Model); reveal(Param)
    """
    assert revealed(text, tmp_path) == [
        "<nnx.Linear>",
        "nnx.Param[1.0]",
        "<nnx.Param>",
        "<Model>",
        "<package.Param>",
    ]


def test_modules_that_import_each_other_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import two\nfrom flax import nnx\nclass A(nnx.Module): ...\n")
    (tmp_path / "two.py").write_text("import one\nclass B(one.A): ...\n")

    assert revealed("from two import B\nreveal(B())", tmp_path) == ["B"]


def test_files_outside_of_the_paths_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.py").write_text("from flax import nnx\n")
    (tmp_path / "inside" / "linked.py").symlink_to(tmp_path / "outside.py")
    text = "from outside import nnx as a\nfrom linked import nnx as b\nreveal(a); reveal(b)"

    assert revealed(text, tmp_path / "inside") == ["<outside.nnx>", "<linked.nnx>"]


def test_a_module_that_only_imports_a_base_of_models_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("from flax import nnx\nclass Base(nnx.Module): ...\n")
    (tmp_path / "model.py").write_text("from base import Base\nclass Model(Base): ...\n")
    (tmp_path / "plain.py").write_text("class Plain: ...\n")
    text = """
    from model import Model
    from plain import Plain
    reveal(nnx.state(Model())); reveal(Plain())
    """
    # A module that has nothing to do with models is not analysed.
    assert revealed(text, tmp_path) == ["nnx.State[Model]", "?"]


def test_a_module_that_cannot_be_parsed_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("from flax import nnx\nx = " + "(" * 20_000 + ")" * 20_000)
    (tmp_path / "wrong.py").write_text("from flax import nnx\nx = (")

    assert revealed("import deep, wrong\nreveal(deep.x); reveal(wrong.x)", tmp_path) == [
        "<deep.x>",
        "<wrong.x>",
    ]


def test_a_copy_of_flax_in_the_project_is_flax_all_the_same(tmp_path: Path) -> None:
    for package in (tmp_path / "flax", tmp_path / "flax" / "nnx"):
        package.mkdir()
        (package / "__init__.py").write_text("# nnx\n")

    assert revealed("reveal(nnx.Linear)", tmp_path) == ["<nnx.Linear>"]
