"""Check case files by hand: ``python -m tests.assert_type.check [FILE...]``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.assert_type.checked import CASES, check_cases
from tests.assert_type.marks import complaints


def main(arguments: list[str]) -> int:
    """Print where the errors of mypy and pyright are not what the marks say."""
    cases = [Path(argument).resolve() for argument in arguments] or CASES
    # Read first: somebody may edit a file while it is checked.
    sources = {case: case.read_text(encoding="utf-8") for case in cases}
    count = 0
    for checker, by_file in check_cases(cases).items():
        for case, source in sources.items():
            for complaint in complaints(checker, source, by_file.get(case.name, [])):
                print(f"{case.name} {complaint}")
                count += 1
    print(f"{len(cases)} files, {count} complaints")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
