#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes all that a release consists of, in Debians that have nothing else, and tries it there. docs/developers/releasing.md
# describes the parts.
#
#   packaging/release.sh [DIR [PART...]]     default: build-release, all parts in this order:
#
#   amd64        Debian packages, built in Debian 12
#   arm64        the same, cross-compiled
#   tarball      for glibc 2.31 and later, built in Debian 11
#   wheel        of kymo_py
#   repository   for apt: a folder
#   image        a folder for docker build
#   rosdistro    files for a pull request to ros/rosdistro
#   checksums    SHA256SUMS
#   try          the tarball in Debian 11, 12 and 13; packages, repository, image and wheel in Debian 12
#
# As root (debootstrap, chroot), with network for apt. What is for users is in DIR/release. DIR/bullseye, bookworm and trixie stay
# for the next time: remove them to begin anew. Nothing outside DIR is changed.
set -eu
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build-release}")
shift $(($# > 0))
parts=${*:-amd64 arm64 tarball wheel repository image rosdistro checksums try}
. packaging/chroot.sh
version=$(sed -n 's/^project(kymo VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)
for part in $parts; do
	case $part in
	amd64 | arm64 | tarball | wheel | repository | image | rosdistro | checksums | try) ;;
	*) fail "there is no part '$part'; see the head of this script" ;;
	esac
done
release=$out/release
name=kymo-$version-linux-x86_64
mkdir -p "$release"

placeholders=${PLACEHOLDERS:-packaging/placeholders.txt}
# placeholder NAME: its value
placeholder() { sed -n "s/^$1	//p" "$placeholders"; }
is_placeholder() { case $1 in NONE | *.example*) true ;; *) false ;; esac; }

# in_debian RELEASE: $root is that Debian from now on; it is made when it does not exist.
in_debian() {
	leave
	root=$out/$1
	if [ -e "$root/complete" ]; then
		use_debian
	else
		step "a Debian $1"
		new_debian "${1%-try}"
		touch "$root/complete"
	fi
	mkdir -p "$root/build"
}
# built_there WORDS: of Build-Depends, packages of libraries (libraries) or the others (tools)
built_there() {
	local libraries='^(lib.*|zlib1g|cyclonedds)-dev$'
	sed -n '/^Build-Depends:/,/^[A-Z][a-z]*:/{s/^Build-Depends: //;/^[A-Z]/d;s/([^)]*)//g;s/,//g;p}' debian/control | tr -s ' ' '\n' |
		grep -v -e '^debhelper-compat$' -e '^$' | if [ "$1" = libraries ]; then grep -E "$libraries"; else grep -vE "$libraries"; fi
}

make_amd64() {
	step "Debian packages for amd64"
	in_debian bookworm
	copy_sources "$root/build/amd64/source"
	# shellcheck disable=SC2046 # lists
	install_there build-essential debhelper $(built_there libraries) $(built_there tools)
	rm -f "$root"/build/amd64/*.*
	logged amd64 inside sh -ec 'cd /build/amd64/source && dpkg-buildpackage -us -uc -b'
}

# Tests of what was built cannot run; manual pages and completions are printed by the kymo for amd64.
make_arm64() {
	step "Debian packages for arm64"
	in_debian bookworm
	[ -x "$root/build/amd64/source/obj-x86_64-linux-gnu/bin/kymo" ] || fail "arm64 needs the part amd64 first"
	copy_sources "$root/build/arm64/source"
	inside dpkg --add-architecture arm64
	logged apt inside apt-get update -q
	# shellcheck disable=SC2046
	install_there crossbuild-essential-arm64 $(built_there libraries | sed 's/$/:arm64/') $(built_there tools | grep -v pkg-config) pkg-config:arm64
	rm -f "$root"/build/arm64/*.*
	logged arm64 inside env KYMO_NATIVE=/build/amd64/source/obj-x86_64-linux-gnu/bin/kymo \
		sh -ec 'cd /build/arm64/source && dpkg-buildpackage -us -uc -B -d -aarm64'
}

# OpenSSL 3, which Debian 11 does not have, from the source archive of Debian 12 (only its archives: libssl.a, libcrypto.a).
make_openssl() {
	[ ! -e "$root/build/openssl/lib/libssl.a" ] || return 0
	step "OpenSSL 3 for Debian 11"
	printf 'deb-src %s bookworm main\n' "$(mirror_of bookworm)" >"$root/etc/apt/sources.list.d/bookworm-sources.list"
	[ -z "$(mirror_of bookworm-security)" ] || printf 'deb-src %s bookworm-security main\n' "$(mirror_of bookworm-security)" \
		>>"$root/etc/apt/sources.list.d/bookworm-sources.list"
	logged apt inside apt-get update -q
	install_there perl
	rm -rf "$root"/build/openssl*
	logged openssl inside sh -ec "mkdir /build/openssl-source; cd /build/openssl-source; apt-get source -q --tar-only openssl; tar -xzf openssl_*.tar.gz
		cd openssl-*/
		./Configure linux-x86_64 no-shared no-tests no-legacy --prefix=/build/openssl --libdir=lib --openssldir=/etc/ssl
		make -j$(nproc) build_generated libcrypto.a libssl.a libcrypto.pc libssl.pc openssl.pc
		make install_dev
		cp LICENSE.txt /build/openssl/"
}

