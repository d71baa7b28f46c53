"""The command ``typed-nnx completion``."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from typed_nnx_codegen.console.help_pages import TaughtCommand

_NAME: Final = "typed-nnx"
_VARIABLE: Final = "_TYPED_NNX_COMPLETE"
_SHELLS: Final[dict[str, type[ShellComplete]]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command(
    name="completion",
    cls=TaughtCommand,
    examples=(
        ('eval "$(typed-nnx completion bash)"', "bash 4.4 and newer: this line in ~/.bashrc."),
        (
            'eval "$(typed-nnx completion zsh)"',
            "zsh: this line in ~/.zshrc, below the line with compinit.",
        ),
        (
            "typed-nnx completion fish > ~/.config/fish/completions/typed-nnx.fish",
            "fish: run this once.",
        ),
    ),
    statuses={0: "the script is printed", 2: "wrong use"},
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, rule codes and paths.

    It installs nothing: add the line below to the configuration of your shell.
    """
    context = click.get_current_context().find_root()
    click.echo(_SHELLS[shell](context.command, {}, _NAME, _VARIABLE).source())
