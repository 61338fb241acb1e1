"""Calls of Python in the middle of a graph: for whom, and what its results are called."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from dali_runs import DALI, HERE, make, noise, numpy_batch
from test_branches import FLAGS, IMAGES, run, same_as_dali

from pixelmill import ArgumentError
from pixelmill.plugin import pytorch
from pixelmill.plugin.pytorch import fn as pytorch_fn


@pytest.mark.parametrize("whole", [False, True], ids=["by sample", "by batch"])
def test_python_is_called_for_the_samples_of_its_branch(whole):
    seen = {HERE: set(), DALI: set()}

    def graph(m, x, flag):
        def darker(given_):
            images = given_ if whole else [given_]
            seen[m].add(tuple(image.tobytes() for image in images))
            halves = [image // 2 for image in images]
            return halves if whole else halves[0]

        if flag:
            y = m.fn.python_function(
                m.fn.crop(x, crop=(2, 2)), function=darker, batch_processing=whole, output_layouts="HWC"
            )
        else:
            y = m.fn.flip(x)
        return y

    same_as_dali(graph, IMAGES, FLAGS)
    assert seen[HERE] == seen[DALI] and len(seen[HERE]) == (1 if whole else sum(map(bool, FLAGS)))


def test_what_leads_to_a_call_is_run_for_its_branch_alone():
    """A crop that fails on the samples of the other branch, and a second condition inside of the first."""
    images = [noise((20, 20, 3), seed=i) if flag else noise((4, 4, 3)) for i, flag in enumerate(FLAGS)]
    seen = []

    def graph(m, x, flag):
        if flag:
            x = m.fn.crop(x, crop=(10, 10))
            x = m.fn.python_function(x, function=lambda a: seen.append("outer") or a)
            if m.fn.reductions.mean(x) > 1000.0:
                x = m.fn.python_function(x, function=lambda a: seen.append("inner") or a)
            x = m.fn.crop(x, crop=(5, 5))
        return x

    (got,) = run(HERE, graph, images, FLAGS, prefetch_queue_depth=1)
    assert [sample.shape[0] for sample in got] == [5 if flag else 4 for flag in FLAGS]
    assert seen == ["outer"] * sum(map(bool, FLAGS))


def test_results_of_python_have_the_names_that_are_given_as_in_dali():
    def graph(m, x, flag):
        whole, row = m.fn.python_function(x, function=lambda a: (a, a[0]), num_outputs=2, output_layouts=["HWC", "AB"])
        one = m.fn.python_function(x, function=lambda a: a.transpose(2, 0, 1), output_layouts="CHW")
        return m.fn.flip(whole), row, m.fn.flip(one)

    pipes = [make(m, lambda m, x: graph(m, x, None), IMAGES, layouts="") for m in (HERE, DALI)]
    mine, theirs = (pipe.run() for pipe in pipes)
    assert [batch.layout() for batch in mine] == [batch.layout() for batch in theirs] == ["HWC", "AB", "CHW"]
    for here, there in zip(mine, theirs, strict=True):
        for got, wanted in zip(numpy_batch(here), numpy_batch(there), strict=True):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(
        ArgumentError,
        match=r"array with 3 axes, but its layout is 'AB'\n  created at test_pyt",
    ):
        make(HERE, lambda m, x: m.fn.python_function(x, function=lambda a: a, output_layouts="AB"), IMAGES).run()


def halves(tensor):
    assert isinstance(tensor, torch.Tensor)
    return tensor // 2, tensor.float().mean()


def test_functions_of_tensors_stand_in_graphs():
    # DALI's needs a GPU, so NumPy says what is right.
    def graph(m, x):
        by_sample = pytorch_fn.torch_python_function(x, function=halves, num_outputs=2, output_layouts=["HWC"])
        mirror = pytorch.TorchPythonFunction(lambda batch: [each.flip(1) for each in batch], batch_processing=True)
        assert isinstance(by_sample, list)
        return *by_sample, mirror(x)

    pipe = make(HERE, graph, IMAGES)
    whole, mean, mirrored = pipe.run()
    assert (whole.layout(), mean.layout()) == ("HWC", "")
    for place, image in enumerate(IMAGES):
        np.testing.assert_array_equal(whole.at(place), image // 2)
        np.testing.assert_allclose(mean.at(place), image.mean(), rtol=1e-5)
        np.testing.assert_array_equal(mirrored.at(place), image[:, ::-1])


def test_functions_of_tensors_go_wrong_with_a_word_about_it():
    with pytest.raises(ArgumentError, match="function must be callable, got 3"):
        make(HERE, lambda m, x: pytorch_fn.torch_python_function(x, function=3), IMAGES)
    with pytest.raises(ArgumentError, match="the function must return tensors, got list"):
        make(HERE, lambda m, x: pytorch_fn.torch_python_function(x, function=lambda t: [1]), IMAGES).run()


def halved(capsule):
    tensor = torch.from_dlpack(capsule)
    return torch.to_dlpack(tensor // 2), torch.to_dlpack(255 - tensor)


CAPSULES = {
    "by sample": lambda m, x: m.fn.dl_tensor_python_function(
        x, function=halved, num_outputs=2, batch_processing=False, output_layouts="HWC"
    ),
    "by batch": lambda m, x: m.fn.dl_tensor_python_function(
        x, function=lambda batch: tuple(zip(*map(halved, batch), strict=True)), num_outputs=2
    ),
    "one": lambda m, x: m.fn.dl_tensor_python_function(x, function=lambda batch: [halved(one)[0] for one in batch]),
    "two inputs": lambda m, x: m.fn.dl_tensor_python_function(
        x,
        m.fn.flip(x),
        function=lambda a, b: torch.to_dlpack(torch.from_dlpack(a) // 2 + torch.from_dlpack(b) // 2),
        batch_processing=False,
    ),
}


@pytest.mark.parametrize("name", CAPSULES)
def test_functions_of_capsules_are_dalis(name):
    mine, theirs = (make(m, CAPSULES[name], IMAGES).run() for m in (HERE, DALI))
    for here, there in zip(mine, theirs, strict=True):
        assert here.layout() == there.layout()
        for got, wanted in zip(numpy_batch(here), numpy_batch(there), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_functions_of_capsules_may_give_tensors_and_nothing_else():
    graph = lambda m, x: m.fn.dl_tensor_python_function(  # noqa: E731
        x, function=lambda batch: [torch.from_dlpack(one) * 1 for one in batch]
    )
    np.testing.assert_array_equal(numpy_batch(make(HERE, graph, IMAGES).run()[0])[0], IMAGES[0])
    with pytest.raises(ArgumentError, match=r"DLPack capsules, got int\n  created at test_python_function\.py"):
        make(HERE, lambda m, x: m.fn.dl_tensor_python_function(x, function=lambda batch: [1]), IMAGES[:1]).run()
    with pytest.raises(ArgumentError, match="function must be callable"):
        make(HERE, lambda m, x: m.fn.dl_tensor_python_function(x, function=3), IMAGES)
