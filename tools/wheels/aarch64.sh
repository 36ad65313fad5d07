#!/usr/bin/env bash
# Fetch what runs programs for aarch64 here: qemu-user and a folder with Debian's Python, NumPy, SciPy and
# scikit-learn for aarch64. Nothing is installed on this machine.
# Usage: tools/wheels/aarch64.sh FOLDER; needs Debian's apt-get and dpkg and, as PYTHON, a Python with pip.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3}

# Ubuntu has the packages for aarch64 elsewhere than its others.
if ! grep -qx 'ID=debian' /etc/os-release || ! command -v apt-get dpkg >/dev/null; then
  echo "The programs for aarch64 come from Debian's packages; this system must be Debian. Without them: make wheels-test AARCH64=" >&2
  exit 1
fi
sources=/etc/apt/sources.list.d/debian.sources
if [ ! -s "$sources" ]; then sources=/etc/apt/sources.list; fi

# Lists, state and packages of another architecture, all of them in the folder.
apt="$folder/apt"
mkdir -p "$apt"/{lists,archives}/partial "$apt/state"
touch "$apt/status"
cat >"$apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::Etc::sourcelist "$sources";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$apt/state";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
CONF
export APT_CONFIG="$apt/apt.conf"
apt-get -qq update
apt-get -qq --download-only --yes install python3 python3-distutils libstdc++6 >/dev/null
unset APT_CONFIG
mkdir -p "$folder/root" "$folder/qemu"
for package in "$apt"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done

if ! command -v qemu-aarch64-static >/dev/null; then
  (cd "$folder/qemu" && apt-get -qq download qemu-user-static && dpkg -x qemu-user-static*.deb .)
fi
qemu=$(command -v qemu-aarch64-static || echo "$folder/qemu/usr/bin/qemu-aarch64-static")
printf '#!/bin/sh\nexec "%s" -L "%s/root" "%s/root/usr/bin/python3" "$@"\n' "$qemu" "$folder" "$folder" \
  >"$folder/python"
printf '#!/bin/sh\nexec "%s" -L "%s/root" "$@"\n' "$qemu" "$folder" >"$folder/run"
chmod +x "$folder/python" "$folder/run"

version=$("$folder/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$python" -m pip --disable-pip-version-check install --quiet --upgrade --target "$folder/site" \
  --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 \
  --platform manylinux_2_28_aarch64 --python-version "$version" --only-binary=:all: \
  numpy scipy scikit-learn threadpoolctl narwhals pytest pytest-timeout hypothesis pandas
echo "$version" >"$folder/version"
