#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: pages.sh KYMO DIR -- manual pages and completion scripts, as KYMO prints them, into DIR
set -eu
kymo=$1 out=$2
mkdir -p "$out/man1"
"$kymo" --man > "$out/man1/kymo.1"
for verb in $("$kymo" --version | sed -n 's/^  verbs: *//p'); do
	"$kymo" --man "$verb" > "$out/man1/kymo-$verb.1"
done
"$kymo" --completion bash > "$out/kymo.bash"
"$kymo" --completion zsh > "$out/_kymo"
"$kymo" --completion fish > "$out/kymo.fish"
touch "$out/made"
