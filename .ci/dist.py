"""Build the sdist and the wheel into a folder, and prove that whoever builds them gets the same bytes.

Run ``make dist``, or ``python .ci/dist.py [FOLDER]`` with hatchling and twine installed. Each is built
three times: twice from this tree, once from the unpacked sdist, which stands at another path with
other times. The times inside are that of the last commit, or SOURCE_DATE_EPOCH where it is set.

With PROJECT_URL, the address of the repository, the page of the package index has absolute links and
pictures (`.ci/package_page.py`): whoever compares the bytes of a release sets it, too.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def epoch() -> str:
    """Return the time that all files in the archives get, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(
            "dist: no commit here to take the time from.\n"
            "  Fix: set SOURCE_DATE_EPOCH to the time of the release in seconds"
        )
    return done.stdout.strip()


def build(tree: Path, folder: Path, time: str) -> dict[str, bytes]:
    """Build both archives of a tree into a folder; return their bytes by name."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
        cwd=tree,
        env={**os.environ, "SOURCE_DATE_EPOCH": time},
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist; return the folder that is in it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def differences(first: dict[str, bytes], other: dict[str, bytes], origin: str) -> list[str]:
    """Return a line for each archive that is not the same."""
    return [
        f"dist: {name} built {origin} is another file than the first"
        for name in sorted(first.keys() | other.keys())
        if first.get(name) != other.get(name)
    ]


def relative_links(sdist: Path) -> list[str]:
    """Return a line for each link that leads nowhere from a package index."""
    with tarfile.open(sdist) as archive:
        (member,) = (one for one in archive if one.name.endswith("/PKG-INFO"))
        content = archive.extractfile(member)
        assert content is not None
        text = content.read().decode()
    return [
        f"dist: the page links to `{link}`"
        for link in re.findall(r"\]\(((?!https?:|#)[^)]*)", text)
    ]


def main(target: Path) -> None:
    """Build, compare, check and put the archives into the target folder."""
    time = epoch()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        built = build(REPOSITORY, scratch / "first", time)
        again = build(REPOSITORY, scratch / "again", time)
        (sdist,) = (scratch / "first").glob("*.tar.gz")
        problems = relative_links(sdist) if os.environ.get("PROJECT_URL") else []
        tree = unpack(sdist, scratch / "unpacked")
        from_sdist = build(tree, scratch / "from_sdist", time)
    problems += differences(built, again, "a second time")
    problems += differences(built, from_sdist, "from the sdist")
    if problems:
        sys.exit("\n".join(problems))
    target.mkdir(parents=True, exist_ok=True)
    for name, content in built.items():
        (target / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {name}  {len(content):,} bytes")
    archives = [str(target / name) for name in built]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *archives], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "dist")
