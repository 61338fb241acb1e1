#!/bin/sh
# tsan.sh PYTHON [ARGUMENTS]: builds the core with ThreadSanitizer and runs tests/support/tsan_engine.py with it; arguments go to that program.
# The build has an environment of its own in build/tsan, which takes all other packages from PYTHON's.
set -eu
cd "$(dirname "$0")/.."
python=$1
shift
home=$PWD/build/tsan
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
[ -d "$home" ] || "$python" -m venv --without-pip "$home"
own=$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$packages" >"$own/others.pth"
CXXFLAGS="-fsanitize=thread -fno-omit-frame-pointer -g1" \
    "$home/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable . "-Cbuild-dir=$home/build"
# Python and NumPy are not instrumented, so only accesses of the core count; what they lock and wake is seen all the same.
# Without address randomization (setarch -R), because the sanitizer of gcc 12 does not start under that of newer kernels.
TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66 \
    LD_PRELOAD="$(gcc -print-file-name=libtsan.so) $(gcc -print-file-name=libstdc++.so.6)" \
    setarch -R "$home/bin/python" tests/support/tsan_engine.py "$@"
