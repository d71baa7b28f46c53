"""`python -m tests.fuzz N`; see `campaign`."""

from tests.fuzz.campaign import main

if __name__ == "__main__":
    raise SystemExit(main())
