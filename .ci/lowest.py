"""Write the lowest version of each dependency of the product as constraints for pip.

``python .ci/lowest.py`` prints a line ``name==version`` for each ``name>=version`` that
``pyproject.toml`` has for the runtime and for the extras that users install. What is installed
under them is what somebody has who updates nothing that he need not update.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("tools", "checkpoint", "export", "notebook")
LOWER_BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\w.]+)")


def lowest(requirements: list[str]) -> Iterator[str]:
    """Yield the pin of each requirement, which must be a lower bound and nothing else."""
    for requirement in requirements:
        bound = LOWER_BOUND.fullmatch(requirement)
        if bound is None:
            sys.exit(
                f"lowest: {requirement!r} in pyproject.toml is no plain lower bound.\n"
                "  Fix: write it as name>=version, or teach .ci/lowest.py its form"
            )
        yield f"{bound['name']}=={bound['version']}"


def main() -> None:
    """Print the constraints."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    for group in (project["dependencies"], *map(project["optional-dependencies"].get, EXTRAS)):
        for pin in lowest(group):
            print(pin)


if __name__ == "__main__":
    main()
