#!/bin/sh
# Builds the fuzzer under ASan and UBSan and runs it; further arguments go to it.
#   scripts/fuzz.sh                          ten million inputs
#   scripts/fuzz.sh --executions 100000      fewer
set -eu
cd "$(dirname "$0")/.."
build=build/fuzz
cmake -S fuzz -B "$build" -DCMAKE_BUILD_TYPE=None >/dev/null
cmake --build "$build" --parallel >/dev/null
if [ $# -eq 0 ]; then
    set -- --executions 10000000 --seed 1
fi
seeds=$build/seeds
if [ -x .venv/bin/python ] && [ ! -d "$seeds" ]; then
    .venv/bin/python fuzz/seeds.py "$seeds"
fi
if [ -d "$seeds" ]; then
    set -- "$@" --corpus "$seeds"
fi
exec "$build/decode_fuzz" "$@"
