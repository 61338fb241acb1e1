"""The device that holds a value: always the CPU."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol, Self

from pixelmill.errors import ArgumentError, EngineError

_current: ContextVar[tuple[Device, ...]] = ContextVar("devices", default=())


class HasDlpackDevice(Protocol):
    """A tensor of another library."""

    def __dlpack_device__(self) -> tuple[int, int]: ...


class Device:
    """A device by its name. A `with` block makes it the current one.

    Args:
        name: `"cpu"`. Devices of the kinds `"gpu"` and `"cuda"` are refused: values of the dynamic mode are in main
            memory.
        device_id: Must be None for the CPU.
    """

    device_type = "cpu"
    device_id: int | None = None

    def __init__(self, name: str, device_id: int | None = None) -> None:
        kind, _, number = name.partition(":")
        if kind in ("gpu", "cuda"):
            raise EngineError(f"Device: {name!r} is not available; the dynamic mode runs on the CPU")
        if kind != "cpu" or number or device_id is not None:
            raise ArgumentError(f"Device: the name must be 'cpu' without a number, got {name!r} and {device_id}")

    @staticmethod
    def current() -> Device:
        """Return the device of the innermost `with` block; the CPU outside of all."""
        return (_current.get() or (CPU,))[-1]

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """Return the number of the device that is used by default: None for the CPU."""
        return Device(device_type).device_id

    @staticmethod
    def type_from_dlpack(dev_type: int) -> str:
        """Return the kind of device that DLPack numbers `dev_type`."""
        kinds = {1: "cpu", 2: "gpu"}
        if int(dev_type) not in kinds:
            raise ArgumentError(f"Device: DLPack's device type {dev_type} is not supported")
        return kinds[int(dev_type)]

    @staticmethod
    def from_dlpack(dlpack_device: HasDlpackDevice) -> Device:
        """Return the device of a tensor of another library."""
        return Device(Device.type_from_dlpack(dlpack_device.__dlpack_device__()[0]))

    def __enter__(self) -> Self:
        _current.set((*_current.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.set(_current.get()[:-1])

    def __eq__(self, other: object) -> bool:
        return str(self) == (other if isinstance(other, str) else str(other) if isinstance(other, Device) else None)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.device_type

    def __repr__(self) -> str:
        return f"Device(device_type={self.device_type!r})"


CPU = Device("cpu")

# What arguments named `device` take; devices of PyTorch are read by their text.
DeviceLike = Device | str


def device(obj: object, id: int | None = None) -> Device:
    """Return a device by a name, from a device of PyTorch, or unchanged."""
    return obj if isinstance(obj, Device) else Device(str(obj), id)
