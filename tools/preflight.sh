#!/bin/sh
# Check whether this machine can build marginboost.
#
# Usage: tools/preflight.sh PYTHON...
#
# Prints the path of the first suitable Python among the candidates and exits 0, or prints one
# sentence that names everything that is missing and what to install, and exits 1.

python=""
reason=""

# Prints "suitable", or why this Python cannot be used; nothing if it does not run.
judge() {
    "$1" - 2>/dev/null <<'END'
import os
import sys

name = "%d.%d" % sys.version_info[:2]
if sys.version_info < (3, 11):
    print("Python 3.11 or newer is missing (%s is Python %s): install it, for example with "
          "`apt install python3.11 python3.11-venv python3.11-dev` or `brew install python`, "
          "or name one with `make PYTHON=/path/to/python3`" % (sys.executable, name))
    sys.exit()

import importlib.util
import sysconfig

if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
    print("%s has no venv and ensurepip modules: install them, on Debian and Ubuntu with "
          "`apt install python%s-venv`" % (sys.executable, name))
elif not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("%s has no C headers (Python.h): install them, on Debian and Ubuntu with "
          "`apt install python%s-dev`, on Fedora with `dnf install python3-devel`"
          % (sys.executable, name))
else:
    print("suitable")
END
}

for candidate in "$@"; do
    verdict=$(judge "$candidate")
    if [ "$verdict" = suitable ]; then
        python=$(command -v "$candidate")
        break
    fi
    # Of several reasons, that of a Python that is new enough is more useful.
    case "$reason" in
        "" | "Python 3.11 or newer is missing"*) reason=${verdict:-$reason} ;;
    esac
done

missing=""
if [ -z "$python" ]; then
    missing=${reason:-"Python 3.11 or newer is missing (tried: $*): install it, for example \
with \`apt install python3 python3-venv python3-dev\` or \`brew install python\`, or name one with \
\`make PYTHON=/path/to/python3\`"}
fi

# CMake takes CXX where it is set (flags and a launcher may be in it) and otherwise the first of
# these names that exists.
compiler=${CXX:-}
if [ -z "$compiler" ]; then
    for candidate in c++ g++ clang++; do
        if command -v "$candidate" >/dev/null 2>&1; then
            compiler=$candidate
            break
        fi
    done
fi
fault=""
if [ -z "$compiler" ]; then
    fault="a C++20 compiler is missing (tried: c++ g++ clang++): install one, for example with \
\`apt install g++\`, \`dnf install gcc-c++\` or \`xcode-select --install\`"
elif ! printf '#include <concepts>\n#if __cplusplus <= 201703L\n#error\n#endif\n' |
    $compiler -std=c++20 -x c++ -fsyntax-only - >/dev/null 2>&1; then
    fault="the C++ compiler \`$compiler\` does not run or does not compile C++20: install GCC 11, \
Clang 14 or newer, or name one with \`make CXX=/path/to/compiler\`"
fi
missing="$missing${missing:+${fault:+; and }}$fault"

if [ -n "$missing" ]; then
    echo "marginboost cannot be built here: $missing." >&2
    exit 1
fi
echo "$python"
