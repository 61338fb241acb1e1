"""``python -m imagine``."""

from imagine.command import main

main(prog_name="imagine")
