#!/bin/sh
# Makes sure a program is there: installs its package when it may, else says how.
# Usage: tools/need.sh PROGRAM PACKAGE
set -eu
program=$1
package=$2

command -v "$program" >/dev/null 2>&1 && exit 0

if command -v apt-get >/dev/null 2>&1; then
    update="apt-get update -qq" install="apt-get install -y -qq --no-install-recommends $package"
elif command -v dnf >/dev/null 2>&1; then
    update="true" install="dnf install -y -q $package"
elif command -v pacman >/dev/null 2>&1; then
    update="true" install="pacman -S --noconfirm $package"
elif command -v zypper >/dev/null 2>&1; then
    update="true" install="zypper --non-interactive install $package"
else
    echo "$program is missing and no known package manager was found; install $package by hand." >&2
    exit 3
fi

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "$program is missing; install it with:  sudo $install" >&2
    exit 3
fi

echo "installing $package"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Another package manager may hold the lock for a moment, so the lists are tried first.
if ! { DEBIAN_FRONTEND=noninteractive $as_root $install || { $as_root $update && DEBIAN_FRONTEND=noninteractive $as_root $install; }; } >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    echo "$package could not be installed; try:  $install" >&2
    exit 3
fi
