"""The rules as a list: for a terminal, as plain text, as JSON, as Markdown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

import click
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from typed_nnx_codegen.migrate.rule_info import RuleInfo
from typed_nnx_codegen.migrate.screen import is_terminal
from typed_nnx_codegen.migrate.summary import prose

# From this width on, the code before and after stands side by side.
_WIDTH_FOR_TWO: Final = 100


def show_rules(rules: Sequence[RuleInfo], *, in_full: bool) -> None:
    """Show rules to a person; as plain text where there is no terminal.

    Args:
        rules: The rules.
        in_full: Whether to show the explanations too.
    """
    if not is_terminal("stdout"):
        click.echo("\n".join(line for rule in rules for line in _plain(rule, in_full)))
        return
    console = Console(highlight=False)
    for rule in rules:
        title = Text(f"{rule.code} ", style="bold green").append_text(prose(rule.title))
        console.print(title.append(_since(rule), style="dim"))
        if in_full and rule.explanation:
            console.print(Padding(Markdown(rule.explanation), (1, 2, 0, 2)))
        if rule.before:
            console.print(_example(rule, console.width))
        console.print()


def _since(rule: RuleInfo) -> str:
    return f" (since flax {rule.release})" if rule.release else ""


def _example(rule: RuleInfo, width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 2), expand=True)
    before, after = (
        Syntax(code.strip("\n"), "python", theme="ansi_dark", background_color="default")
        for code in (rule.before, rule.after)
    )
    heads = (Text("before", style="dim red"), Text("after", style="dim green"))
    if width >= _WIDTH_FOR_TWO:
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(*heads)
        grid.add_row(before, after)
    else:
        for item in (heads[0], before, heads[1], after):
            grid.add_row(item)
    return Padding(grid, (1, 2, 0, 2))


def _plain(rule: RuleInfo, in_full: bool) -> Iterator[str]:
    yield f"{rule.code}: {rule.title}{_since(rule)}"
    if in_full and rule.explanation:
        yield f"\n{textwrap.indent(rule.explanation, '  ')}\n"
    for head, code in (("before", rule.before), ("after", rule.after)):
        if code:
            yield f"  {head}:\n{textwrap.indent(code.strip(), '    ')}"
    yield ""


def rules_as_json(rules: Sequence[RuleInfo]) -> str:
    """Return the rules as JSON: a list of objects."""
    listed = [
        {
            "code": rule.code,
            "title": rule.title,
            "since": rule.release or None,
            "before": rule.before,
            "after": rule.after,
            "explanation": rule.explanation,
        }
        for rule in rules
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def rules_as_markdown(rules: Sequence[RuleInfo]) -> str:
    """Return the rules as Markdown: a heading for each, what it does, code before and after."""
    return "\n".join(_section(rule) for rule in rules)


def _section(rule: RuleInfo) -> str:
    # Not ```python: what stands before does not run, and pages run their Python blocks.
    blocks = [
        f"{head}:\n\n```py\n{code.strip()}\n```"
        for head, code in (("Before", rule.before), ("After", rule.after))
        if code
    ]
    since = [f"Since flax {rule.release}."] if rule.release else []
    explanation = [rule.explanation] if rule.explanation else []
    return "\n\n".join([f"### {rule.code}: {rule.title}", *since, *explanation, *blocks]) + "\n"