# Libraries of others are in the programs, except libc: a robot needs no package. CycloneDDS is not in Debian 11: no kymo agent.
make_tarball() {
	step "a tarball for glibc 2.31 and later"
	in_debian bullseye
	# shellcheck disable=SC2046
	install_there ninja-build gcc libc6-dev make libbsd-dev $(built_there libraries | grep -v -e cyclonedds -e libssl) cmake pkg-config
	make_openssl
	copy_sources "$root/build/tarball/source"
	logged tarball inside env PKG_CONFIG_PATH=/build/openssl/lib/pkgconfig sh -ec "cd /build/tarball; rm -rf out $name
		cmake -G Ninja -S source -B out -DKYMO_STATIC=ON -DKYMO_TESTS=OFF -DKYMO_BENCH=OFF -DCMAKE_INSTALL_LIBDIR=lib
		ninja -C out
		cmake --install out --strip --prefix /build/tarball/$name
		gcc -O2 -Isource/examples/tracetools-stub -Isource/src -o out/service_calls source/tests/tools/service_calls.c \
			-Lout/stub/rolling/lib -ltracetools -pthread"
	local tree=$root/build/tarball/$name needed
	rm -r "$tree/lib/systemd"		# the units name a place
	mkdir -p "$tree/share/doc/kymo/libraries"
	cp -r README.md CHANGELOG.md LICENSE docs "$tree/share/doc/kymo/"
	for library in libuv1-dev libjson-c-dev zlib1g-dev libzstd-dev libsqlite3-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libyaml-dev libpcre2-dev; do
		cp -L "$root/usr/share/doc/$library/copyright" "$tree/share/doc/kymo/libraries/${library%-dev}.txt"
	done
	cp "$root/build/openssl/LICENSE.txt" "$tree/share/doc/kymo/libraries/openssl.txt"
	needed=$(find "$tree/bin" "$tree/lib/kymo" -type f \( -name kymo -o -name '*.so*' \) -exec readelf -d {} + | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u)
	needed=$(echo "$needed" | grep -v -x -E '(libc|libm|libdl|libpthread|librt)\.so\..|ld-linux-x86-64\.so\.2|libkymo.*' || :)
	[ -z "$needed" ] || fail "the tarball needs $needed"
	tar -C "$root/build/tarball" --owner=0 --group=0 --sort=name -czf "$release/$name.tar.gz" "$name"
}

