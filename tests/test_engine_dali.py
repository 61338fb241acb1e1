"""Every operator on the DALI engine: what the native engine gives, within the operator's tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from reference import ENTRIES
from running import close
from test_operators import run, samples_of

from pixelmill.engine.dali import emission


@pytest.fixture
def emitted(monkeypatch):
    """Note the operators that DALI is asked to run."""
    names = []
    emit = emission._Emitter.emit

    def noted(self, node):
        names.append(node.operator)
        emit(self, node)

    monkeypatch.setattr(emission._Emitter, "emit", noted)
    return names


@pytest.mark.parametrize("name", ENTRIES)
def test_an_operator_gives_the_same_on_both_engines(name, tmp_path, emitted):
    entry = ENTRIES[name]
    samples = [sample for sample in samples_of(entry, tmp_path) if np.size(sample)]
    native = run(entry, samples, engine="native", decode_scaling=False)
    dali = run(entry, samples, engine="dali", decode_scaling=False)
    for output, other in zip(dali, native, strict=True):
        for got, wanted in zip(output, other, strict=True):
            close(got, wanted, level=entry.level, real=entry.real)
