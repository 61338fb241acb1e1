"""Transforms of torchvision: the same results as DALI's, which run as one pipeline, too."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import nvidia.dali.experimental.torchvision as theirs
import nvidia.dali.experimental.torchvision.v2.functional as their_functions
import pytest
import torch
from encoded_images import color
from PIL import Image

import pixelmill.experimental.torchvision as mine
import pixelmill.experimental.torchvision.v2.functional as functions

logging.getLogger("nvidia").setLevel(logging.ERROR)

IMAGE = color(1, 37, 52)
TENSOR = torch.from_numpy(np.asarray(color(2, 41, 30)).transpose(2, 0, 1).copy())
BATCH = torch.stack([TENSOR, TENSOR.flip(2), TENSOR.flip(1)])
INPUTS = {"image": IMAGE, "gray": IMAGE.convert("L"), "tensor": TENSOR, "batch": BATCH}


@pytest.fixture(autouse=True)
def no_stream(monkeypatch):
    """Let DALI take tensors although PyTorch was built without CUDA: it asks for a stream, which the CPU ignores."""
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: SimpleNamespace(cuda_stream=0))


def array(value):
    return np.asarray(value).astype(float)


def check(one, other, *, level=1.0):
    assert type(one) is type(other)
    if isinstance(one, Image.Image):
        assert (one.mode, one.size) == (other.mode, other.size)
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert np.abs(array(one) - array(other)).max(initial=0) <= level


def test_every_name_is_here():
    assert set(mine.__all__) == set(theirs.__all__)
    assert set(functions.__all__) == set(their_functions.__all__)


DETERMINISTIC = {
    "center": lambda t: [t.CenterCrop(20)],
    "center odd": lambda t: [t.CenterCrop((21, 23))],
    "center large": lambda t: [t.CenterCrop([50, 61])],
    "resize": lambda t: [t.Resize((24, 40))],
    "resize shorter": lambda t: [t.Resize(24)],
    "resize listed": lambda t: [t.Resize([24], antialias=False)],
    "resize limited": lambda t: [t.Resize(30, max_size=40)],
    "resize longer": lambda t: [t.Resize(None, max_size=33)],
    "nearest": lambda t: [t.Resize((50, 60), interpolation=t.InterpolationMode.NEAREST)],
    "cubic": lambda t: [t.Resize((50, 60), interpolation=3)],
    "pad": lambda t: [t.Pad(3, fill=7)],
    "pad two": lambda t: [t.Pad((3, 5), padding_mode="edge")],
    "pad four": lambda t: [t.Pad((1, 2, 3, 4), padding_mode="reflect")],
    "pad symmetric": lambda t: [t.Pad(6, padding_mode="symmetric")],
    "blur": lambda t: [t.GaussianBlur(5, sigma=1.3)],
    "flips": lambda t: [t.RandomHorizontalFlip(1.0), t.RandomVerticalFlip(1.0), t.RandomHorizontalFlip(0.0)],
    "jitter": lambda t: [t.ColorJitter(brightness=(1.2, 1.2), contrast=(0.7, 0.7), saturation=(1.5, 1.5))],
    "applied": lambda t: [t.RandomApply([t.RandomHorizontalFlip(1.0), t.GaussianBlur(3, 1.0)], p=1.0)],
    "not applied": lambda t: [t.RandomApply([t.RandomHorizontalFlip(1.0)], p=0.0), t.ToPureTensor()],
    "crop all": lambda t: [t.RandomCrop((60, 70), pad_if_needed=True, padding_mode="edge")],
}


@pytest.mark.parametrize("name", DETERMINISTIC)
@pytest.mark.parametrize("given", ["image", "batch"])
def test_transforms_return_what_dalis_return(name, given):
    if name == "jitter" and given != "image":
        pytest.skip("DALI's color_twist takes HWC only")
    if name == "crop all":
        made = mine.Compose(DETERMINISTIC[name](mine))(INPUTS[given])
        expected = theirs.Compose(DETERMINISTIC[name](theirs))(INPUTS[given])
        assert array(made).shape == array(expected).shape
        return
    made, expected = (t.Compose(DETERMINISTIC[name](t), batch_size=4)(INPUTS[given]) for t in (mine, theirs))
    check(made, expected)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("given", ["image", "gray"])
def test_gray(channels, given):
    made, expected = (t.Compose([t.Grayscale(channels)])(INPUTS[given]) for t in (mine, theirs))
    check(made, expected)
    check(mine.Compose([mine.RandomGrayscale(p=0.0)])(INPUTS[given]), INPUTS[given], level=0)
    assert mine.Compose([mine.RandomGrayscale(p=1.0)])(INPUTS[given]).mode == INPUTS[given].mode


def test_normalization_and_the_kinds_of_results():
    chain = [mine.Resize((20, 20)), mine.ToPureTensor(), mine.Normalize([1.0, 2.0, 3.0], [0.5, 2.0, 4.0])]
    same = [theirs.Resize((20, 20)), theirs.ToPureTensor(), theirs.Normalize([1.0, 2.0, 3.0], [0.5, 2.0, 4.0])]
    for given in ("image", "tensor", "batch"):
        check(mine.Compose(chain)(INPUTS[given]), theirs.Compose(same)(INPUTS[given]), level=2.01)
    for marks in (["PILToTensor"], ["ToPILImage"], ["ToPureTensor", "ToPILImage"]):
        for given in ("image", "tensor", "batch"):
            made, expected = (t.Compose([getattr(t, mark)() for mark in marks])(INPUTS[given]) for t in (mine, theirs))
            for one, other in zip(*([x] if not isinstance(x, list) else x for x in (made, expected)), strict=True):
                check(one, other, level=0)


def test_a_chain_takes_images_of_many_sizes():
    chain = mine.Compose([mine.Resize(20), mine.CenterCrop(18)])
    for height, width in ((40, 50), (90, 31), (20, 20)):
        image = color(height, height, width)
        check(chain(image), theirs.Compose([theirs.Resize(20), theirs.CenterCrop(18)])(image))
    with pytest.raises(TypeError, match="first input was a Image"):
        chain(TENSOR)
    for wrong in ([1], np.zeros((3, 4, 4))):
        with pytest.raises(TypeError, match="PIL image or a tensor"):
            mine.Compose([])(wrong)
    with pytest.raises(ValueError, match="mode"):
        chain(IMAGE.convert("CMYK"))
    with pytest.raises(ValueError, match="NCHW"):
        mine.Compose([])(BATCH[None])


def test_random_transforms_draw_over_their_ranges():
    many = torch.stack([torch.arange(30).expand(3, 30, 30).to(torch.uint8)] * 64)
    crops = mine.Compose([mine.RandomCrop(10, padding=2)], batch_size=64, seed=3)(many)
    firsts = crops[:, 0, 5, 0].unique().tolist()
    assert crops.shape == (64, 3, 10, 10) and len(firsts) > 12 and max(firsts) <= 22
    inside = mine.Compose([mine.RandomCrop((30, 29))], batch_size=64, seed=3)(many)
    assert set(inside[:, 0, 0, 0].tolist()) == {0, 1}
    resized = mine.Compose([mine.RandomResizedCrop((12, 14), scale=(0.2, 0.3))], seed=2)(many)
    assert resized.shape == (64, 3, 12, 14) and resized[:, 0, 0, 0].unique().numel() > 10
    flipped = mine.Compose([mine.RandomHorizontalFlip()], seed=2)(many)[:, 0, 0, 0]
    assert 16 < (flipped == 29).sum() < 48 and set(flipped.tolist()) == {0, 29}
    assert torch.equal(
        mine.Compose([mine.RandomCrop(9)], seed=5)(many), mine.Compose([mine.RandomCrop(9)], seed=5)(many)
    )
    jittered = [mine.Compose([mine.ColorJitter(0.4, 0.4, 0.4, 0.1)], seed=n)(IMAGE) for n in range(6)]
    assert len({image.tobytes() for image in jittered}) == 6
    blurred = [mine.Compose([mine.GaussianBlur(5)], seed=n)(IMAGE) for n in range(6)]
    assert len({image.tobytes() for image in blurred}) > 3


FUNCTIONS = {
    "center_crop": lambda f, x: f.center_crop(x, [21, 20]),
    "center_crop large": lambda f, x: f.center_crop(x, 60),
    "crop": lambda f, x: f.crop(x, 3, 4, 10, 12),
    "crop outside": lambda f, x: f.crop(x, -3, 30, 10, 40),
    "resize": lambda f, x: f.resize(x, [20, 30]),
    "resize one": lambda f, x: f.resize(x, 20, max_size=25),
    "resized_crop": lambda f, x: f.resized_crop(x, 2, 3, 20, 18, [12, 15]),
    "horizontal_flip": lambda f, x: f.horizontal_flip(x),
    "vertical_flip": lambda f, x: f.vertical_flip(x),
    "gaussian_blur": lambda f, x: f.gaussian_blur(x, 5, sigma=1.5),
    "pad": lambda f, x: f.pad(x, [1, 2, 3, 4], fill=3),
    "pad edge": lambda f, x: f.pad(x, 4, padding_mode="reflect"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", ["image", "tensor"])
def test_functions_return_what_dalis_return(name, given):
    check(FUNCTIONS[name](functions, INPUTS[given]), FUNCTIONS[name](their_functions, INPUTS[given]))


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_conversions_return_what_dalis_return():
    for f in (functions.to_grayscale, functions.rgb_to_grayscale):
        check(f(IMAGE, 3), their_functions.to_grayscale(IMAGE, 3))
    floats = TENSOR.float()
    check(functions.normalize(floats, [1, 2, 3], [4, 5, 6]), their_functions.normalize(floats, [1, 2, 3], [4, 5, 6]))
    for name, values in {
        "pil_to_tensor": [IMAGE, IMAGE.convert("L"), IMAGE.convert("F"), IMAGE.convert("1")],
        "to_tensor": [
            IMAGE,
            IMAGE.convert("F"),
            np.asarray(IMAGE),
            np.asarray(IMAGE.convert("L")),
            np.ones((2, 3), "f4"),
        ],
        "to_pil_image": [TENSOR, TENSOR[:1], TENSOR.float() / 255],
        "get_size": [IMAGE, TENSOR, BATCH],
        "get_image_size": [IMAGE, TENSOR],
        "get_dimensions": [IMAGE, IMAGE.convert("L"), TENSOR, TENSOR[0]],
    }.items():
        for value in values:
            made, expected = (getattr(module, name)(value) for module in (functions, their_functions))
            assert made == expected if isinstance(made, list) else check(made, expected, level=0) is None


MISTAKES = [
    lambda t: t.CenterCrop((1, 2, 3)),
    lambda t: t.CenterCrop(0),
    lambda t: t.CenterCrop("10"),
    lambda t: t.Resize(None),
    lambda t: t.Resize((10, 20), max_size=30),
    lambda t: t.Resize(40, max_size=30),
    lambda t: t.Resize(10.5),
    lambda t: t.Resize(10, interpolation=9),
    lambda t: t.Resize(10, interpolation=t.InterpolationMode.BOX),
    lambda t: t.Resize(10, interpolation="linear"),
    lambda t: t.Pad(-1),
    lambda t: t.Pad(1, padding_mode="mirror"),
    lambda t: t.Normalize(1.0, [1.0]),
    lambda t: t.Normalize([1.0], [0.0]),
    lambda t: t.Normalize([1.0], [1.0], inplace=True),
    lambda t: t.GaussianBlur(4),
    lambda t: t.GaussianBlur(3, sigma=-1.0),
    lambda t: t.Grayscale(2),
    lambda t: t.ColorJitter(brightness=-1.0),
    lambda t: t.ColorJitter(brightness=(1.5, 0.5)),
    lambda t: t.ColorJitter(hue=0.7),
    lambda t: t.RandomApply([], p=1.5),
    lambda t: t.RandomGrayscale(p="x"),
    lambda t: t.RandomCrop(10, padding=[1, 2, 3]),
    lambda t: t.RandomCrop(10, padding="1"),
    lambda t: t.RandomCrop(10, pad_if_needed=1),
    lambda t: t.RandomCrop(10, fill="red"),
    lambda t: t.RandomResizedCrop(10, scale=1.0),
    lambda t: t.RandomResizedCrop(10, ratio=(2.0, 1.0)),
    lambda t: t.Resize(10)(IMAGE),
]


@pytest.mark.parametrize("mistake", range(len(MISTAKES)))
def test_mistakes_raise_dalis_types(mistake):
    kinds = []
    for module in (theirs, mine):
        with pytest.raises((TypeError, ValueError, NotImplementedError, RuntimeError)) as caught:
            MISTAKES[mistake](module)
        kinds.append(caught.type)
    assert kinds[1] is kinds[0]
