#!/bin/sh
# tidy.sh BIN [FILES]: runs clang-tidy of the environment BIN over the core, or over some files of it, by .clang-tidy.
# A fault is an error; a check that does not fit is switched off there, with the reason.
set -eu
cd "$(dirname "$0")/.."
bin=$1
shift
build=build/tidy
cmake -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
[ $# -gt 0 ] || set -- $(find native/core -name '*.cpp' ! -path '*/declared/*')
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 "$bin/clang-tidy" --quiet -p "$build"
