"""What a pipeline tells about itself, compared with DALI."""

from __future__ import annotations

import re

import numpy as np
import pytest
from peers import peer

import pixelmill
from pixelmill.errors import EngineError

dali = peer("nvidia.dali")

PROPERTIES = (
    "max_batch_size num_threads device_id seed prefetch_queue_depth cpu_queue_size gpu_queue_size "
    "py_num_workers py_start_method exec_pipelined exec_async exec_separated exec_dynamic set_affinity "
    "enable_memory_stats max_streams default_cuda_stream_priority is_restored_from_checkpoint num_outputs"
)


def make(module, **options):
    pipe = module.Pipeline(2, 1, None, 5, **options)
    with pipe:
        numbers = module.fn.external_source(source=lambda: [np.float32([1, 2])] * 2, name="numbers", batch=True)
        pipe.set_outputs(module.fn.copy(numbers, name="copied"), module.fn.random.uniform(range=[0, 1], name='a "b"'))
    return pipe


@pytest.mark.parametrize(
    "options", [{}, {"prefetch_queue_depth": 3, "py_start_method": "spawn", "set_affinity": False}]
)
def test_properties_are_those_of_dali(options):
    mine, theirs = make(pixelmill, **options), make(dali, **options)
    mine.build(), theirs.build()
    assert {name: getattr(mine, name) for name in PROPERTIES.split()} == {
        name: getattr(theirs, name) for name in PROPERTIES.split()
    }
    assert mine.stream_policy is theirs.stream_policy is mine.concurrency is None
    assert mine.executor_statistics() == theirs.executor_statistics()
    assert mine.external_source_shm_statistics() == theirs.external_source_shm_statistics()
    assert mine.input_feed_count("numbers") == theirs.input_feed_count("numbers")


def test_declared_outputs_are_returned():
    for module in (dali, pixelmill):
        kinds = [module.types.FLOAT, None]
        pipe = make(module, output_dtype=kinds, output_ndim=[1, 0])
        assert (pipe.output_dtype(), pipe.output_ndim()) == (kinds, [1, 0])
        assert make(module).output_dtype() == [None, None]
        assert make(module, output_ndim=1).output_ndim() == [1, 1]


def test_policies_have_the_names_of_dali():
    for name in ("StreamPolicy", "OperatorConcurrency"):
        for module in (pixelmill, pixelmill.pipeline):
            assert set(getattr(module, name).__members__) == set(getattr(dali, name).__members__)
    policy = pixelmill.StreamPolicy.PER_OPERATOR
    assert make(pixelmill, stream_policy=policy).stream_policy is policy


def test_types_have_the_numbers_of_dali():
    names = [name for name in dir(dali.types.DALIDataType) if name.isupper() and not name.startswith("_")]
    assert {name: int(getattr(pixelmill.types, name)) for name in names} == {
        name: int(getattr(dali.types, name)) for name in names
    }
    assert pixelmill.types.CUDAStream(7).ptr == dali.types.CUDAStream(7).ptr
    assert pixelmill.types.TensorLayout("HWC") == "HWC"


def test_a_pipeline_is_current_until_it_is_popped():
    pipe = make(pixelmill)
    pixelmill.Pipeline.push_current(pipe)
    assert id(pixelmill.Pipeline.current()) == id(pipe)
    pixelmill.Pipeline.pop_current()
    assert pixelmill.Pipeline.current() is None
    with pytest.raises(EngineError, match="push_current"):
        pixelmill.Pipeline.pop_current()
    with pytest.raises(EngineError, match="return the node"):
        pipe.add_sink(pixelmill.fn.copy(1))
    assert pipe.output_stream() is None


def test_the_graph_is_drawn(tmp_path):
    path = tmp_path / "graph.dot"
    make(pixelmill).save_graph_to_dot_file(str(path))
    text = path.read_text()
    assert text.startswith("digraph") and '"numbers" -> "copied";' in text and r'"a \"b\"" -> "output 1";' in text
    make(pixelmill).save_graph_to_dot_file(str(path), show_tensors=True, use_colors=True)
    assert '"numbers[0]" -> "copied";' in path.read_text() and "fillcolor" not in path.read_text()
    pipe = pixelmill.Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(pixelmill.fn.flip(np.zeros((2, 2, 1), np.uint8), device="gpu", name="f"))
    pipe.save_graph_to_dot_file(str(path), use_colors=True)
    assert re.search(r'"f" \[.*fillcolor', path.read_text())
