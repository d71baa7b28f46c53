"""Completion: click's protocol as shells speak it, and bash itself."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.codegen.command.running import PROGRAM, environment, run
from tests.support.processes import run_process
from typed_nnx_codegen.commands import COMMANDS

SHELLS = ("bash", "zsh", "fish")


def asked(*words: str, folder: Path | None = None) -> list[tuple[str, str]]:
    """Return what the shell is offered for the last word: pairs of a kind and a value."""
    more = {
        "_TYPED_NNX_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("typed-nnx", *words)),
        "COMP_CWORD": str(len(words)),
    }
    done = run(folder=folder, more=more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = [line.partition(",") for line in done.stdout.splitlines() if line]
    return [(kind, value) for kind, _, value in found]


def values(*words: str) -> list[str]:
    return [value for _, value in asked(*words)]


def test_commands_are_completed_in_the_order_of_the_help() -> None:
    assert values("")[: len(COMMANDS)] == list(COMMANDS)
    assert values("ve") == ["verify"]
    assert values("nothing") == []


@pytest.mark.thorough
def test_options_of_the_group_and_of_each_command_are_completed() -> None:
    assert values("--v") == ["--version"]
    assert values("migrate", "--li") == ["--linen"]
    assert values("check", "--sa") == ["--sarif"]
    assert values("doctor", "--no") == ["--no-backend"]
    assert values("stubs", "--ru") == ["--runtime"]
    assert values("verify", "--exa") == ["--example"]


@pytest.mark.thorough
def test_values_that_are_known_are_completed() -> None:
    assert values("check", "--only", "m") == ["mypy", "migrate"]
    assert values("migrate", "--target", "fl") == ["flax.nnx"]
    assert values("lint", "--format", "g") == ["github"]
    assert values("completion", "") == list(SHELLS)


@pytest.mark.thorough
def test_codes_of_rules_are_completed_also_in_a_list() -> None:
    assert values("migrate", "--select", "TN10")[:2] == ["TN101", "TN102"]
    assert values("migrate", "--ignore", "TN101,tn12")[0] == "TN101,TN120"
    assert "TN103" in values("rules", "TN10")
    assert all(code.startswith("TN") for code in values("rules", ""))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("migrate", "sr"), "file"),
        (("check", "sr"), "file"),
        (("stubs", "sr"), "file"),
        (("lint", "sr"), "file"),
        (("lint", "--cache", "t"), "dir"),
        (("lsp", "--python", "b"), "file"),
        (("verify", "o"), "file"),
        (("verify", "--example", "o"), "file"),
        (("sarif", "m"), "file"),
        (("migrate", "--report-file", "m"), "file"),
        (("stubs", "--out", "t"), "dir"),
        (("check", "--root", "."), "dir"),
    ],
)
def test_paths_are_left_to_the_shell(words: tuple[str, ...], kind: str) -> None:
    assert asked(*words) == [(kind, words[-1])]


def test_completing_imports_no_command_that_is_not_named() -> None:
    program = (
        "import os, sys\n"
        "os.environ |= {'_TYPED_NNX_COMPLETE': 'bash_complete', 'COMP_WORDS': 'typed-nnx m',"
        " 'COMP_CWORD': '1'}\n"
        "from typed_nnx_codegen.commands import typed_nnx\n"
        "try:\n    typed_nnx(prog_name='typed-nnx')\n"
        "finally:\n    print(sorted({'jax', 'mypy', 'libcst', 'rich'} & set(sys.modules)))\n"
    )
    done = run_process([sys.executable, "-c", program])
    assert done.stdout.splitlines() == ["plain,migrate", "[]"], done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_asks_the_command(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_TYPED_NNX_COMPLETE={shell}_complete" in done.stdout
    assert run("completion").returncode == 2


BASH = """\
eval "$(typed-nnx completion bash)"
complete -p typed-nnx
COMP_WORDS=(typed-nnx migrate --sel); COMP_CWORD=2; COMPREPLY=()
_typed_nnx_completion typed-nnx --sel migrate
echo "${COMPREPLY[@]}"
COMP_WORDS=(typed-nnx check --only s); COMP_CWORD=3; COMPREPLY=()
_typed_nnx_completion typed-nnx s --only
echo "${COMPREPLY[@]}"
"""
# What zsh would offer is printed; -f: no settings of the machine.
ZSH = """\
autoload -Uz compinit && compinit -D -u
eval "$(typed-nnx completion zsh)"
print "complete $_comps[typed-nnx]"
_describe() { print -l -- ${${(P)3}%%:*} }
compadd() { print -l -- ${(P)@[-1]} }
words=(typed-nnx migrate --sel); CURRENT=3; _typed_nnx_completion
words=(typed-nnx check --only s); CURRENT=4; _typed_nnx_completion
"""
FISH = """\
typed-nnx completion fish | source
complete -c typed-nnx | string match -rq _typed_nnx_completion; and echo complete
complete -C "typed-nnx migrate --sel" | string split -f 1 \\t
complete -C "typed-nnx check --only s" | string split -f 1 \\t
"""


@pytest.mark.parametrize(
    ("shell", "script", "first"),
    [
        (("bash", "--norc"), BASH, "complete -o nosort -F _typed_nnx_completion typed-nnx"),
        (("zsh", "-f"), ZSH, "complete _typed_nnx_completion"),
        (("fish", "--no-config"), FISH, "complete"),
    ],
    ids=SHELLS,
)
def test_a_shell_completes_with_the_line_that_the_help_names(
    tmp_path: Path, shell: tuple[str, str], script: str, first: str
) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not on this machine")
    on_path = tmp_path / "typed-nnx"
    python, _, code = PROGRAM
    on_path.write_text(f"#!{python}\n{code}\n", encoding="utf-8")
    on_path.chmod(0o755)
    (tmp_path / "sources").mkdir()
    done = run_process(
        [*shell, "-c", script],
        cwd=tmp_path,
        env=environment(
            {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
        ),
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [first, "--select", "stubs"]
