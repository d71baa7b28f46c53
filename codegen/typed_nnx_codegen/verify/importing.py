"""Which files of a project import: `python -m typed_nnx_codegen.verify.importing TOP FILE...`.

It imports the files as modules below the folder TOP, that is, runs them, and prints a line of JSON
for each: ``{"file": ..., "error": ..., "at": ...}``, where ``at`` is the file of the project in
which the error was raised. It needs no package but those of the files.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from typed_nnx_codegen.verify.reasons import first_line


def import_file(top: Path, file: Path) -> tuple[str, Path | None]:
    """Import a file; return why that fails, and where; an empty text where it does not.

    Args:
        top: The folder that absolute imports of the project begin in.
        file: The file.
    """
    parts = file.relative_to(top).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    before = {*sys.modules}
    try:
        importlib.import_module(name)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    # It is the user's code: a script may end the process, and anything else may go wrong.
    except BaseException as error:  # noqa: BLE001 - the line has the reason
        # What was imported on the way must not help the next file.
        for other in {*sys.modules} - before:
            if top in Path(getattr(sys.modules[other], "__file__", None) or "").parents:
                del sys.modules[other]
        frames = traceback.extract_tb(error.__traceback__)
        ours = [one for one in frames if top in Path(one.filename).parents]
        where = Path(ours[-1].filename) if ours else None
        return f"{first_line(error)} (line {ours[-1].lineno})" if ours else first_line(error), where
    return "", None


def main(arguments: Sequence[str]) -> int:
    """Import files and print what became of each."""
    top = Path(arguments[0])
    sys.path.insert(0, str(top))
    for file in map(Path, arguments[1:]):
        # What the user's code prints must not get into the JSON.
        with contextlib.redirect_stdout(sys.stderr):
            error, where = import_file(top, file)
        line = {"file": str(file), "error": error, "at": str(where or file)}
        print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
