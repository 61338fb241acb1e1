#!/bin/sh
# faults.sh PYTHON [ARGUMENTS]: let every allocation, read, write and thread start of small programs fail once, as docs/reliability.md tells.
set -e
python=$1
shift
folder=$(mktemp -d -p "${TMPDIR:-/dev/shm}")
trap 'rm -rf "$folder"' EXIT
"$python" tests/support/engine_faults.py "$folder/faults" "$@"
