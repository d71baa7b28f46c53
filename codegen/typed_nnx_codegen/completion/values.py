"""What the values of options and arguments may be, for a shell that completes them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.rule_info import RuleInfo


def complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete the path of a file or folder."""
    del ctx, param
    return [CompletionItem(incomplete, type="file")]


def complete_folders(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete the path of a folder."""
    del ctx, param
    return [CompletionItem(incomplete, type="dir")]


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the last code in a list of rules with commas."""
    del param
    done, comma, begun = incomplete.rpartition(",")
    return [
        CompletionItem(f"{done}{comma}{rule.code}", help=rule.title)
        for rule in _rules(is_linen=bool(ctx.params.get("linen")))
        if rule.code.startswith(begun.upper())
    ]


def _rules(*, is_linen: bool) -> Sequence[RuleInfo]:
    # By name and only here: they come with libcst and take a second.
    module = "migrate.linen.session" if is_linen else "migrate.rule_info"
    found = importlib.import_module(f"typed_nnx_codegen.{module}")
    rules: Sequence[RuleInfo] = found.linen_rules() if is_linen else found.known_rules()
    return rules
