"""Settings of every test: property tests use the same examples each time, so that a failure is due to the change.

For other examples: HYPOTHESIS_PROFILE=random make test
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Workers of pytest-xdist have the width of the terminal; lines are broken at 80 columns only where a test asks for it.
os.environ.pop("COLUMNS", None)

# A shell starts `make test &` with Ctrl-C ignored, and every process that a test interrupts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
