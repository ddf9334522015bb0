"""Settings that all tests share."""

from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so a deadline would judge the compiler; derandomised, a failure repeats.
settings.register_profile(
    "coalface", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("coalface")
