"""Data for a Lightning Trainer: lengths, epochs, ranks, and resuming in the middle of an epoch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pixelmill.errors import ArgumentError, MissingDependency
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import Batch, Loader
from pixelmill.plugin.pytorch import tensor_of

try:
    import lightning.pytorch as pl
except ImportError:
    raise MissingDependency("lightning", "lightning") from None

Source = Pipeline | Loader | Callable[..., Pipeline | Loader]


class TrainerLoader:
    """A loader with the interface of a Trainer. Batches are dicts of tensors that share the memory of its arrays.

    A Trainer sets the epoch, saves the state in its checkpoints, and loads it to resume after the same step.

    Args:
        loader: The source of the batches.
    """

    batch_sampler = None  # Trainers look for this attribute

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self._before = 0  # steps of this epoch before the state was loaded
        self._taken = 0
        self._epoch: int | None = None  # of the next loop, if `set_epoch` was called

    @property
    def sampler(self) -> TrainerLoader:
        """The object whose `set_epoch` a Trainer calls."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Make the next loop run this epoch, or what a loaded state left of it."""
        self._epoch = epoch

    def __len__(self) -> int:
        """Return the steps of the whole epoch, including those before a loaded state."""
        return self._before + len(self.loader)

    def __iter__(self) -> Iterator[Batch]:
        """Start an epoch, or continue it after a loaded state."""
        return _Steps(self)

    def _begin(self) -> Iterator[Batch]:
        loops, begun = self.loader._loops, self._taken > 0
        if self._epoch is not None:
            self.loader.set_epoch(self._epoch)
        if begun or self.loader._loops != loops:
            self._before = self._taken = 0
        self._epoch = None
        return iter(self.loader)

    def _step(self, batch: Batch) -> Batch:
        self._taken += 1
        return {
            name: [tensor_of(sample) for sample in value] if isinstance(value, list) else tensor_of(value)
            for name, value in batch.items()
        }

    def state_dict(self) -> dict[str, object]:
        """Return the position after the last batch; it is the same on all ranks."""
        steps, every = self._before + self._taken, self.loader.steps_per_epoch
        return {"loader": self.loader.state_dict(), "steps": steps, "steps_per_epoch": every}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue after the batch after which `state_dict` was called.

        Raises:
            ArgumentError: An epoch does not have as many steps as before.
        """
        if not isinstance(state, Mapping) or not {"loader", "steps", "steps_per_epoch"} <= state.keys():
            raise ArgumentError(f"TrainerLoader: expected a result of state_dict, got {str(state)[:80]}")
        was, now = state["steps_per_epoch"], self.loader.steps_per_epoch
        if was != now:
            raise ArgumentError(
                f"TrainerLoader: an epoch had {was} steps and now has {now}, and a Trainer counts steps; "
                "continue with the same batch size and number of ranks"
            )
        self.loader.load_state_dict(state["loader"])
        self._before, self._taken = int(state["steps"]), 0


class _Steps:
    """One loop. It starts at the first `next`: Trainers set the epoch after they called `iter`."""

    def __init__(self, owner: TrainerLoader) -> None:
        self._owner = owner
        self._loop: Iterator[Batch] | None = None

    def __iter__(self) -> _Steps:
        return self

    def __next__(self) -> Batch:
        if self._loop is None:
            self._loop = self._owner._begin()
        return self._owner._step(next(self._loop))


class PipelineDataModule(pl.LightningDataModule):  # type: ignore[misc]
    """Pipelines as the data of a Trainer.

    A source is a pipeline, a `Loader`, or a function that returns one. A function with the arguments `shard_id` and
    `num_shards` is called with the rank and the number of ranks; an existing pipeline must have been built with them.

    Args:
        train: The source for training.
        valid: The source for validation.
        test: The source for tests.
        predict: The source for predictions.
        names: A name for each output, if sources are pipelines.
        drop_last: Drop the training samples that do not fill a batch, if the source is a pipeline.
    """

    def __init__(
        self,
        train: Source | None = None,
        valid: Source | None = None,
        test: Source | None = None,
        predict: Source | None = None,
        *,
        names: Sequence[str] = (),
        drop_last: bool = False,
    ) -> None:
        super().__init__()
        self._sources = {"train": train, "valid": valid, "test": test, "predict": predict}
        self._names = list(names)
        self._drop_last = drop_last
        self._loaders: dict[str, TrainerLoader] = {}

    def train_dataloader(self) -> TrainerLoader:
        """Return the batches for training."""
        return self._loader("train")

    def val_dataloader(self) -> TrainerLoader | list[TrainerLoader]:
        """Return the batches for validation, or an empty list if there is no source."""
        return [] if self._sources["valid"] is None else self._loader("valid")

    def test_dataloader(self) -> TrainerLoader:
        """Return the batches for tests."""
        return self._loader("test")

    def predict_dataloader(self) -> TrainerLoader:
        """Return the batches for predictions."""
        return self._loader("predict")

    def _loader(self, stage: str) -> TrainerLoader:
        """Return the same loader each time, since it keeps track of the next epoch."""
        if stage not in self._loaders:
            self._loaders[stage] = TrainerLoader(self._made(stage))
        return self._loaders[stage]

    def _made(self, stage: str) -> Loader:
        rank, ranks = (0, 1) if self.trainer is None else (self.trainer.global_rank, self.trainer.world_size)
        source = self._sources[stage]
        if source is None:
            raise ArgumentError(f"PipelineDataModule: there is no source for {stage!r}; pass {stage}=")
        if callable(source):
            known = inspect.signature(source).parameters
            sharded = {"shard_id", "num_shards"} <= known.keys()
            source = source(shard_id=rank, num_shards=ranks) if sharded else source()
        pipe = source.pipeline if isinstance(source, Loader) else source
        if not isinstance(pipe, Pipeline):
            raise ArgumentError(
                f"PipelineDataModule: {stage} must be or return a Pipeline or a Loader, got {type(pipe).__name__}"
            )
        _check_shards(stage, pipe, rank, ranks)
        if isinstance(source, Loader):
            return source
        return Loader(source, self._names, drop_last=self._drop_last and stage == "train")


def _check_shards(stage: str, pipe: Pipeline, rank: int, ranks: int) -> None:
    """Refuse readers that would read the same samples on all ranks."""
    for name, meta in pipe.reader_meta().items():
        found = meta["shard_id"], meta["number_of_shards"]
        if found != (rank, ranks):
            raise ArgumentError(
                f"PipelineDataModule: the reader {name!r} of {stage} has shard {found[0]} of {found[1]}, "
                f"but this is rank {rank} of {ranks}; pass a function of shard_id and num_shards"
            )


__all__ = ["PipelineDataModule", "TrainerLoader"]
