"""Ray: pipelines on the nodes of a cluster, and datasets for Ray Data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.ray.datasource import DatasetSource, read_dataset
    from pixelmill.ray.mapping import map_pipeline, map_recipe
    from pixelmill.ray.workers import RayWorkers

__all__ = ["DatasetSource", "RayWorkers", "map_pipeline", "map_recipe", "read_dataset"]
__getattr__ = lazy_exports(
    __name__,
    {
        "DatasetSource": "datasource",
        "RayWorkers": "workers",
        "map_pipeline": "mapping",
        "map_recipe": "mapping",
        "read_dataset": "datasource",
    },
)
