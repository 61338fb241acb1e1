"""Settings and pictures that all tests share."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's own chatter, before anybody imports it
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")  # four devices for JAX on any machine

import pytest
from hypothesis import HealthCheck, Phase, settings

# The same examples on every machine and in every run, none kept on disk.
settings.register_profile(
    "pixelmill",
    derandomize=True,
    report_multiple_bugs=False,
    database=None,
    deadline=None,
    max_examples=60,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("pixelmill")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests that use JAX behind all others, since a process with its threads should not be forked."""
    items.sort(key=lambda item: item.path.name in ("test_examples.py", "test_jax.py", "test_plugins.py"))
