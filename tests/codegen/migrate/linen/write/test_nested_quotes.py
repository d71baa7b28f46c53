"""Quotes of texts that are written into f-strings: Python before 3.12 wants others than those around."""

from __future__ import annotations

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.analysis.node_index import index_of
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.write.emission import NestedQuotes


class Replaced(cst.CSTTransformer):
    """Writes another expression for the name `old`, and leaves the nodes without it what they are."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Enter what has the name."""
        return any(isinstance(one, cst.Name) and one.value == "old" for one in descendants(node))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Replace the name."""
        return cst.parse_expression(self.code) if original_node.value == "old" else updated_node


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('f"{old}"', "f\"{v['a']}\""),
        ("f'{old}'", "f'{v[\"a\"]}'"),
        ('f"{kept}" f"{old}" f"{kept}"', 'f"{kept}" f"{v[\'a\']}" f"{kept}"'),
        ("g(f\"{kept['a']}\", old)", 'g(f"{kept[\'a\']}", v["a"])'),
    ],
    ids=["double", "single", "beside_others", "outside"],
)
def test_what_is_written_into_an_f_string_has_other_quotes(before: str, after: str) -> None:
    tree = cst.parse_module(f"x = ({before})\n")
    new = tree.visit(Replaced('v["a"]')).visit(NestedQuotes(index_of(tree)))
    assert new.code == f"x = ({after})\n"
