#!/bin/sh
# sanitize.sh PYTHON [PYTEST ARGUMENTS]: builds the core with ASan and UBSan, and runs the tests of native code with it.
# The build has its own environment in build/sanitize, which uses all other packages of PYTHON.
set -eu
cd "$(dirname "$0")/.."
python=$1
shift
home=$PWD/build/sanitize
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
[ -d "$home" ] || "$python" -m venv --without-pip "$home"
own=$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$packages" >"$own/others.pth"
CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1" \
    "$home/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable . "-Cbuild-dir=$home/build"
if [ $# -eq 0 ]; then
    for name in $(cat scripts/core_tests.txt); do
        file=$(find tests -name "test_$name.py")
        set -- "$@" "${file:?scripts/core_tests.txt names $name, which has no file}"
    done
fi
# Python does not free all memory at exit. DALI finds its codecs by a path that the preloaded library hides. Tests take
# many times as long, so their time limit is longer.
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so.6)" \
    LD_LIBRARY_PATH="$packages/nvidia/nvimgcodec" "$home/bin/python" -m pytest -q -o faulthandler_timeout=1800 "$@"
