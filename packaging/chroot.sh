# SPDX-License-Identifier: Apache-2.0
# For scripts of this folder, which source it: a Debian that has nothing else, in a folder of its own. They are root, set
# $out, the folder of all that they write, and $root, the Debian that is meant now.
# shellcheck shell=bash disable=SC2154 # $out and $root are the caller's
[ "$(id -u)" = 0 ] || { echo "${0##*/}: debootstrap and chroot need root" >&2; exit 1; }
unset CFLAGS CPPFLAGS CXXFLAGS LDFLAGS		# they are Debian's

fail() {
	echo "${0##*/}: $*" >&2
	exit 1
}
step() { echo "== $*"; }
# logged NAME COMMAND...: what it says goes to $out/NAME.log, whose end is shown when it fails.
logged() {
	local log=$out/$1.log
	shift
	"$@" >>"$log" 2>&1 || { tail -30 "$log"; fail "$log"; }
}

# copy_sources DIR: what git knows, and what is new.
copy_sources() {
	rm -rf "$1"
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read | tar -x -C "$1"
}

mounted=
leave() {
	for at in $mounted; do umount "$at"; done
	mounted=
}
trap leave EXIT
# mount_there TYPE PLACE OPTION...
mount_there() {
	mkdir -p "$root/$2"
	mount -t "$1" "${@:3}" "$1" "$root/$2"
	mounted="$root/$2 $mounted"
}
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
install_there() { logged apt inside apt-get install -y --no-install-recommends "$@"; }

# mirror_of SUITE: the place from which apt of this machine has that suite of Debian 12. Other releases are at the same place.
mirror_of() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" | head -1; }

# new_debian RELEASE: into $root, which is emptied.
new_debian() {
	local mirror security
	mirror=$(mirror_of bookworm)
	security=$(mirror_of bookworm-security)
	[ -n "$mirror" ] || fail "apt has no mirror of Debian 12 (bookworm): add one to /etc/apt/sources.list"
	command -v debootstrap >/dev/null || fail "there is no debootstrap: apt-get install debootstrap"
	rm -rf --one-file-system "$root"
	logged debootstrap debootstrap --variant=minbase "$1" "$root" "$mirror"
	[ -z "$security" ] || echo "deb $security $1-security main" >>"$root/etc/apt/sources.list"
	use_debian
	logged apt inside apt-get update -q
	logged apt inside apt-get upgrade -y
}

# use_debian: $root, which exists.
use_debian() {
	mount_there proc proc
	mount_there tmpfs dev/shm
	mount_there devpts dev/pts -o ptmxmode=666
	cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
	cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
}
