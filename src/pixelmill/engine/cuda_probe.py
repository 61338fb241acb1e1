"""Ask the CUDA driver what there is, and print it as JSON.

This file is run as a program of its own, never imported: a process that has called the driver cannot be forked any
more, and a driver that hangs or crashes must take nobody with it. It knows nothing of the package.
"""

import ctypes
import json
import sys
from typing import Any

_NAME_BYTES = 256
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE


class _DriverError(Exception):
    """A call that the driver did not carry out, and the number it gave for it."""


def _call(driver: Any, name: str, *arguments: Any) -> None:
    status = getattr(driver, name)(*arguments)
    if status != 0:
        raise _DriverError(name, status)


def _gpu(driver: Any, number: int) -> dict[str, Any]:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    name, memory = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_size_t()
    _call(driver, "cuDeviceGet", ctypes.byref(device), ctypes.c_int(number))
    _call(driver, "cuDeviceGetName", name, ctypes.c_int(_NAME_BYTES), device)
    _call(driver, "cuDeviceTotalMem_v2", ctypes.byref(memory), device)
    _call(driver, "cuDeviceGetAttribute", ctypes.byref(major), ctypes.c_int(_MAJOR), device)
    _call(driver, "cuDeviceGetAttribute", ctypes.byref(minor), ctypes.c_int(_MINOR), device)
    return {
        "number": number,
        "name": name.value.decode("utf-8", "replace"),
        "memory": memory.value,
        "capability": [major.value, minor.value],
    }


def probe(library: str) -> dict[str, Any]:
    """Give the version of CUDA that the driver serves, its GPUs, and what kept it from telling more."""
    found: dict[str, Any] = {"cuda": None, "gpus": [], "fault": None}
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return {**found, "fault": "no driver"}
    version, count = ctypes.c_int(), ctypes.c_int()
    try:
        _call(driver, "cuDriverGetVersion", ctypes.byref(version))
        found["cuda"] = [version.value // 1000, version.value % 1000 // 10]
        _call(driver, "cuInit", ctypes.c_uint(0))
        _call(driver, "cuDeviceGetCount", ctypes.byref(count))
        found["gpus"] = [_gpu(driver, number) for number in range(count.value)]
    except _DriverError as refused:
        name, status = refused.args
        found["fault"] = None if status == _NO_DEVICE else f"{name} failed with CUDA error {status}"
    except AttributeError as error:
        found["fault"] = f"it is not a CUDA driver: {error}"
    return found


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))
