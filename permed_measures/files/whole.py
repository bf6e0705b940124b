"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

STDOUT = Path("/dev/stdout")
"""Standard output, on any system."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    The content goes to a hidden temporary file in the same folder, which then replaces the target. As with
    ``cp``, a read-only target is refused, a link stays a link, and a pipe or a device is written into.
    """
    try:
        if path == STDOUT:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        with suppress(FileNotFoundError), os.fdopen(os.open(path, os.O_WRONLY), "wb") as existing:
            if not stat.S_ISREG(os.fstat(existing.fileno()).st_mode):
                existing.write(content)
                return
        _replace(path.resolve(), content)
    except OSError as error:
        # It may be about the temporary file, which nobody knows, or name no file.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(target: Path, content: bytes) -> None:
    """Put a new file in the place of the target."""
    temporary = target.with_name(f".{os.urandom(8).hex()}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink()
