#!/bin/sh
# pixelmill for 64-bit Windows, built by mingw-w64 and run under wine.
#   scripts/platforms/windows.sh                    # everything below, in this order
#   scripts/platforms/windows.sh core               # all files of the core; libjpeg-turbo and libpng first
#   scripts/platforms/windows.sh programs           # the fuzzers as programs of Windows and of Linux: equal outputs
#   scripts/platforms/windows.sh wheel              # the module, and dist/*-win_amd64.whl
#   scripts/platforms/windows.sh python             # CPython for Windows uses the wheel: packaging/smoke.py and jobs
# Needs: apt-get install -y mingw-w64 libz-mingw-w64-dev wine nasm cmake ninja-build
# and an environment with nanobind and pixelmill (.venv). Downloads and builds of others are kept in a cache.
#
# Debian has no CPython for Windows. Its DLL and modules, as built by python.org, are in the wheel of panda3d, which ships
# them for programs that it freezes; python.exe is three lines of C. NumPy 1.26: wine 8 lacks functions that 2.0 calls.
set -eu
cd "$(dirname "$0")/../.."
cache=${PIXELMILL_WINDOWS_CACHE:-$HOME/.cache/pixelmill-windows}
libraries=$cache/libraries
python=$cache/python
build=build/windows
target=x86_64-w64-mingw32
compiler=$target-g++-posix
venv=${VENV:-.venv}
executions=${EXECUTIONS:-2000}
export WINEPREFIX="$cache/prefix" WINEDEBUG=-all
if command -v ccache >/dev/null; then
    launcher=ccache
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
else
    launcher=
fi

fetch_sources() {
    mkdir -p "$cache/apt/lists/partial" "$cache/apt/parts" "$cache/src"
    sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$cache/apt/parts/source.sources"
    set -- -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$cache/apt/parts" -o "Dir::State::Lists=$cache/apt/lists"
    apt-get "$@" update
    (cd "$cache/src" && apt-get "$@" source --tar-only --download-only libjpeg-turbo libpng1.6 python3.11)
    for archive in "$cache"/src/libjpeg-turbo_*.orig.tar.gz "$cache"/src/libpng1.6_*.orig.tar.gz; do
        tar -C "$cache/src" -xf "$archive"
    done
    mkdir -p "$cache/headers"
    tar -C "$cache/headers" --strip-components=1 --wildcards -xf "$(echo "$cache"/src/python3.11_*.orig.tar.gz)" '*/Include/*' '*/PC/pyconfig.h'
}

# build_library SOURCE OPTION...
build_library() {
    source=$1
    shift
    cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$PWD/scripts/platforms/mingw.cmake" \
        "-DPIXELMILL_WINDOWS_LIBRARIES=$libraries" "-DCMAKE_INSTALL_PREFIX=$libraries" "$@" >/dev/null
    cmake --build "$source/build" --target install >/dev/null
}

build_core() {
    if [ ! -f "$libraries/lib/libpng.a" ] || [ ! -d "$cache/headers/PC" ]; then
        fetch_sources
        build_library "$(echo "$cache"/src/libjpeg-turbo-*)" -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF
        build_library "$(echo "$cache"/src/libpng-*)" -DPNG_SHARED=OFF -DPNG_TESTS=OFF "-DZLIB_LIBRARY=/usr/$target/lib/libz.a"
    fi
    cmake -S . -B $build/core -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$PWD/scripts/platforms/mingw.cmake" \
        "-DPIXELMILL_WINDOWS_LIBRARIES=$libraries" >/dev/null
    cmake --build $build/core
    echo "core: $(find $build/core -name '*.obj' | wc -l) of $(find native/core -name '*.cpp' | wc -l) files compiled"
}

# The same sources for both systems, without sanitizers. The last line of each program has a hash of all it computed.
build_programs() {
    windows="$build/core/libpixelmill_core.a -L$libraries/lib -ljpeg -lpng -lz -static"
    linux_core=$(find build -path 'build/cp3*-linux_*' -name libpixelmill_core.a | head -1)
    if [ -z "$linux_core" ]; then
        echo "windows.sh: there is no build for Linux to compare with; run 'make demo' first" >&2
        exit 1
    fi
    for name in jpeg encode pack decode tfrecord npy recordio example; do
        sources="fuzz/standalone.cpp fuzz/${name}_target.cpp"
        [ $name = decode ] && sources="$sources fuzz/decode_gate.cpp fuzz/builtin_seeds.cpp"
        # shellcheck disable=SC2086 # lists of words
        $compiler -std=c++20 -O2 "-I$libraries/include" $sources $windows -o $build/${name}_fuzz.exe
        # shellcheck disable=SC2086
        g++ -std=c++20 -O2 $sources "$linux_core" -ljpeg -lpng -lz -lpthread -o $build/${name}_fuzz
    done
}

