#!/bin/sh
# kills.sh PYTHON: runs the tests of interrupted bulk jobs with the counts in docs/reliability.md. Some need root.
set -e
folder=$(mktemp -d -p "${TMPDIR:-/dev/shm}")
trap 'rm -rf "$folder"' EXIT
run() { echo "$*"; "$PYTHON" tests/support/job_faults.py "$1" "$folder/$1" $2 $3; rm -rf "${folder:?}/$1"; }
PYTHON=$1
run points
run moments 200 1
run moments 20 2
run errors all
run limit 50
if [ "$(id -u)" = 0 ]; then run full 50; else echo "full: not run, needs root"; fi
