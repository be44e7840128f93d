#!/usr/bin/env bash
# Installs what the full test run uses besides Node: a C compiler, clang (for BPF), tshark (as a second opinion on
# captures), ip, ethtool, tcpdump, ping and iperf3 (for networks of virtual cables), systemd-analyze (which checks the
# collector's unit), Redis (which a sink writes to), protoc (for a second opinion on messages as text), Prometheus (which
# scrapes an endpoint) and Chromium (to run the bundles in a browser).
# `npm ci && npm test` works without any of them: the tests that need one say so in a line that starts with "skipped:".
# P4Runtime clients in Python, which drive our server, are in int/python in the user's cache, an environment for each, since they
# need different versions of protobuf.
# Kafka and OpenSearch, which sinks write to, are Java and their published jars, which Maven brings into int/kafka and
# int/opensearch in the user's cache; next to them are archives of classes, with which both start sooner.
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
have protoc || missing+=(protobuf-compiler)
have openssl || missing+=(openssl)
have ip || missing+=(iproute2)
have ethtool || missing+=(ethtool)
have tcpdump || missing+=(tcpdump)
have ping || missing+=(iputils-ping)
have iperf3 || missing+=(iperf3)
have systemd-analyze || missing+=(systemd)
have_any "${browsers[@]}" || missing+=(chromium)
have java || missing+=(default-jre-headless)
have mvn || missing+=(maven)
have python3 || missing+=(python3)
python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3-venv)

ci="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
jars="${XDG_CACHE_HOME:-$HOME/.cache}/int"
# The folder of a server's jars has the pom.xml that it was made from, once it is whole.
have_jars() { cmp -s "$ci/$1/pom.xml" "$jars/$1/pom.xml"; }
# get_jars FOLDER NAME CONSEQUENCE
get_jars() {
  local made="$jars/$1.$$"
  echo "setup:system: getting $2 into $jars/$1"
  mkdir -p "$made"
  if mvn -q -B -f "$ci/$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$made"; then
    cp "$ci/$1/pom.xml" "$made/pom.xml"
    rm -rf "${jars:?}/$1"
    mv "$made" "$jars/$1"
  else
    rm -rf "$made"
    echo "setup:system: Maven could not get $2; $3." >&2
  fi
}
# get_client NAME VERSION: an environment of its own; the file `installed` tells that it is whole, and of which version.
get_client() {
  local folder="$jars/python/$1"
  [ "$(cat "$folder/installed" 2>/dev/null)" = "$1==$2" ] && return 0
  echo "setup:system: getting $1 into $folder"
  rm -rf "${folder:?}"
  if python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check "$1==$2"; then
    echo "$1==$2" >"$folder/installed"
  else
    rm -rf "$folder"
    echo "setup:system: pip could not get $1; tests with it will be left out." >&2
  fi
}
get_clients() {
  get_client p4runtime-shell 0.0.6
  get_client finsy 0.30.0
}
get_servers() {
  have_jars kafka || get_jars kafka Kafka 'tests and benchmarks with a broker will be left out'
  have_jars opensearch || get_jars opensearch OpenSearch 'tests with a server will be left out'
  # With them servers start sooner; without, they start.
  timeout 300 node "$ci/java/archive.mjs" >/dev/null 2>&1 || true
}

if [ "${#missing[@]}" -eq 0 ]; then
  get_servers
  get_clients
  echo 'setup:system: everything is installed.'
  exit 0
fi

if ! have apt-get; then
  {
    echo "setup:system: this script knows Debian and Ubuntu (apt-get) only. Please install by hand: ${missing[*]}"
    echo '  build-essential: a C compiler (cc) and make;  clang: LLVM 11 or newer with the bpf target;'
    echo '  iproute2: the ip command;  tshark: the command line of Wireshark;  redis-server: Redis 7.0 or newer;'
    echo '  prometheus: its server and promtool;  chromium: Chromium or Google Chrome;  systemd: systemd-analyze;'
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
get_servers
get_clients
echo 'setup:system: done.'
