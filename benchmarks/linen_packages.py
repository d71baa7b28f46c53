"""The packages of PyPI with Linen code: which, and how they are downloaded and unpacked.

Nothing of them is part of this project, and nothing of them is run to download them; for the source
distribution of flax alone, pip asks its build for the name and version.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.migrate.packages import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / "build" / "linen_sweep"
EXAMPLES = Path(__file__).with_name("linen_examples")
_SUFFIX = "_example.py"
_MENTIONS = (b"flax", b"linen")


@dataclass(frozen=True)
class LinenPackage:
    """A package with modules of Linen.

    Attributes:
        name: Its name on PyPI.
        version: Its version.
        sha256: The hash of the wheel, or of the source distribution.
        licence: Under which it is published.
        folders: Where its code is.
        root: What paths to its code begin with.
        is_source: Whether it is a source distribution.
    """

    name: str
    version: str
    sha256: str
    licence: str
    folders: tuple[str, ...]
    root: str = "."
    is_source: bool = False

    @property
    def key(self) -> str:
        """The name of its folders."""
        return re.sub("[-.]", "_", self.name.casefold())

    def examples(self) -> dict[str, Path]:
        """Return the files with examples, by the files that they build modules of."""
        files = sorted((EXAMPLES / self.key).glob(f"*{_SUFFIX}"))
        return {source_of(file): file for file in files}


def source_of(example_file: Path) -> str:
    """Return the file that a file with examples is for, below the root of its package.

    >>> source_of(Path("flax/examples__vae__models_example.py"))
    'examples/vae/models.py'
    """
    return f"{example_file.name.removesuffix(_SUFFIX).replace('__', '/')}.py"


PACKAGES = (
    LinenPackage(
        "apax",
        "0.14.0",
        "a72d7c69be5ac959fd07a2f902f16d8364b9c5540ad7f04509947d6a1ec2debc",
        "MIT",
        ("apax",),
    ),
    LinenPackage(
        "aws-fortuna",
        "0.2.0",
        "92c553bd6267194c93eec2fd268c8710466a9b08f3ccd0bd3d8e4d1030b7cb19",
        "Apache-2.0",
        ("fortuna",),
    ),
    LinenPackage(
        "brax",
        "0.14.2",
        "d33b7b222ba5d85fd0fc4d4c59aa46feb978684107ad3f79de6bfef97ab06693",
        "Apache-2.0",
        ("brax",),
    ),
    LinenPackage(
        "dalle-mini",
        "0.1.5",
        "f4c81f114b8efdb192ac306d33f235a414bce3ea3f5dba91d59fb8bc66048380",
        "Apache-2.0",
        ("dalle_mini",),
    ),
    LinenPackage(
        "diffusers",
        "0.30.3",
        "1b70209e4d2c61223b96a7e13bc4d70869c8b0b68f54a35ce3a67fcf813edeee",
        "Apache-2.0",
        ("diffusers",),
    ),
    LinenPackage(
        "dopamine_rl",
        "4.1.2",
        "bd03119a54caf839fb61cf22179bad0bde712bc8ccf62aebd93ebce5381e54aa",
        "Apache-2.0",
        ("dopamine",),
    ),
    LinenPackage(
        "e3x",
        "1.0.2",
        "b18e519bb87f83e3319e735277a595f0cddca2d6fe30dfb7255f63fef86b0e7b",
        "Apache-2.0",
        ("e3x",),
    ),
    LinenPackage(
        "evojax",
        "0.2.17",
        "8badf5453c872b713dbfcd4a877117262df85b7e4be81e010fdf1284869d9022",
        "Apache-2.0",
        ("evojax",),
    ),
    LinenPackage(
        "evosax",
        "0.1.6",
        "195145d68c67f5f1de9c580b6f248f624ac9d089de628e67665f7b3616d638e4",
        "MIT",
        ("evosax",),
    ),
    LinenPackage(
        "flax",
        "0.12.8",
        "1bb438775b967a3f1f42b9c3d4ddf1d2883cd6406589f9cecdc244634036bdc4",
        "Apache-2.0",
        ("examples",),
        root="flax-0.12.8",
        is_source=True,
    ),
    LinenPackage(
        "flaxmodels",
        "0.1.3",
        "fc560089f2dcc46e04c99f7e44619f532bb7a436ef29409b5a84a63074e445da",
        "one for each model",
        ("flaxmodels",),
    ),
    LinenPackage(
        "gemma",
        "3.3.0",
        "b76d0a6b0602b5f4ece98dd161400f638ebe84e70e246732e5cba584045b7942",
        "Apache-2.0",
        ("gemma",),
    ),
    LinenPackage(
        "jax-resnet",
        "0.0.4",
        "16a0a3c371bfb7ab11c2fd825b44accfd0dc315e2959aa7369894bf245aa8d6a",
        "MIT",
        ("jax_resnet",),
    ),
    LinenPackage(
        "kauldron",
        "1.4.2",
        "2a113c1d69a5ad9ecb99172b50efac3e63e6052bd03a03530a462e93f64e4a71",
        "Apache-2.0",
        ("kauldron",),
    ),
    LinenPackage(
        "NetKet",
        "3.23.0",
        "760d2a02daa4e00cd27d4afa25ac3c8d83ba66f00c3d535c1a0fe6269408097a",
        "Apache-2.0",
        ("netket",),
    ),
    LinenPackage(
        "ott-jax",
        "0.6.0",
        "89d7ee73ae105a56385b66a43e9acd5ae070e66d991efc56047ab47cc756f3e6",
        "Apache-2.0",
        ("ott",),
    ),
    LinenPackage(
        "qdax",
        "0.5.0",
        "52fc4a6b4b87f5f66e73bd02a82aab94b17ed0c0e9b84c57110b07d7741a7fa9",
        "MIT",
        ("qdax",),
    ),
    LinenPackage(
        "sbx-rl",
        "0.28.0",
        "1493cc24ef96ecaf267ef2563d19c87fe02a9dc0ca39df59020378f720e4a951",
        "MIT",
        ("sbx",),
    ),
    LinenPackage(
        "scvi-tools",
        "1.4.2",
        "c453b75b0fa0d222bf0eb3a531607d17f5ea0dbe5b848ab12fd8cc24599884e5",
        "BSD-3-Clause",
        ("scvi",),
    ),
    LinenPackage(
        "transformers",
        "4.48.3",
        "78697f990f5ef350c23b46bf86d5081ce96b49479ab180b2de7687267de8fd36",
        "Apache-2.0",
        ("transformers",),
    ),
)


def unpacked(package: LinenPackage) -> Path:
    """Return the folder with the files of a package, downloaded where they are not there yet.

    Raises:
        Unreachable: pip did not get it.
    """
    folder = FOLDER / "sources" / f"{package.key}-{package.version}"
    if not folder.exists():
        archive = _downloaded(package)
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        if package.is_source:
            with tarfile.open(archive) as source:
                source.extractall(part, filter="data")
        else:
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(part)
        part.rename(folder)
    return folder / package.root


def linen_files(package: LinenPackage, folder: Path) -> Iterator[Path]:
    """Yield the files that the command reads: those in which flax or Linen is mentioned."""
    for name in package.folders:
        for path in sorted((folder / name).rglob("*.py")):
            data = path.read_bytes()
            if any(word in data for word in _MENTIONS):
                yield path


def _downloaded(package: LinenPackage) -> Path:
    """Return the archive, which pip has compared with its hash."""
    archives = FOLDER / "archives" / package.key
    archives.mkdir(parents=True, exist_ok=True)
    wanted = archives / "wanted.txt"
    wanted.write_text(
        f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", "utf-8"
    )
    kind = "--no-binary" if package.is_source else "--only-binary"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += [kind, ":all:", "--ignore-requires-python", "--dest", str(archives)]
    done = subprocess.run(
        [*command, "--requirement", str(wanted)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unreachable(f"{package.name}: {done.stderr.strip()}")
    return next(archives.glob("*.tar.gz" if package.is_source else "*.whl"))
