"""Run the command line as ``python -m pixelmill``."""

from pixelmill.cli import main

if __name__ == "__main__":
    main(prog_name="pixelmill")
