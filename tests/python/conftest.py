"""Profiles of hypothesis: `ci` by default, HYPOTHESIS_PROFILE=long for many more cases."""

import os

from hypothesis import HealthCheck, settings

common = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("ci", max_examples=150, **common)
settings.register_profile("long", max_examples=5000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
