"""The rules as a list: for a terminal, as plain text, as JSON, as Markdown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence

import click
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from typed_nnx_codegen.console.terminal import console_of
from typed_nnx_codegen.migrate.registry import sides
from typed_nnx_codegen.migrate.rule_info import RuleInfo
from typed_nnx_codegen.migrate.summary import prose


def show_rules(rules: Sequence[RuleInfo], *, in_full: bool) -> None:
    """Show rules to a person; as plain text where there is no terminal.

    Args:
        rules: The rules.
        in_full: Whether to show the explanations too.
    """
    console = console_of()
    if not console.is_terminal:
        click.echo("\n".join(line for rule in rules for line in _plain(rule, in_full)))
        return
    for rule in rules:
        title = Text(f"{rule.code} ", style="bold green").append_text(prose(rule.title))
        console.print(title.append(_since(rule), style="dim"))
        if in_full and rule.explanation:
            console.print(Padding(Markdown(rule.explanation), (1, 2, 0, 2)))
        if rule.example:
            code = Syntax(rule.shown_example, "diff", theme="ansi_dark", background_color="default")
            console.print(Padding(code, (1, 2, 0, 2)))
        console.print()


def _since(rule: RuleInfo) -> str:
    return f" (since flax {rule.release})" if rule.release else ""


def _plain(rule: RuleInfo, in_full: bool) -> Iterator[str]:
    yield f"{rule.code}: {rule.title}{_since(rule)}"
    if in_full and rule.explanation:
        yield f"\n{textwrap.indent(rule.explanation, '  ')}\n"
    if rule.example:
        yield textwrap.indent(rule.shown_example, "  ")
    yield ""


def rules_as_json(rules: Sequence[RuleInfo]) -> str:
    """Return the rules as JSON: a list of objects."""
    listed = [
        {
            "code": rule.code,
            "title": rule.title,
            "since": rule.release or None,
            **dict(zip(("before", "after"), sides(rule.example), strict=True)),
            "explanation": rule.explanation,
        }
        for rule in rules
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def rules_as_markdown(rules: Sequence[RuleInfo]) -> str:
    """Return the rules as Markdown: a heading for each, what it does, an example."""
    return "\n".join(_section(rule) for rule in rules)


def _section(rule: RuleInfo) -> str:
    since = f"Since flax {rule.release}." if rule.release else ""
    parts = (f"### {rule.code}: {rule.title}", since, rule.as_markdown)
    return "\n\n".join(filter(None, parts)) + "\n"
