"""The engine: markers, imports, findings, settings; what every rule relies on."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import libcst as cst
import pytest

from typed_nnx_codegen.migrate import engine, registry
from typed_nnx_codegen.migrate.engine import MigrationError, migrate_text
from typed_nnx_codegen.migrate.findings import Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule

OLD = "from flax import nnx\nx = nnx.VariableState\n"


def migrate(text: str, *codes: str, path: Path | None = None, root: Path | None = None) -> Migrated:
    file = path or Path(__file__).parent / "nowhere.py"
    options = Options(codes=frozenset(codes) if codes else None)
    return migrate_text(dedent(text), file, Project((root or file,)), options)


@pytest.fixture
def only_rule(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No rules but those that a test gives to `use`."""
    return monkeypatch


def use(monkeypatch: pytest.MonkeyPatch, *rules: type[Rule]) -> None:
    monkeypatch.setattr(engine, "all_rules", lambda: rules)
    monkeypatch.setattr(registry, "all_rules", lambda: rules)


class MarkCalls(Rule):
    """Leaves every call of `f` to a person."""

    code = "TN998"
    title = "`f` is left to a person"

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        if isinstance(original.func, cst.Name) and original.func.value == "f":
            self.file.decide(original, "decide about\n  f")
        return updated


MARK = "# TODO[typed-nnx] TN998: decide about f"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("f()\n", f"{MARK}\nf()\n", id="first"),
        pytest.param("# about f\n\nf()\n", f"# about f\n\n{MARK}\nf()\n", id="first_with_header"),
        pytest.param(
            '"""doc"""\nf(); f()\n', f'"""doc"""\n{MARK}\nf(); f()\n', id="twice_in_a_line"
        ),
        pytest.param(
            "if x:\n    f()  # here\n", f"if x:\n    {MARK}\n    f()  # here\n", id="indented"
        ),
        pytest.param("if f():\n    pass\n", f"{MARK}\nif f():\n    pass\n", id="condition"),
        pytest.param("if x: f()\n", f"{MARK}\nif x: f()\n", id="one_line_suite"),
        pytest.param(
            "if x:\n    pass\nelif f():\n    pass\n",
            f"if x:\n    pass\n{MARK}\nelif f():\n    pass\n",
            id="elif",
        ),
        pytest.param(
            "if x:\n    pass\nelse:\n    f()\n",
            f"if x:\n    pass\nelse:\n    {MARK}\n    f()\n",
            id="else",
        ),
        pytest.param(
            "@f()\ndef g():\n    pass\n", f"{MARK}\n@f()\ndef g():\n    pass\n", id="decorator"
        ),
        pytest.param(
            "class A(f()):\n\tx = f()\n",
            f"{MARK}\nclass A(f()):\n\t{MARK}\n\tx = f()\n",
            id="class_with_tabs",
        ),
        pytest.param(
            "try:\n    pass\nexcept f():\n    pass\n",
            f"try:\n    pass\n{MARK}\nexcept f():\n    pass\n",
            id="except",
        ),
        pytest.param(
            "x = [\n    f(),\n    # why\n]\n",
            f"{MARK}\nx = [\n    f(),\n    # why\n]\n",
            id="several_lines",
        ),
        pytest.param(
            "match x:\n    case 1 if f():\n        pass\n",
            f"match x:\n    {MARK}\n    case 1 if f():\n        pass\n",
            id="case",
        ),
    ],
)
def test_a_marker_stands_above_the_statement_once(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    use(monkeypatch, MarkCalls)
    suffix = "from flax import nnx\n"

    first = migrate(before + suffix)

    assert first.text == after + suffix
    assert migrate(first.text).text == first.text
    assert {finding.kind for finding in migrate(first.text).findings} == {"decide"}


@pytest.mark.parametrize(
    "text",
    [
        "f()  # typed-nnx: keep TN998\n",
        "# typed-nnx: keep\nf()\n",
        "# typed-nnx: keep TN101, TN998\nf()\n",
        "def g():  # typed-nnx: keep TN998\n    f()\n",
    ],
)
def test_a_comment_keeps_a_rule_away(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    use(monkeypatch, MarkCalls)
    text = "from flax import nnx\n" + text

    assert migrate(text).text == text
    assert migrate(text.replace("TN998", "TN997").replace("keep\n", "\n")).text != text


def test_a_finding_says_where_and_what() -> None:
    found = migrate(
        "# first\nfrom flax import nnx\n\nx = [1,\n   nnx.VariableState]\n", "TN103"
    ).findings

    assert [(one.line, one.column, one.code, one.kind) for one in found] == [
        (5, 3, "TN103", "changed")
    ]
    assert (found[0].before, found[0].after) == ("nnx.VariableState", "nnx.Variable")


def test_what_changed_in_quotes_is_reported_at_the_string() -> None:
    found = migrate('from flax import nnx\ndef f(v: "nnx.VariableState"): ...\n', "TN103").findings

    assert [(one.line, one.column, one.kind, one.before, one.after) for one in found] == [
        (2, 9, "changed", '"nnx.VariableState"', '"nnx.Variable"')
    ]


def test_what_a_person_decides_in_quotes_is_marked_above_the_statement() -> None:
    head, text = "from flax import nnx\n", 'x: "nnx.ForkStates"\ny: "nnx.ForkStates"\n'
    found = migrate(head + text, "TN124")

    assert [(one.line, one.kind, one.before) for one in found.findings] == [
        (number, "decide", '"nnx.ForkStates"') for number in (2, 3)
    ]
    assert found.text.splitlines()[1].startswith("# TODO[typed-nnx] TN124")
    assert [line for line in found.text.splitlines() if "TODO" not in line] == (
        [*head.splitlines(), *text.splitlines()]
    )


def test_rules_that_are_not_selected_do_nothing() -> None:
    assert migrate(OLD, "TN101").text == "import typed_nnx as nnx\nx = nnx.VariableState\n"
    assert migrate(OLD, "TN104").text == OLD


def test_a_text_without_nnx_is_the_same_object() -> None:
    text = "x = state, static = m.split()\n"
    assert migrate_text(text, Path("x.py"), Project((Path("x.py"),)), Options()).text is text


def test_a_text_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(MigrationError, match="line 2: it does not parse"):
        migrate("from flax import nnx\nx = (\n")


def test_rules_that_never_settle_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grow(Rule):
        """Adds a digit to each number."""

        code = "TN999"
        title = "never ends"

        def leave_Integer(self, original: cst.Integer, updated: cst.Integer) -> cst.Integer:
            return updated.with_changes(value=updated.value + "1")

    use(monkeypatch, Grow)
    with pytest.raises(MigrationError, match="do not come to an end"):
        migrate("from flax import nnx\nx = 1\n")


def test_names_re_exported_by_the_project_are_followed_but_not_renamed(tmp_path: Path) -> None:
    (tmp_path / "common.py").write_text(
        "from flax import nnx\nfrom flax.nnx import VariableState\n"
    )
    main = tmp_path / "main.py"
    text = (
        "import common\nfrom common import nnx as n, VariableState\n"
        "x = n.VariableState, VariableState, common.VariableState\n"
    )
    changed = text.replace("= n.VariableState", "= n.Variable")

    assert migrate(text, "TN103", path=main, root=tmp_path).text == changed
    after = migrate((tmp_path / "common.py").read_text(), "TN103", path=tmp_path / "common.py")
    assert after.text == "from flax import nnx\nfrom flax.nnx import Variable as VariableState\n"


class UseJax(Rule):
    """Writes `jax.tree.map` for each call of `f`."""

    code = "TN997"
    title = "`f` is `jax.tree.map`"

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        if isinstance(original.func, cst.Name) and original.func.value == "f":
            return self.file.call("nnx.split", self.file.refer("jax.tree.map"))
        return updated


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from flax import nnx\nf()\n",
            "import jax\nfrom flax import nnx\nnnx.split(jax.tree.map)\n",
            id="added",
        ),
        pytest.param(
            "import jax as j\nimport flax.nnx as n\nf()\n",
            "import jax as j\nimport flax.nnx as n\nn.split(j.tree.map)\n",
            id="aliases",
        ),
        pytest.param(
            "from jax import tree\nfrom flax.nnx import Param, split\nf()\n",
            "from jax import tree\nfrom flax.nnx import Param, split\nsplit(tree.map)\n",
            id="imported_names",
        ),
        pytest.param(
            "from flax.nnx import Param\nnnx = Param\nf()\n",
            "import jax\nimport typed_nnx\nfrom flax.nnx import Param\nnnx = Param\ntyped_nnx.split(jax.tree.map)\n",
            id="taken",
        ),
        pytest.param(
            '"""doc"""\nimport jax\ndef g():\n    from flax import nnx\n    f()\nf()\n',
            '"""doc"""\nimport jax\nimport typed_nnx as nnx\ndef g():\n    from flax import nnx\n'
            "    nnx.split(jax.tree.map)\nnnx.split(jax.tree.map)\n",
            id="visible_in_a_function_only",
        ),
    ],
)
def test_rewritten_code_imports_what_it_uses(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    use(monkeypatch, UseJax)

    assert migrate(before).text == after


class DropCalls(Rule):
    """Writes 0 for each call."""

    code = "TN996"
    title = "calls are 0"

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        return cst.Integer("0")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("from a import b\nfrom flax import nnx\nx = b(nnx)\n", "x = 0\n", id="alone"),
        pytest.param(
            "from a import b, c\nimport nnx\nfrom flax.nnx import d\nx = b(d)\n",
            "from a import c\nimport nnx\nx = 0\n",
            id="among_others",
        ),
        pytest.param(
            "from a import (\n    b,\n    c,\n)\nfrom flax import nnx\nx = b(), nnx\n",
            "from a import (\n    c,\n)\nfrom flax import nnx\nx = 0, nnx\n",
            id="in_parentheses",
        ),
        pytest.param(
            "from a import b\nfrom flax import nnx\n__all__ = ['b']\nx = b(), nnx\n",
            "from a import b\nfrom flax import nnx\n__all__ = ['b']\nx = 0, nnx\n",
            id="exported",
        ),
        pytest.param(
            "from a import b, unused\nfrom flax import nnx\ny: 'b' = 1\nx = b(), nnx\n",
            "from a import b, unused\nfrom flax import nnx\ny: 'b' = 1\nx = 0, nnx\n",
            id="in_quotes",
        ),
        pytest.param(
            "if x:\n    from a import b\nfrom flax import nnx\nx = b(), nnx\n",
            "if x:\n    pass\nfrom flax import nnx\nx = 0, nnx\n",
            id="alone_in_a_block",
        ),
        pytest.param(
            "# about a\nfrom a import b\nfrom flax import nnx\nx = b(), nnx\n",
            "# about a\nfrom flax import nnx\nx = 0, nnx\n",
            id="comment_above_the_first",
        ),
        pytest.param(
            "from flax import nnx\n# about a\nfrom a import b  # noqa\n\nx = b(), nnx\n",
            "from flax import nnx\n# about a\n\nx = 0, nnx\n",
            id="comment_above_another",
        ),
        pytest.param(
            "from flax import nnx\nif x:\n    # about a\n    from a import b\nx = b(), nnx\n",
            "from flax import nnx\nif x:\n    pass\n    # about a\nx = 0, nnx\n",
            id="comment_in_a_block",
        ),
    ],
)
def test_names_that_nothing_reads_any_more_are_not_imported(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    use(monkeypatch, DropCalls)

    assert migrate(before).text == after


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_layout_stays(end: str) -> None:
    text = "# -*- x -*-\n\nfrom flax import nnx   # why\nx = {  # a\n    'k' :nnx.VariableState ,\n\n}  \n\n\n# end"
    text = text.replace("\n", end)

    assert migrate(text, "TN103").text == text.replace("VariableState", "Variable")


def test_an_older_name_that_no_rule_did_anything_about_is_marked() -> None:
    text = "from flax import nnx\nS = nnx.Remat\n"
    quoted = migrate(text.replace("S = nnx.Remat", 'S: "type[nnx.Remat]"'), "TN114").text

    assert "# TODO[typed-nnx] TN114: `nnx.Remat` is gone" in quoted
    assert "# TODO[typed-nnx] TN114: `nnx.Remat` is gone" in migrate(text, "TN114").text
    assert migrate(text + "# typed-nnx: keep\nT = nnx.Remat\n", "TN114").text.count("TODO") == 1


def test_an_older_name_that_a_file_only_hands_on_is_marked() -> None:
    text = "from flax.nnx import Empty\n__all__ = ['Empty']\n"

    assert "# TODO[typed-nnx] TN101: typed_nnx has no `Empty`" in migrate(text).text
