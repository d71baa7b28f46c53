"""The parts that the documentation site is collected with."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs._site import assemble
from docs._site.jax_functions import call_of
from docs._site.markdown_parts import anchors_of, links_of, rewrite_links, slug
from docs._site.name_links import link_names, public_name
from docs._site.public_names import definition_of
from docs._site.repository_links import Linked
from tests.support.type_checkers import REPOSITORY

NAMES = {"typed_nnx.Param": "typed_nnx.Param", "typed_nnx.nn.linear.Linear": "typed_nnx.Linear"}


# -- Markdown --------------------------------------------------------------------------------------


def test_links_in_code_are_no_links() -> None:
    page = "[a](one.md)\n\n```py\n[b](two.md)\n```\n\n- ~~~\n  [c](three.md)\n- [d](four.md#x)\n"
    assert links_of(page.replace("- ~~~", "~~~\n~~~")) == ["one.md", "three.md", "four.md#x"]


def test_rewriting_links_leaves_the_rest_as_it_is() -> None:
    page = "# [A](a.md)\n![b](b.svg) `[x](y)`\n\n````md\n```\n[c](c.md)\n```\n````\n"
    assert rewrite_links(page, lambda target: target) == page
    assert "(A.MD)" in rewrite_links(page, str.upper)
    assert "(c.md)" in rewrite_links(page, str.upper)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Error codes", "error-codes"),
        ("`split` and `merge`, or not?", "split-and-merge-or-not"),
        ("remat, custom_vjp: both", "remat-custom_vjp-both"),
        ("What [a](b.md) is", "what-a-is"),
    ],
)
def test_the_anchor_of_a_heading_is_that_of_github(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


def test_a_page_can_set_anchors_of_its_own() -> None:
    assert anchors_of('<a id="tn103"></a>\n\n### TN103: x\n```\n# no\n```\n') == [
        "tn103",
        "tn103-x",
    ]


# -- names ---------------------------------------------------------------------------------------


def test_a_name_is_linked_where_it_stands_first_in_a_section() -> None:
    page = "`nnx.Param`, `nnx.Param`\n\n## `nnx.Param`\n\n`nnx.nn.linear.Linear` `nnx.Param`\n"
    assert link_names(page, public_name(NAMES)) == (
        "[`nnx.Param`][typed_nnx.Param], `nnx.Param`\n\n## `nnx.Param`\n\n"
        "[`nnx.nn.linear.Linear`][typed_nnx.Linear] [`nnx.Param`][typed_nnx.Param]\n"
    )


@pytest.mark.parametrize(
    "page",
    ["`Param`", "`nnx.Other`", "[`nnx.Param`](x.md)", "``nnx.Param``", "```\n`nnx.Param`\n```\n"],
)
def test_what_is_no_name_of_ours_or_a_link_already_stays(page: str) -> None:
    assert link_names(page, public_name(NAMES)) == page


@pytest.mark.parametrize(
    ("path", "definition"),
    [
        ("typed_nnx.Param", "typed_nnx._core.variable_types.Param"),
        ("typed_nnx.nn.linear.Conv", "typed_nnx.nn._conv.Conv"),
        ("typed_nnx.relu", "jax.nn.relu"),
        ("typed_nnx.pytreelib.ObjectMeta", definition_of("typed_nnx.pytreelib.PytreeMeta")),
        ("typed_nnx.training.metrics", "typed_nnx.training.metrics"),
    ],
)
def test_a_public_name_is_followed_to_where_it_is_defined(path: str, definition: str) -> None:
    assert definition_of(path) == definition


def test_the_call_of_a_function_of_jax_has_its_types_and_defaults() -> None:
    assert call_of("jax.nn.relu", "relu") == "relu(x: ArrayLike) -> Array"
    assert call_of("jax.nn.one_hot", "one_hot").splitlines()[:4] == [
        "one_hot(",
        "    x: Any,",
        "    num_classes: int,",
        "    *,",
    ]


# -- files outside of the pages ------------------------------------------------------------------


def test_a_file_or_folder_that_a_page_links_to_becomes_a_page() -> None:
    page = REPOSITORY / "docs" / "guides" / "x.md"
    linked = Linked({REPOSITORY / "README.md": "readme.md"})
    text = "[a](../../examples/vae.py) [b](../../README.md#why) [c](../../examples/serving) [d](#e)"
    assert linked.rewritten(text, page, "guides/x.md") == (
        "[a](../source/examples/vae.py.md) [b](../readme.md#why) "
        "[c](../source/examples/serving/index.md) [d](#e)"
    )
    pages = linked.source_pages()
    assert pages["source/examples/vae.py.md"].startswith("# examples/vae.py\n\n````python\n")
    assert "[`serve.py`](serve.py.md)" in pages["source/examples/serving/index.md"]
    assert "source/examples/serving/serve.py.md" in pages


def test_what_is_no_page_any_more_goes_when_pages_are_collected_anew(tmp_path: Path) -> None:
    assemble.write(tmp_path)
    page, other = tmp_path / "index.md", tmp_path / "old" / "page.md"
    other.parent.mkdir()
    other.write_text("old", encoding="utf-8")
    written = page.stat().st_mtime_ns
    assemble.write(tmp_path)
    assert not other.parent.exists()
    assert page.stat().st_mtime_ns == written
