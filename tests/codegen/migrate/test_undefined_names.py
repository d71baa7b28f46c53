"""Names that nothing defines in a new text, and the names that modules give each other."""

from __future__ import annotations

import ast
import textwrap

from typed_nnx_codegen.migrate.undefined_names import (
    Undefined,
    defined_names,
    imported_names,
    newly_undefined,
    undefined_names,
)


def test_each_name_has_the_line_that_reads_it() -> None:
    text = "import a\n\n\ndef f(x):\n    return [a, b,\n        c]\n"
    found = undefined_names({"one": text, "other": "import b\n"})

    assert [(one.name, one.line) for one in found["one"]] == [("b", 5), ("c", 6)]
    assert found["other"] == ()


def test_only_names_that_the_old_text_had_defined_are_new() -> None:
    before, after = "import a\nprint(a, b)\n", "print(b, a)\n"

    found = newly_undefined({"new": (before, after), "old": (before, before)})
    assert found == {"new": (Undefined(1, "a"),)}


def test_a_name_in_all_is_read() -> None:
    before = "from a import B, C\n\n__all__ = ['B', 'C']\n"

    found = newly_undefined({"one": (before, before.replace("B, C", "B"))})
    assert [one.name for one in found["one"]] == ["C"]


def test_comments_for_ruff_hide_no_name() -> None:
    found = undefined_names({"one": "print(a)  # noqa: F821\n"})
    assert [one.name for one in found["one"]] == ["a"]


def test_others_can_import_the_names_at_the_top_level_of_a_module() -> None:
    text = "import a.b\nfrom c import d as e\n\nclass F:\n    g = 1\n\ndef h(i):\n    j = i\n\nif F:\n    k = 1\n"

    names = defined_names(text)

    assert names is not None
    assert set(names) == {"a", "e", "F", "h", "k"}
    assert defined_names("from a import *\n") is None


def test_a_module_imports_names_from_others() -> None:
    text = """
        import a.b
        import c as d
        from . import e
        from ..f import g as h

        print(a.b.i, d.j, e.k, h, x.y)
    """

    tree = ast.parse(textwrap.dedent(text))
    assert set(imported_names(tree, "top.inner.module", is_package=False)) == {
        *(("a.b", ""), ("c", ""), ("a.b", "i"), ("c", "j")),
        *(("top.inner", "e"), ("top.inner.e", "k"), ("top.f", "g")),
    }
    tree = ast.parse("from .a import b")
    assert set(imported_names(tree, "top", is_package=True)) == {("top.a", "b")}
