"""The names that documents use for Python."""

from __future__ import annotations

from typing import Final

PYTHON_NAMES: Final = frozenset(
    [
        "python",
        "python3",
        "py",
        "py3",
        "ipython",
        "ipython3",
        "pyi",
    ]
)
# Directives whose content is Python without saying so.
PYTHON_DIRECTIVES: Final = frozenset(
    ["testcode", "testsetup", "testcleanup", "jupyter-execute", "plot", "code-cell"]
)
# Directives whose content is code in the language that they name.
CODE_DIRECTIVES: Final = frozenset(["code", "code-block", "sourcecode", "code-cell"])


def is_python_directive(name: str, argument: str) -> bool:
    """Whether the content of a directive is Python."""
    language = argument.split()[0].lower() if argument.split() else ""
    if name in CODE_DIRECTIVES and language:
        return language in PYTHON_NAMES
    # The argument of `plot` is a file, that of `testcode` a group.
    return name in PYTHON_DIRECTIVES and not (name == "plot" and language)