make_wheel() {
	step "a wheel of kymo_py"
	in_debian bookworm
	install_there python3-setuptools python3-wheel
	copy_sources "$root/build/wheel"
	logged wheel inside sh -ec 'cd /build/wheel/ros2/kymo_py && python3 setup.py -q bdist_wheel -d /build/wheel/dist'
	cp "$root"/build/wheel/dist/*.whl "$release/"
}

make_repository() {
	step "a repository for apt"
	ls "$out"/bookworm/build/a*64/*.deb >/dev/null 2>&1 || fail "repository needs the part amd64 or arm64 first"
	in_debian bookworm
	install_there apt-utils
	local key
	rm -rf "$release/apt" "$root/build/apt"
	mkdir -p "$root/build/apt/pool/main/k/kymo"
	for arch in amd64 arm64; do
		find "$root/build/$arch" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$root/build/apt/pool/main/k/kymo/" \;
	done
	logged repository inside sh -ec 'cd /build/apt
		for arch in amd64 arm64; do
			ls pool/main/k/kymo/*_$arch.deb >/dev/null 2>&1 || continue
			mkdir -p dists/stable/main/binary-$arch
			apt-ftparchive --arch $arch packages pool >dists/stable/main/binary-$arch/Packages
			gzip -9nk dists/stable/main/binary-$arch/Packages
		done
		apt-ftparchive -o APT::FTPArchive::Release::Origin=kymo -o APT::FTPArchive::Release::Label=kymo \
			-o APT::FTPArchive::Release::Suite=stable -o APT::FTPArchive::Release::Codename=stable \
			-o APT::FTPArchive::Release::Components=main -o "APT::FTPArchive::Release::Architectures=$(ls dists/stable/main | sed s/binary-// | xargs)" \
			release dists/stable >Release.new
		mv Release.new dists/stable/Release'
	cp -r "$root/build/apt" "$release/apt"
	key=$(placeholder signing-key)
	if is_placeholder "$key"; then
		echo "not signed: signing-key in $placeholders is a placeholder"
		return
	fi
	gpg --batch --yes --local-user "$key" --clearsign -o "$release/apt/dists/stable/InRelease" "$release/apt/dists/stable/Release"
	gpg --batch --yes --local-user "$key" --detach-sign --armor -o "$release/apt/dists/stable/Release.gpg" "$release/apt/dists/stable/Release"
	gpg --export "$key" >"$release/apt/kymo.gpg"
}

make_image() {
	sed "s/KYMO_VERSION=[0-9.]*/KYMO_VERSION=$version/; s,IMAGE,$(placeholder image):$version," packaging/Dockerfile >"$release/Dockerfile"
	printf '*\n!apt\n' >"$release/.dockerignore"
}

make_rosdistro() {
	step "files for ros/rosdistro"
	mkdir -p "$release/rosdistro"
	cp packaging/rosdistro/rosdep.yaml "$release/rosdistro/"
	for distro in humble jazzy kilted rolling; do
		for file in distribution tracks; do
			sed "s,@version@,$version,g; s,@distro@,$distro,g; s,@source-url@,$(placeholder source-url),g; s,@release-url@,$(placeholder release-url),g" \
				packaging/rosdistro/$file.yaml >"$release/rosdistro/$distro-$file.yaml"
		done
	done
}

make_checksums() {
	(cd "$release" && rm -f SHA256SUMS && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >../SHA256SUMS && mv ../SHA256SUMS .)
}

# ---- what a user does with it ----

# calls_recorded COMMAND...: that kymo records a program, and knows what it did. COMMAND: what to run kymo with.
calls_recorded() {
	local got
	rm -rf "$root/opt/try"
	mkdir -p "$root/opt/try"
	cp -r "$out/bullseye/build/tarball/out/stub/rolling/." "$out/bullseye/build/tarball/out/service_calls" "$root/opt/try/"
	logged try inside env LD_LIBRARY_PATH=/opt/try/lib ROS_DISTRO=rolling "$@" record -q -o /opt/try/trace -- /opt/try/service_calls 100
	inside "$@" report /opt/try/trace >"$out/report.txt" || fail "kymo report"
	grep -q /add "$out/report.txt" || fail "the report does not know the service: $out/report.txt"
	got=$(inside "$@" query /opt/try/trace --format csv 'SELECT count(*), count(response_ns) FROM service_calls' | tail -n 1 | tr -d '\r')
	[ "$got" = 100,80 ] || fail "100 calls and 80 answers, but kymo query says $got"
	inside "$@" why /opt/try/trace >>"$out/try.log" || fail "kymo why"
}

