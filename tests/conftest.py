"""Settings that all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's own chatter, before it is imported
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")  # four devices for JAX on any machine

import pytest
from hypothesis import HealthCheck, Phase, settings
from peers import absent_in, skip_if_absent

# A shell that starts pytest in the background has it ignore Ctrl-C, which the programs of the tests would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


AFTER_OTHERS = ("test_examples.py", "test_jax.py", "test_loader_frameworks.py", "test_plugins.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that use JAX after all others, since a process with its threads should not be forked."""
    items.sort(key=lambda item: item.path.name in AFTER_OTHERS)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, Any]:
    """Skip a file that needs a package which is not installed."""
    report = yield
    absent = absent_in(str(report.longrepr)) if report.failed else None
    if absent is not None:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: {absent} is not installed")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Skip a test whose fixtures need a package that is not installed."""
    yield from _skipping()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Skip a test that imports a package which is not installed."""
    yield from _skipping()


def _skipping() -> Generator[None, None, None]:
    try:
        yield
    except Exception as error:
        skip_if_absent(error)
        raise
