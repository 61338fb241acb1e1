"""Operators of DALI that are not here. Programs can import their names; a call says why there is nothing to call."""

from __future__ import annotations

from pixelmill.errors import EngineError

_KINDS = {
    "video": (
        "decoders.video",
        "experimental.decoders.video",
        "experimental.inputs.video",
        "experimental.readers.video",
        "optical_flow",
        "readers.video",
        "readers.video_resize",
        "video_reader",
        "video_reader_resize",
    ),
    "audio": (
        "audio_decoder",
        "audio_resample",
        "decoders.audio",
        "experimental.audio_resample",
        "mel_filter_bank",
        "mfcc",
        "nemo_asr_reader",
        "nonsilent_region",
        "power_spectrum",
        "preemphasis_filter",
        "readers.nemo_asr",
        "spectrogram",
        "to_decibels",
    ),
    "": (
        "debayer",
        "decoders.inflate",
        "dump_image",
        "experimental.debayer",
        "experimental.inflate",
        "experimental.readers.fits",
        "ssd_random_crop",
    ),
}
ABSENT = {name: kind for kind, names in _KINDS.items() for name in names}

# Classes of `ops` whose names do not follow from those of the functions.
_CLASSES = {"mfcc": "MFCC", "ssd_random_crop": "SSDRandomCrop"}
ABSENT_CLASSES = {
    ".".join([*path, _CLASSES.get(last, "".join(word.capitalize() for word in last.split("_")))]): name
    for name in ABSENT
    for *path, last in [name.split(".")]
}


def refusal(name: str) -> EngineError:
    """Return the error for a call of an operator that is not here."""
    kind = ABSENT[name]
    why = f"pixelmill is for images and has no {kind} operators" if kind else "pixelmill does not have this operator"
    return EngineError(f"{name}: {why}; keep this pipeline on DALI")
