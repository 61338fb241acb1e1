#!/bin/sh
# Builds a fuzzer under ASan and UBSan and runs it; further arguments go to it.
#   scripts/fuzz.sh                                 # ten million images
#   scripts/fuzz.sh --executions 100000             # fewer
#   scripts/fuzz.sh tfrecord --executions 25000000  # another target: decode, jpeg, pack, encode, tfrecord, example, npy, recordio
set -eu
cd "$(dirname "$0")/.."
target=decode
case ${1:-} in
    -* | "") ;;
    *)
        target=$1
        shift
        ;;
esac
build=build/fuzz
cmake -S fuzz -B "$build" -DCMAKE_BUILD_TYPE=None >/dev/null
cmake --build "$build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}" --target "${target}_fuzz" >/dev/null
if [ $# -eq 0 ]; then
    set -- --executions 10000000 --seed 1
fi
if [ "$target" = decode ]; then
    seeds=$build/seeds
    if [ -x .venv/bin/python ] && [ ! -d "$seeds" ]; then
        .venv/bin/python fuzz/seeds.py "$seeds"
    fi
    if [ -d "$seeds" ]; then
        set -- "$@" --corpus "$seeds"
    fi
fi
exec "$build/${target}_fuzz" "$@"
