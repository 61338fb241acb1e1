#!/bin/sh
# See that there is a browser for the tests of pages; install Debian's Chromium where this may be done, else say how.
# The tests are skipped by name without one, so this never fails.
set -u

for name in "${PIXELMILL_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing chromium for the tests of pages"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get install -y -qq chromium >/dev/null 2>&1; then exit 0; fi
    if apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq chromium >/dev/null 2>&1; then exit 0; fi
fi
echo "no browser here: the tests of pages will be skipped. To run them, install one or set PIXELMILL_BROWSER:" >&2
echo "  Debian, Ubuntu   sudo apt-get install -y chromium" >&2
echo "  Fedora, RHEL     sudo dnf install -y chromium" >&2
exit 0
