"""Case files: what the plugin has to say of each line, for both runtimes.

A case file is Python with three sections, in this order:

```python
# -- reports
nnx.split(model, ..., nnx.Param)  # E: must be the last filter  [nnx-filter-order]
# -- correct
# -- unsure
```

A mark stands behind the line it is about, or alone above it. ``# E: part of the message  [code]`` is
an error, ``# N: part  [code]`` a note, ``# R: type`` what ``reveal_type`` says, without the names of
modules. ``# E flax: ...`` and ``# E typed_nnx: ...`` hold for one runtime. A file whose first lines
have ``# runtime: typed_nnx`` (or flax) is for that one only.

The file is written with ``import typed_nnx as nnx``; the copy for flax has ``from flax import nnx``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

CASES = Path(__file__).parent / "cases"
RUNTIMES = ("typed_nnx", "flax")
SECTIONS = ("reports", "correct", "unsure")

_MARK = re.compile(r"#\s*([ENR])(?: (typed_nnx|flax))?: (.*?)(?=\s*#\s*[ENR](?: \w+)?: |$)")
_CODE = re.compile(r"\s*\[([\w-]+)\]\s*$")
_QUALIFIED = re.compile(r"\b(?:\w+\.)+(?=\w)")


class Mark(NamedTuple):
    """What is expected of a line.

    Attributes:
        line: From 1.
        kind: "E", "N" or "R".
        text: Part of the message; of "R" the whole type.
        code: The error code; empty where the mark names none.
    """

    line: int
    kind: str
    text: str
    code: str


@dataclass(frozen=True)
class CaseFile:
    """A case file for one runtime.

    Attributes:
        path: The file.
        runtime: "typed_nnx" or "flax".
    """

    path: Path
    runtime: str

    @property
    def name(self) -> str:
        """The name of the file without its ending, which is that of the check."""
        return self.path.stem

    def source(self) -> str:
        """Return the source as it is checked."""
        text = self.path.read_text(encoding="utf-8")
        if self.runtime == "flax":
            text = re.sub(r"^import typed_nnx as nnx", "from flax import nnx", text, flags=re.M)
            text = text.replace("from typed_nnx", "from flax.nnx")
        return text

    def marks(self) -> list[Mark]:
        """Return what is expected under the runtime, in the order of the lines."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        found = []
        for number, line in enumerate(lines, start=1):
            for match in _MARK.finditer(line):
                kind, runtime, text = match.groups()
                if runtime not in (None, self.runtime):
                    continue
                code = _CODE.search(text) if kind != "R" else None
                said = text[: code.start()] if code else text
                at = _next_code(lines, number) if line.lstrip().startswith("#") else number
                found.append(Mark(at, kind, said.strip(), code.group(1) if code else ""))
        return found

    def section_of(self, line: int) -> str:
        """Return the section that a line is in; empty before the first."""
        section = ""
        for text in self.path.read_text(encoding="utf-8").splitlines()[:line]:
            if text.startswith("# -- "):
                section = text.removeprefix("# -- ").split()[0]
        return section


def _next_code(lines: list[str], number: int) -> int:
    """Return the line that a mark alone on line `number` is about: the next that is no mark."""
    while lines[number].lstrip().startswith("#"):
        number += 1
    return number + 1


def case_files(runtime: str, names: list[str] | None = None) -> list[CaseFile]:
    """Return the case files for a runtime, all or those with the given names."""
    found = []
    for path in sorted(CASES.glob("*.py")):
        head = path.read_text(encoding="utf-8")[:2000]
        only = re.search(r"^# runtime: (\w+)$", head, flags=re.M)
        if (only is None or only.group(1) == runtime) and (not names or path.stem in names):
            found.append(CaseFile(path, runtime))
    return found


def short(text: str) -> str:
    """Return a type with the names of modules left out."""
    return _QUALIFIED.sub("", text)
