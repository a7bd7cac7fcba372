#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: pages.sh KYMO DIR -- manual pages and completion scripts into DIR: those of verbs, and the overview, as KYMO prints them, those
# of the libraries from the comments of their headers, the others as they are in man/, PAGE.SECTION each
set -eu
kymo=$1 out=$2 from=$(cd "$(dirname "$0")" && pwd)
man=$out/man
rm -rf "$man"
mkdir -p "$man/man1" "$man/man3" "$man/man7"
"$kymo" --man > "$man/man1/kymo.1"
"$kymo" --man 7 > "$man/man7/kymo.7"
for verb in $("$kymo" --version | sed -n 's/^  verbs: *//p'); do
	"$kymo" --man "$verb" > "$man/man1/kymo-$verb.1"
done

# library PAGE HEADER ORDER [HEADER]: the page, and one that leads to it for each name that it tells of
library() {
	others=
	for other in kymo kymo.hpp kymo-loop kymo-cyclic kymo-thread kymo-session kymo-sink kymo-ctf; do
		[ "$other" = "$1" ] || others="$others, $other(3)"
	done
	# shellcheck disable=SC2086 # no further header is no argument
	awk -f "$from/man3.awk" -v page="$1" -v header="$2" -v order="$3" -v also="kymo(1), kymo(7)$others, kymo\\-trace(5)" \
		"$from/../include/kymo/$2" ${4:+"$from/../include/kymo/$4"} > "$man/man3/$1.3"
	for name in $(sed -n '/^\.SH NAME/{n;s/ \\-.*//;s/,//g;s/\\//g;p;}' "$man/man3/$1.3"); do
		[ -e "$man/man3/$name.3" ] || echo ".so man3/$1.3" > "$man/man3/$name.3"
	done
}
# shellcheck disable=SC2016 # what a reader types
{
	library kymo kymo.h 'cc program.c $(pkg-config --cflags --libs kymo)'
	library kymo.hpp kymo.hpp 'c++ -std=c++17 program.cpp $(pkg-config --cflags --libs kymo)'
	library kymo-loop loop.h 'cc program.c $(pkg-config --cflags --libs kymo)'
	library kymo-cyclic cyclic.hpp 'c++ -std=c++17 program.cpp $(pkg-config --cflags --libs kymo) -pthread'
	library kymo-thread thread.h 'cc program.c $(pkg-config --cflags --libs kymo)'
	library kymo-session session.h 'cc program.c $(pkg-config --cflags --libs kymo-session kymo)'
	library kymo-sink sink.h 'cc program.c $(pkg-config --cflags --libs kymo-session kymo)'
	library kymo-ctf ctf.h 'cc program.c $(pkg-config --cflags --libs kymo-ctf)' err.h
}
for page in "$from"/man/*.[1-9]; do
	mkdir -p "$man/man${page##*.}"
	cp "$page" "$man/man${page##*.}/"
done

"$kymo" --completion bash > "$out/kymo.bash"
"$kymo" --completion zsh > "$out/_kymo"
"$kymo" --completion fish > "$out/kymo.fish"
touch "$out/made"
