"""Long runs of what the tests do a few times with object stores; `make remote-faults` starts them.

remote_faults.py exits COUNT [careless]     processes that end with requests in flight
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from loopback_s3 import LoopbackS3

EXIT_PROGRAM = Path(__file__).with_name("exit_program.py")
AT_ONCE = 2


def exits(count: int, *arguments: str) -> Counter[tuple[int, str]]:
    """Run `exit_program.py` many times; return how often each return code came, with the end of its messages."""
    server = LoopbackS3(latency=0.1)
    for number in range(4):
        server.put(f"data/{number}", bytes(range(256)) * 64)
    found: Counter[tuple[int, str]] = Counter()
    with server.running():
        while found.total() < count:
            command = [sys.executable, str(EXIT_PROGRAM), server.endpoint, *arguments]
            running = [
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                for _ in range(min(AT_ONCE, count - found.total()))
            ]
            for process in running:
                _, said = process.communicate(timeout=120)
                found[process.returncode, said.strip()[-200:]] += 1
    return found


def main() -> None:
    """Run what the arguments name, and fail if a run failed."""
    what, count, *rest = sys.argv[1:]
    found = {"exits": exits}[what](int(count), *rest)
    for (code, said), times in found.items():
        print(f"{what}: {times} x return code {code} {said}")
    sys.exit(any(code for code, _ in found))


if __name__ == "__main__":
    main()
