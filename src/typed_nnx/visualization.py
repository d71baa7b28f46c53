"""``nnx.visualization``: `display` under the name of its module."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

_STYLES = {"text": "32", "comment": "2", "name": "36", "key": "34", "number": "33"}

# What the text of our objects is made of; a string may look like anything, so it comes first.
_TOKEN = re.compile(
    r"""(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<comment>\#\ .*$)
    |(?P<name>\b[A-Za-z_]\w*(?=\())
    |(?P<key>\b[A-Za-z_]\w*(?==))
    |(?P<number>(?<![\w.])-?\d[\d_]*\.?\d*(?:e[+-]?\d+)?(?![\w.]))""",
    re.VERBOSE | re.MULTILINE,
)


def display(*args: Any) -> None:
    """Show each argument: in a notebook by treescope, if that is installed, else as text.

    The text is that of ``print``, one argument after the other; our objects have colours where the
    terminal shows them, unless the environment variable ``NO_COLOR`` is set.

    Args:
        *args: Anything: Modules, Variables, States, arrays, ...
    """
    treescope = _treescope()
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for value in args:
        if treescope is not None:
            treescope.display(value, ignore_exceptions=True, autovisualize=True)
        else:
            text = str(value)
            has_colours = is_wanted and sys.stdout.isatty() and not isinstance(value, str)
            print(_coloured(text) if has_colours else text)


def _coloured(text: str) -> str:
    """Return the text of objects with ANSI colours for types, names, values and comments."""

    def style(found: re.Match[str]) -> str:
        return f"\x1b[{_STYLES[str(found.lastgroup)]}m{found[0]}\x1b[0m"

    return _TOKEN.sub(style, text)


def _treescope() -> Any:
    """Return treescope, if this is a notebook and it is installed; else None."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):  # a terminal cannot show what treescope makes
        return None
    try:
        import treescope
    except ImportError:
        return None
    return treescope
