"""Archives as registries serve them, from texts."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


def write_tarball(path: Path, files: Mapping[str, str]) -> Path:
    """Write ``files`` (text by path) as a compressed archive and return its path."""
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return path
