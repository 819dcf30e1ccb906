#!/usr/bin/env bash
# Tests a wheel for aarch64 on x86-64: Debian's Python for arm64 runs packaging/smoke.py under qemu. What it needs is downloaded and
# unpacked into FOLDER; nothing is installed. Usage: packaging/test_aarch64.sh WHEEL FOLDER
set -euo pipefail
wheel=$(realpath "$1")
smoke=$(realpath "$(dirname "$0")/smoke.py")
mkdir -p "$2"
cd "$2"
rm -rf out
mkdir -p apt/lists/partial apt/archives/partial root qemu site out
touch apt/status
# A world of its own for apt, from the machine's own sources: its lists and packages stay as they are.
arm=(apt-get -q -o Dir::State=apt -o Dir::State::lists="$PWD/apt/lists" -o Dir::State::status="$PWD/apt/status" -o Dir::Cache="$PWD/apt"
  -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root)
if [ ! -x root/usr/bin/python3 ]; then
  "${arm[@]}" update
  # libstdc++6 is for NumPy and awkward.
  "${arm[@]}" install --download-only --no-install-recommends -y python3 libstdc++6
  for package in apt/archives/*.deb; do dpkg-deb -x "$package" root; done
fi
if [ ! -x qemu/usr/bin/qemu-aarch64-static ]; then
  (cd qemu && apt-get -q -o APT::Sandbox::User=root download qemu-user-static && dpkg-deb -x qemu-user-static_*.deb .)
fi
version=$(ls root/usr/bin | sed -n 's/^python\(3\.[0-9]*\)$/\1/p')
rm -rf site
python3 -m pip install --quiet --disable-pip-version-check --target site --only-binary :all: --python-version "$version" \
  --implementation cp --abi abi3 --abi "cp${version/./}" --abi none --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 \
  --platform manylinux2014_aarch64 "$wheel"
cd out
PYTHONHOME="../root/usr" PYTHONPATH="../site" ../qemu/usr/bin/qemu-aarch64-static -L ../root "../root/usr/bin/python$version" "$smoke"
