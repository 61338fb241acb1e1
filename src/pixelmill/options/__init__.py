"""The options of every command, each declared once: a Python signature, its checks, its docs and a command line.

An option is a field of a frozen dataclass. Its annotation carries the type, the limits and the help text:

    quality: Annotated[int, Range(1, 100), Help("Quality of JPEG files.")] = 90

`declaration` turns such a class into a checked Python function and into the options of a plan; `pixelmill.cli.options`
turns it into command-line options. Nothing here imports NumPy or click, so `--help` stays fast.
"""
