#!/usr/bin/env bash
# Installs what the full test run uses besides Node: a C compiler, clang (for BPF), tshark (as a second opinion on
# captures), Redis (which a sink writes to) and Chromium (to run the bundles in a browser). `npm ci && npm test` works without any of them: the tests
# that need one say so in a line that starts with "skipped:".
# Safe to run again; does nothing when everything is there.
set -euo pipefail

browsers=(chromium chromium-browser google-chrome google-chrome-stable)

have() { command -v "$1" >/dev/null 2>&1; }
have_any() { for name in "$@"; do if have "$name"; then return 0; fi; done; return 1; }

missing=()
have cc && have make || missing+=(build-essential)
have clang || missing+=(clang)
have tshark || missing+=(tshark)
have redis-server || missing+=(redis-server)
have openssl || missing+=(openssl)
have_any "${browsers[@]}" || missing+=(chromium)

if [ "${#missing[@]}" -eq 0 ]; then
  echo 'setup:system: everything is installed.'
  exit 0
fi

if ! have apt-get; then
  {
    echo "setup:system: this script knows Debian and Ubuntu (apt-get) only. Please install by hand: ${missing[*]}"
    echo '  build-essential: a C compiler (cc) and make;  clang: LLVM 11 or newer with the bpf target;'
    echo '  tshark: the command line of Wireshark;  redis-server: Redis 7.0 or newer;  chromium: Chromium or Google Chrome.'
  } >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! have sudo; then
    echo "setup:system: run this as root, or install sudo. Missing: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

root() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@"; }
# Waits for another apt instead of failing, and asks nothing.
apt() { root apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null; }

echo "setup:system: installing ${missing[*]}"
apt update
if [[ " ${missing[*]} " == *' tshark '* ]] && have debconf-set-selections; then
  # The package asks whether users who are not root may capture. The tests only read files: no.
  echo 'wireshark-common wireshark-common/install-setuid boolean false' | root debconf-set-selections
fi
for package in "${missing[@]}"; do
  # Ubuntu has Chromium under another name.
  if [ "$package" = chromium ] && ! apt-cache show chromium >/dev/null 2>&1; then package=chromium-browser; fi
  apt install --no-install-recommends "$package"
done
echo 'setup:system: done.'
