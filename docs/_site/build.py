"""Builds the documentation site, strictly: ``python -m docs._site.build [--serve]``.

The pages are collected in build/pages, and the site is in build/site.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from docs._site import assemble
from docs._site.public_names import REPOSITORY

PROJECT = REPOSITORY / "build"
CONFIG = REPOSITORY / "docs" / "_site" / "zensical.toml"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# What griffe says of a docstring that does not fit its function; the engine lets it pass.
_DOCSTRING_WARNING = re.compile(r"^griffe: ", flags=re.MULTILINE)
_TRACEBACK = re.compile(r"^Traceback .*\n(?: .*\n)*", flags=re.MULTILINE)


def run_engine(*arguments: str, project: Path, capture: bool) -> subprocess.CompletedProcess[str]:
    """Collect the pages and the configuration in a folder, and run the engine there."""
    assemble.write(project / "pages")
    config = CONFIG.read_text(encoding="utf-8").replace('"../', f'"{REPOSITORY.as_posix()}/')
    (project / CONFIG.name).write_text(config, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "zensical", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=capture,
        text=True,
        check=False,
    )


def complaints(project: Path) -> str:
    """Build the site in a folder; return what is wrong with the pages, or nothing."""
    done = run_engine("build", "--clean", "--strict", project=project, capture=True)
    said = _COLOURS.sub("", done.stdout + done.stderr)
    if done.returncode or _DOCSTRING_WARNING.search(said):
        return _TRACEBACK.sub("", said).rstrip()
    return ""


def build() -> int:
    """Build the site and return 0, or say what is wrong with the pages and return 1."""
    start = time.perf_counter()
    if said := complaints(PROJECT):
        print(f"{said}\ndocs: the site is not complete. Fix: what stands above.", file=sys.stderr)
        return 1
    pages = sum(1 for _ in (PROJECT / "site").rglob("index.html"))
    seconds = time.perf_counter() - start
    print(f"{pages} pages in build/site after {seconds:.0f} s. Look at them: make docs-serve")
    return 0


def serve() -> int:
    """Serve the site on this machine; `make docs` in another terminal renews it."""
    return run_engine("serve", project=PROJECT, capture=False).returncode


if __name__ == "__main__":
    sys.exit(serve() if "--serve" in sys.argv[1:] else build())
