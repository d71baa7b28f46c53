"""The entry point of the command ``typed-nnx``: it says what is missing before it starts."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Iterable

from typed_nnx_codegen.console.bugs import tell_of_bug
from typed_nnx_codegen.console.statuses import BUG, COULD_NOT_RUN, INTERRUPTED

_MISSING_TOOLS = """\
{who} needs packages that are not installed: {missing}.
  Fix: pip install {fix}"""

_NEEDED = ("click",)
# Those that `typed-nnx[tools]` does not bring.
_OTHERS = ("flax",)


def leave_where_missing(names: Iterable[str], who: str = "typed-nnx: the command") -> None:
    """Leave with status 2 and a remedy where packages of these names are not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return
    others = [name for name in missing if name in _OTHERS]
    fix = " ".join(["'typed-nnx[tools]'"] * (len(others) < len(missing)) + others)
    message = _MISSING_TOOLS.format(who=who, missing=", ".join(missing), fix=fix)
    print(message, file=sys.stderr)
    sys.exit(COULD_NOT_RUN)


def _prepare_output() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed, as by `2>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # until the end
        elif isinstance(stream, io.TextIOWrapper):
            # A name of a file may have characters that the terminal's encoding does not have.
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command; leave with a message where its packages are missing or it has a bug."""
    _prepare_output()
    leave_where_missing(_NEEDED)
    try:
        # By name and only now: the module imports click, which the check above is there for.
        importlib.import_module("typed_nnx_codegen.commands").typed_nnx(prog_name="typed-nnx")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # noqa: BLE001  # whatever it is: nobody is shown a traceback
        tell_of_bug(error)
        sys.exit(BUG)