try_tarball() {
	step "there: the tarball, unpacked and moved"
	rm -rf "$root/opt/tarball" "$root/opt/moved"
	mkdir -p "$root/opt/tarball" "$root/opt/moved"
	tar -C "$root/opt/tarball" -xzf "$release/$name.tar.gz"
	mv "$root/opt/tarball/$name" "$root/opt/moved/here"
	calls_recorded /opt/moved/here/bin/kymo
	inside /opt/moved/here/bin/kymo relay --help | grep -q -e --tls-cert || fail "the tarball has no TLS"
	echo "$(inside ldd --version | head -1): $(inside /opt/moved/here/bin/kymo --version | head -1)"
}

# By name: once their repository is gone, apt knows only those that are installed.
remove_packages() {
	# shellcheck disable=SC2016,SC2046 # a list; dpkg-query expands the first one
	logged apt inside apt-get purge -y $(inside dpkg-query -W -f '${Package}\n' | grep kymo)
}

try_packages() {
	step "there: packages of the repository"
	local trust='[trusted=yes]'
	rm -rf "$root/opt/kymo-apt"
	cp -r "$release/apt" "$root/opt/kymo-apt"
	[ ! -e "$release/apt/kymo.gpg" ] || trust='[signed-by=/opt/kymo-apt/kymo.gpg]'
	echo "deb $trust file:/opt/kymo-apt stable main" >"$root/etc/apt/sources.list.d/kymo.list"
	logged apt inside apt-get update -q
	install_there kymo python3-kymo libkymo-dev kymo-ros2
	calls_recorded kymo
	inside kymo agent --help >/dev/null || fail "kymo agent"
	[ ! -e "$release/Dockerfile" ] || try_image
	remove_packages
	rm -rf "$root/etc/apt/sources.list.d/kymo.list" "$root/opt/kymo-apt"
}

# Docker builds it where a daemon answers; elsewhere what RUN says is run in this Debian.
try_image() {
	if docker info >/dev/null 2>&1; then
		step "the image"
		logged image docker build --build-arg "KYMO_VERSION=$version" -t kymo-release-try "$release"
		logged image docker run --rm kymo-release-try --version
		return
	fi
	step "there: what the Dockerfile runs; no Docker daemon answers"
	remove_packages
	rm -f "$root/etc/apt/sources.list.d/kymo.list"
	sed -n '/^RUN /,/[^\\]$/{s/^RUN //;p}' "$release/Dockerfile" >"$root/opt/run.sh"
	logged image inside env "KYMO_VERSION=$version" sh -e /opt/run.sh
	logged apt inside apt-get update -q
	calls_recorded kymo
}

try_wheel() {
	step "there: the wheel"
	install_there python3-venv python3-setuptools
	rm -rf "$root/opt/venv" "$root/opt/wheel"
	mkdir "$root/opt/wheel"
	cp "$release"/*.whl "$root/opt/wheel/"
	logged wheel inside sh -ec 'python3 -m venv /opt/venv; /opt/venv/bin/pip -q install --no-index /opt/wheel/*.whl'
	[ "$(inside env PATH=/opt/moved/here/bin:/usr/bin:/bin /opt/venv/bin/python -c 'import kymo; print(sum(1 for _ in kymo.events("/opt/try/trace")) > 500)')" = True ] ||
		fail "the wheel does not read the trace"
	inside sh -c 'ls /opt/venv/lib/python3*/site-packages/kymo.pth' >/dev/null || fail "the wheel does not install kymo.pth"
}

make_try() {
	[ -e "$release/$name.tar.gz" ] || fail "try needs the part tarball first"
	ls "$release"/*.whl >/dev/null 2>&1 || fail "try needs the part wheel first"
	for debian in bullseye bookworm trixie; do
		in_debian "$debian-try"
		try_tarball
		[ "$debian" = bookworm ] || continue
		[ ! -d "$release/apt" ] || try_packages
		try_wheel
	done
}

for part in $parts; do
	"make_$part"
done
leave

step "placeholders, in $placeholders"
left=$(sed -n '/^[a-z]/p' "$placeholders" | while IFS='	' read -r what value; do ! is_placeholder "$value" || echo "  $what: $value"; done)
echo "${left:-  none}"
echo "all is well; the release is in $release"