without_times() { sed 's/"seconds": [0-9.]*, "per_second": [0-9]*, "slowest_ms": [0-9.]*, "max_rss_mb": [0-9]*, //'; }

compare_programs() {
    build_programs
    for name in jpeg encode pack decode tfrecord npy recordio example; do
        here=$($build/${name}_fuzz --executions "$executions" --seed 1 | tail -1 | without_times)
        there=$(wine $build/${name}_fuzz.exe --executions "$executions" --seed 1 | tail -1 | tr -d '\r' | without_times)
        echo "$name: $there"
        if [ "$here" != "$there" ]; then
            echo "on Linux: $here" >&2
            exit 1
        fi
    done
    echo "programs: 8 run, outputs equal to those of Linux"
}

build_wheel() {
    nanobind=$("$venv/bin/python" -c 'import nanobind; print(nanobind.include_dir())')/..
    fetch_python
    mkdir -p $build/module
    for source in native/bindings*.cpp "$nanobind/src/nb_combined.cpp"; do
        $launcher $compiler -std=c++20 -O2 -DNDEBUG -DNB_COMPACT_ASSERTIONS -DMS_WIN64 -fno-strict-aliasing -fvisibility=hidden -Wa,-mbig-obj \
            -Inative "-I$nanobind/include" "-I$nanobind/ext/robin_map/include" "-I$cache/headers/Include" "-I$cache/headers/PC" \
            -c "$source" -o "$build/module/$(basename "$source" .cpp).obj"
    done
    $compiler -shared -static -s $build/module/*.obj $build/core/libpixelmill_core.a "-L$libraries/lib" -ljpeg -lpng -lz \
        "$python/python311.dll" -o $build/_core.cp311-win_amd64.pyd
    "$venv/bin/python" scripts/platforms/windows_wheel.py $build/_core.cp311-win_amd64.pyd "$cache/src" dist
}

fetch_python() {
    [ -f "$python/python.exe" ] && return
    mkdir -p "$python/DLLs" "$python/Lib/site-packages" "$cache/wheels"
    set -- -q --platform win_amd64 --python-version 3.11 --implementation cp --only-binary=:all:
    "$venv/bin/python" -m pip download "$@" --no-deps -d "$cache/wheels" panda3d
    unzip -qo "$cache"/wheels/panda3d-*.whl 'deploy_libs/*' -d "$cache/panda3d"
    found=$cache/panda3d/deploy_libs
    cp "$found/python311.dll" "$found/VCRUNTIME140.dll" "$python"
    cp "$found"/_*.pyd "$found/pyexpat.pyd" "$found/select.pyd" "$found/unicodedata.pyd" "$found"/lib*.dll "$python/DLLs"
    standard=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    (cd "$standard" && tar cf - --exclude=test --exclude=lib-dynload --exclude=__pycache__ --exclude=site-packages .) | tar xf - -C "$python/Lib"
    "$venv/bin/python" -m pip install "$@" --target "$python/Lib/site-packages" numpy==1.26.4 pillow click rich pyyaml colorama
    printf '%s\n' '#include <wchar.h>' '__declspec(dllimport) int Py_Main(int, wchar_t **);' \
        'int wmain(int count, wchar_t **arguments) { return Py_Main(count, arguments); }' >"$python/python.c"
    $target-gcc-posix -O2 -municode "$python/python.c" "$python/python311.dll" -o "$python/python.exe"
    wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null
}

use_wheel() {
    rm -rf "$python/Lib/site-packages/pixelmill" "$python/Lib/site-packages/imagine" "$build/jobs" "$build/jobs-linux"
    unzip -qo dist/pixelmill-*-win_amd64.whl -d "$python/Lib/site-packages"
    # Through pipes: python.exe does not start with its output in a file of Linux.
    wine "$python/python.exe" packaging/smoke.py 2>&1 | tr -d '\r' | tee $build/smoke.txt
    grep -q '^pixelmill .* works' $build/smoke.txt
    mkdir -p $build/jobs $build/jobs-linux
    wine "$python/python.exe" tests/support/portable_jobs.py $build/jobs 2>&1 | tr -d '\r' >$build/jobs.json
    "$venv/bin/python" tests/support/portable_jobs.py $build/jobs-linux >$build/jobs-linux.json
    cmp $build/jobs.json $build/jobs-linux.json
    echo "jobs: $(grep -c : $build/jobs.json) hashes equal to those of Linux"
}

case ${1:-all} in
    core) build_core ;;
    programs) compare_programs ;;
    wheel) build_wheel ;;
    python) use_wheel ;;
    all)
        build_core
        compare_programs
        build_wheel
        use_wheel
        ;;
    *)
        echo "no part is called $1: core, programs, wheel, python" >&2
        exit 2
        ;;
esac
