"""Query the CUDA driver and print its version and GPUs as JSON.

This file runs as a program of its own and is never imported: a process that has called the driver can no longer fork,
and a driver that hangs or crashes must not affect the caller. It imports nothing of the package.
"""

import ctypes
import json
import sys
from typing import TypedDict

_NAME_BYTES = 256
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE


class _Gpu(TypedDict):
    number: int
    name: str
    memory: int
    capability: list[int]


class _Report(TypedDict):
    cuda: list[int] | None
    gpus: list[_Gpu]
    fault: str | None


class _DriverError(Exception):
    """A call that the driver refused: its name, and the status that the driver returned."""


def _call(driver: ctypes.CDLL, name: str, *arguments: object) -> None:
    status = getattr(driver, name)(*arguments)
    if status != 0:
        raise _DriverError(name, status)


def _gpu(driver: ctypes.CDLL, number: int) -> _Gpu:
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


def probe(library: str) -> _Report:
    """Return the CUDA version that the driver supports, its GPUs, and what failed, if anything."""
    found: _Report = {"cuda": None, "gpus": [], "fault": None}
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        found["fault"] = "no driver"
        return found
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
        found["fault"] = f"not a CUDA driver: {error}"
    return found


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))
