"""Creates 100 000 small images with each of two seeds and looks for two that are equal.

python benchmarks/find_duplicates.py [--count 100000] [--content noise] [--format jpg]
"""

from __future__ import annotations

import argparse
import hashlib
import sys

from pixelmill.create import PictureOptions


def main() -> int:
    """Create, compare, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--content", default="noise")
    parser.add_argument("--format", default="jpg")
    options = parser.parse_args()
    seen: dict[bytes, tuple[int, int]] = {}
    for seed in (0, 1):
        maker = PictureOptions(32, 32, content=options.content, image_format=options.format, seed=seed).maker()
        for index in range(options.count):
            digest = hashlib.blake2b(maker.make(index)[0], digest_size=16).digest()
            if digest in seen:
                print(f"images {seen[digest]} and {(seed, index)} (seed, number) are equal")
                return 1
            seen[digest] = seed, index
    print(f"{len(seen)} images of 2 seeds, no two equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
