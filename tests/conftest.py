"""What holds for every test: property tests draw the same examples each time, so that a red suite is about the change.

To draw others: HYPOTHESIS_PROFILE=random make test
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
