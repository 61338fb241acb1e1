#!/bin/sh
# Check that this machine can build pixelmill; if not, print what to install and exit.
# usage: check-tools.sh [PYTHON]     uses CXX, CPPFLAGS and CXXFLAGS
set -u

python=${1:-python3}
cxx=${CXX:-c++}
missing="" apt="" dnf="" brew="" xcode="" notes=""

# need NAME APT DNF BREW
need() {
    missing="$missing  - $1
"
    apt="$apt $2" dnf="$dnf $3" brew="$brew${4:+ $4}"
}

flags=${CPPFLAGS:-}
if command -v pkg-config >/dev/null 2>&1; then
    flags="$flags $(pkg-config --cflags libjpeg libpng 2>/dev/null)"
fi
if command -v brew >/dev/null 2>&1; then
    flags="$flags -I$(brew --prefix)/include"
fi

# compiles PROGRAM: the flags are split on purpose
compiles() {
    # shellcheck disable=SC2086
    printf '%b' "$1" | "$cxx" $flags ${CXXFLAGS:-} -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    need "Python 3.11 or newer ($python is not)" "python3 python3-venv python3-dev" "python3.11 python3.11-devel" python
    for newer in python3.14 python3.13 python3.12 python3.11; do
        if "$newer" -c "" >/dev/null 2>&1; then
            notes="$newer is here: make PYTHON=$newer ... uses it"
            break
        fi
    done
else
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        need "Python's venv module" python3-venv python3 python
    fi
    if ! "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' >/dev/null 2>&1; then
        need "Python's header Python.h" python3-dev python3-devel python
    fi
fi

if ! command -v make >/dev/null 2>&1; then
    need make make make make
fi
if ! command -v cmake >/dev/null 2>&1; then
    need cmake cmake cmake cmake
fi
if ! compiles 'int main() { return 0; }\n'; then
    need "a C++20 compiler ($cxx)" g++ gcc-c++ ""
    xcode="xcode-select --install; "
    compiler=no
else
    compiler=yes
fi

# Without a compiler the headers cannot be tested; list them too, so that one installation is enough.
jpeg='#include <cstdio>\n#include <jpeglib.h>\nint version = LIBJPEG_TURBO_VERSION_NUMBER;\n'
if [ "$compiler" = no ] || ! compiles "$jpeg"; then
    need "the headers of libjpeg-turbo" libjpeg-dev libjpeg-turbo-devel jpeg-turbo
fi
if [ "$compiler" = no ] || ! compiles '#include <png.h>\nint version = PNG_LIBPNG_VER;\n'; then
    need "the headers of libpng" libpng-dev libpng-devel libpng
fi

if [ -n "$missing" ]; then
    {
        printf 'pixelmill cannot be built here, this is missing:\n%s' "$missing"
        echo "Install it with the line for your system, then run make again:"
        echo "  Debian, Ubuntu   sudo apt-get install -y$apt"
        echo "  Fedora, RHEL     sudo dnf install -y$dnf"
        echo "  macOS            $xcode${brew:+brew install$brew}"
        if [ -n "$notes" ]; then echo "$notes"; fi
    } >&2
    exit 1
fi
