"""The text of a program that makes the same batches as an `ImageLoader`."""

from __future__ import annotations

from dataclasses import dataclass

from pixelmill.image_loader.program import AUTO_AUGMENT, Program, literal
from pixelmill.image_loader.settings import BatchSettings, Framework
from pixelmill.image_loader.targets import Targets
from pixelmill.plugin.framework_arrays import SOURCE


@dataclass(frozen=True)
class LoaderSource:
    """What a program of its own consists of.

    Attributes:
        program: The function that defines the pipeline.
        batches: How batches are made.
        targets: How the second half of a batch is made.
        framework: The framework of the batches.
        bfloat16: Whether images are rounded to bfloat16.
    """

    program: Program
    batches: BatchSettings
    targets: Targets
    framework: Framework
    bfloat16: bool

    def text(self) -> str:
        """Return the program."""
        lines = [*self._imports(), "", "", *self._pipeline(), "", "", *self._loader(), "", "", *self._batches()]
        return "\n".join(lines) + "\n"

    def _imports(self) -> list[str]:
        body = "\n".join(self.program.lines())
        used = self.program.globals()
        modules = [name for name in ("math", "types") if f"{name}." in body]
        names = sorted(["Loader", "fn", "pipeline_def", *modules], key=lambda name: (name.islower(), name))
        lines = []
        framework = SOURCE[self.framework][0]
        if framework:
            lines += [framework, ""]
        lines.append(f"from pixelmill import {', '.join(names)}")
        policies = sorted(used & set(AUTO_AUGMENT))
        if policies:
            lines.append(f"from pixelmill.auto_aug import {', '.join(policies)}")
        helpers = sorted(used - set(AUTO_AUGMENT) - {"math"})
        helpers += {"multilabel": ["multi_hot"], "detection": ["detection_targets"]}.get(self.targets.task, [])
        if helpers:
            lines.append(f"from pixelmill.image_loader import {', '.join(helpers)}")
        if "load_recipe(" in body:
            lines.append("from pixelmill.recipe import load_recipe")
        return lines

    def _pipeline(self) -> list[str]:
        own = self.batches
        options: dict[str, object] = {
            "batch_size": own.batch_size,
            "num_threads": own.num_threads,
            "device_id": None,
            "seed": own.seed,
        }
        if own.on_error != "raise" and isinstance(own.on_error, str):
            options["on_error"] = own.on_error
        if own.max_errors is not None:
            options["max_errors"] = own.max_errors
        given = ", ".join(f"{name}={literal(value)}" for name, value in options.items())
        body = [f"    {line}" for line in self.program.lines()]
        return [f"@pipeline_def({given})", f"def training({', '.join(self.program.parameters())}):", *body]

    def _loader(self) -> list[str]:
        names = literal(list(self.program.outputs))
        given = ", ".join(f"{name}={name}" for name in self.program.parameters())
        drop = ", drop_last=True" if self.batches.drop_last else ""
        if given:
            return [
                f"def make_loader({', '.join(self.program.parameters())}):",
                f"    return Loader(training({given}), {names}{drop})",
            ]
        return [f"loader = Loader(training(), {names}{drop})"]

    def _batches(self) -> list[str]:
        _, wrap, rounded = SOURCE[self.framework]
        images = (wrap or "{}").format('batch["images"]')
        if self.bfloat16:
            images = rounded.format(images)
        given = "loader" if self.program.parameters() else "loader=loader"
        return [
            f"def batches({given}):",
            "    for batch in loader:",
            f"        images = {images}",
            *(f"        {line}" for line in self.targets.source(wrap)),
            "        yield images, targets",
        ]
