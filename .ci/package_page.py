"""The description and the links of the distribution, as a page of a package index shows them.

Links of the README go to files beside it, which a package index does not have. Where PROJECT_URL says
the address of the repository, such as `https://HOST/OWNER/typed-nnx`, they go to the files of the
tag of this version. The workflow that publishes a release sets it, and `.ci/dist.py` lets no
other link pass then.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# `](docs/types.md)` and `](docs/types.md#section)`; not `](#section)`, `](https://...)`.
RELATIVE_LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")


def with_absolute_links(text: str, url: str, tag: str) -> str:
    """Return a Markdown text whose relative links go to the files of a tag."""
    return RELATIVE_LINK.sub(
        lambda link: "{image}{text}({url}/{kind}/{tag}/{path})".format(
            **link.groupdict(), url=url, kind="raw" if link["image"] else "blob", tag=tag
        ),
        text,
    )


class PackagePage(MetadataHookInterface):
    """Fills the fields that pyproject.toml names as dynamic."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set `readme` and `urls`."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        url = os.environ.get("PROJECT_URL", "").rstrip("/")
        if url:
            project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
            tag = f"v{project['project']['version']}"
            text = with_absolute_links(text, url, tag)
            metadata["urls"] = {
                "Source": url,
                "Documentation": f"{url}/blob/{tag}/docs/index.md",
                "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{url}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
