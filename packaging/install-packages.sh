#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: install-packages.sh SECTION... -- installs what is missing of the sections of
# debian-packages.txt, and does nothing at all when nothing is.
set -eu
list=$(dirname "$0")/debian-packages.txt
missing=
for section; do
	for package in $(sed -n "/^\[$section\]/,/^\[/{/^[a-z0-9]/p}" "$list"); do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || missing="$missing $package"
	done
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing" >&2
as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || { echo "Please install as root:$missing" >&2; exit 1; }
	as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# The lists are only fetched when they do not know a package yet: repeated runs stay offline.
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing \
	>/dev/null 2>&1 && exit 0
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
