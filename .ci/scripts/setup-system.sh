#!/usr/bin/env bash
# Installs what the full test run uses besides Node: a C compiler, clang (for BPF), tshark (as a second opinion on
# captures), ip, ethtool and tcpdump (for networks of virtual cables), Redis (which a sink writes to), Prometheus (which
# scrapes an endpoint) and Chromium (to run the bundles in a browser). `npm ci && npm test` works without any of them: the
# tests that need one say so in a line that starts with "skipped:". A benchmark compares with Kafka: Java, and the broker's
# jars, which Maven brings into int/kafka in the user's cache.
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
have prometheus || missing+=(prometheus)
have openssl || missing+=(openssl)
have ip || missing+=(iproute2)
have ethtool || missing+=(ethtool)
have tcpdump || missing+=(tcpdump)
have_any "${browsers[@]}" || missing+=(chromium)
have java || missing+=(default-jre-headless)
have mvn || missing+=(maven)

kafka_pom="$(cd "$(dirname "${BASH_SOURCE[0]}")/../kafka" && pwd)/pom.xml"
kafka="${XDG_CACHE_HOME:-$HOME/.cache}/int/kafka"
# The folder has the pom.xml that it was made from, once it is whole.
have_kafka() { cmp -s "$kafka_pom" "$kafka/pom.xml"; }
get_kafka() {
  local made="$kafka.$$"
  echo "setup:system: getting Kafka into $kafka"
  mkdir -p "$made"
  if mvn -q -B -f "$kafka_pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$made"; then
    cp "$kafka_pom" "$made/pom.xml"
    rm -rf "$kafka"
    mv "$made" "$kafka"
  else
    rm -rf "$made"
    echo 'setup:system: Maven could not get Kafka; the benchmark of insertion will leave it out.' >&2
  fi
}

if [ "${#missing[@]}" -eq 0 ]; then
  have_kafka || get_kafka
  echo 'setup:system: everything is installed.'
  exit 0
fi

if ! have apt-get; then
  {
    echo "setup:system: this script knows Debian and Ubuntu (apt-get) only. Please install by hand: ${missing[*]}"
    echo '  build-essential: a C compiler (cc) and make;  clang: LLVM 11 or newer with the bpf target;'
    echo '  iproute2: the ip command;  tshark: the command line of Wireshark;  redis-server: Redis 7.0 or newer;'
    echo '  prometheus: its server and promtool;  chromium: Chromium or Google Chrome;'
    echo '  default-jre-headless: Java 11 or newer;  maven: Maven 3.'
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
have_kafka || get_kafka
echo 'setup:system: done.'
