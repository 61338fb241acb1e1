#!/bin/sh
# crash.sh PYTHON: resume every bulk job from every state that a loss of power may leave, as docs/reliability.md tells.
set -e
folder=$(mktemp -d -p "${TMPDIR:-/dev/shm}")
trap 'rm -rf "$folder"' EXIT
"$1" tests/support/crash_states.py "$folder/crash"
