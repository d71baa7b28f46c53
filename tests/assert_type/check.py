"""Check case files by hand: ``python -m tests.assert_type.check [NAME...]``."""

from __future__ import annotations

import sys

from tests.assert_type.checked import CASES, check_cases
from tests.assert_type.marks import complaints


def main(names: list[str]) -> int:
    """Print where the errors of mypy and pyright are not what the marks say."""
    names = names or [*CASES]
    count = 0
    for checker, by_case in check_cases(names).items():
        for name in names:
            for complaint in complaints(checker, CASES[name], by_case.get(name, [])):
                print(f"{name} {complaint}")
                count += 1
    print(f"{len(names)} files, {count} complaints")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
