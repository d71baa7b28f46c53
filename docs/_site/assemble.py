"""Collects the pages of the site in build/pages: ``python -m docs._site.assemble``.

The pages in docs/ are written to be read in the repository. Here they are copied; files outside of
docs/ that they link to become pages too, names get links to the API reference, the page of the rules
of `typed-nnx migrate` gets their explanations and examples, and the pages of the reference are added.
What comes out is plain Markdown.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from docs._site import reference_pages
from docs._site.name_links import link_names, public_name
from docs._site.public_names import REPOSITORY
from docs._site.repository_links import Linked
from typed_nnx_codegen.migrate import rules_page

OUT = REPOSITORY / "build" / "pages"
DOCS = REPOSITORY / "docs"
ASSETS = DOCS / "_site" / "assets"
# Pages that stand outside of docs/ because people look for them there.
TOP_PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}


def written_pages() -> dict[str, Path]:
    """Return the pages that people wrote: their files, by the path in the site."""
    found = {name: REPOSITORY / file for file, name in TOP_PAGES.items()}
    inside = (path for path in sorted(DOCS.rglob("*.md")) if path.name != "README.md")
    found |= {path.relative_to(DOCS).as_posix(): path for path in inside}
    return {name: path for name, path in found.items() if path.is_file()}


def assembled() -> dict[str, str]:
    """Return the text of every page, by the path in the site."""
    written = written_pages()
    linked = Linked({path: name for name, path in written.items()})
    target_of = public_name(reference_pages.documented())
    texts = {name: path.read_text(encoding="utf-8") for name, path in written.items()}
    texts[rules_page.PAGE.name] = rules_page.in_full()
    pages = {
        name: link_names(linked.rewritten(texts[name], path, name), target_of)
        for name, path in written.items()
    }
    reference = {page.file: reference_pages.render(page) for page in reference_pages.pages()}
    reference |= {"index": reference_pages.index(), "modules": reference_pages.modules()}
    pages |= {f"reference/{name}.md": text for name, text in reference.items()}
    return pages | linked.source_pages()


def assets() -> dict[str, Path]:
    """Return the files that pages show or load, by the path in the site."""
    found = {path.relative_to(ASSETS.parent).as_posix(): path for path in ASSETS.rglob("*.*")}
    images = (path for suffix in ("svg", "png") for path in DOCS.rglob(f"*.{suffix}"))
    return found | {
        path.relative_to(DOCS).as_posix(): path for path in images if "_site" not in path.parts
    }


def write(out: Path) -> None:
    """Write what has changed and remove what is no page any more, so that a server sees no more."""
    texts = {name: text.encode() for name, text in assembled().items()}
    texts |= {name: path.read_bytes() for name, path in assets().items()}
    for name, text in texts.items():
        path = out / name
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
    for path in sorted(out.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(out).as_posix() not in texts:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            shutil.rmtree(path)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
