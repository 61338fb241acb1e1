"""Print requirements of pyproject.toml, one per line, so that the Makefile need not repeat them.

requirements.py build           # the build requirements
requirements.py EXTRA           # an optional group
requirements.py EXTRA PACKAGE   # one package of that group
"""

import re
import sys
import tomllib
from pathlib import Path


def main(group: str, package: str | None = None) -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    if group == "build":
        lines = project["build-system"]["requires"]
    else:
        lines = project["project"]["optional-dependencies"][group]
    if package is not None:
        lines = [line for line in lines if re.split(r"[^\w.-]", line)[0] == package]
        if not lines:
            sys.exit(f"requirements.py: {package} is not in the group {group} of pyproject.toml")
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
