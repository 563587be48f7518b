"""Locks an open file for this process; the operating system takes the lock off when the process ends."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _FAR_BEYOND_THE_END = 0x7FFF0000  # a lock bars others from reading, so it lies where nothing is read

    def lock_file(file: int) -> bool:
        """Tries to lock a file descriptor; False if another process holds it."""
        position = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _FAR_BEYOND_THE_END, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, position, os.SEEK_SET)
        return True

else:
    import fcntl

    def lock_file(file: int) -> bool:
        """Tries to lock a file descriptor; False if another process holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
