"""Going through trees: the order of the text, and nodes by their type."""

from __future__ import annotations

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.analysis.node_index import index_of
from typed_nnx_codegen.migrate.analysis.syntax import code_fields, descendants, read_names

CODE = """
@first(a, key=b)
async def function[T](p, q: A = c, /, r=d, *args: B, s: C = e, **kwargs: D) -> E:
    async with opened(f) as g, closed() as h:
        x = i if j else k
        return [l async for m in n if o], {t: u for v in w}, {y, *z}
@second
class Cls(Base, metaclass=Meta):
    aa: AA = bb[cc:dd:ee]
try:
    del ff, gg[hh]
except* Error as ii:
    raise jj from kk
else:
    lambda ll, mm=nn: oo
finally:
    assert pp, f"{qq:{rr}}{ss!r}"
match tt:
    case Point(uu, vv=1) | {"k": ww, **xx} | [yy, *zz] if ab:
        ac = -ad + (ae < af in ag) and not ah
while ai:
    for aj, (ak, *al) in am: global an
type Alias[U: (int, str)] = list[U]
(ao := ap).aq(*ar, **at)
"""


class Recorder(cst.CSTVisitor):
    """Notes the leaves of a tree that are names, in libcst's order."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[cst.CSTNode] = []

    def visit_Name(self, node: cst.Name) -> None:
        """Note a name."""
        self.names.append(node)


def test_nodes_come_in_the_order_of_the_text() -> None:
    tree = cst.parse_module(CODE)
    recorder = Recorder()
    tree.visit(recorder)

    found = [node for node in descendants(tree) if isinstance(node, cst.Name)]

    assert [node.value for node in found] == [node.value for node in recorder.names]  # type: ignore[attr-defined]  # they are names
    assert all(one is other for one, other in zip(found, recorder.names, strict=True))


@pytest.mark.parametrize("kind", [cst.Attribute, cst.Call, cst.FunctionDef, cst.With], ids=str)
def test_no_layout_is_gone_through(kind: type[cst.CSTNode]) -> None:
    assert not {"asynchronous", "comma", "dot", "leading_lines", "lpar"} & set(code_fields(kind))


def test_an_index_has_the_nodes_of_a_type_in_the_order_of_the_text() -> None:
    tree = cst.parse_module("a(b(c), d)\ne = f(g)\n")

    index = index_of(tree)

    assert len(index) == len(list(descendants(tree)))
    assert [node.func.value for node in index.of(cst.Call) if isinstance(node.func, cst.Name)] == [
        *("a", "b", "f")
    ]
    assert index.of(cst.Lambda) == []
    assert [type(node) for node in index.of_any(cst.Assign, cst.Expr)] == [cst.Expr, cst.Assign]


def test_names_that_code_reads_have_no_attributes_and_no_keywords() -> None:
    tree = cst.parse_module("import m\nx = a.b(c=d)\ny: 'E' = 1\n")

    assert read_names(tree) == {"a", "d", "x", "y", "E"}
