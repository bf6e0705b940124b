"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

_NO_TEMPORARY_FILE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.EBUSY}
"""Why a folder may take no temporary file, or not let it replace a target that is writable."""
STDOUT = Path("/dev/stdout")
"""Standard output, on any system."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    The content goes to a hidden temporary file in the same folder, which then replaces the target. As with
    ``cp``, a read-only target is refused, a link stays a link, and where the folder takes no temporary file,
    or the target is a pipe or a device, the target itself is written into.
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
        if not _replace(path.resolve(), content):
            path.write_bytes(content)
    except OSError as error:
        # It may be about the temporary file, which nobody knows, or name no file.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(target: Path, content: bytes) -> bool:
    """Put a new file in the place of the target; False if the folder does not allow it."""
    temporary = target.with_name(f".{os.urandom(8).hex()}.part")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        if error.errno not in _NO_TEMPORARY_FILE:
            raise
        return False
    finally:
        with suppress(OSError):
            temporary.unlink()
    return True
