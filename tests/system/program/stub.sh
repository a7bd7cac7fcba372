#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: plain
# The stub libtracetools exports what the real library of each version exports, no more, no less.
. "$(dirname "$0")/../lib/libtest.sh"
set -e

for flavour in humble jazzy rolling; do
	nm -D --defined-only "$KYMO_BUILD/stub/$flavour/lib/libtracetools.so" | awk '{ print $3 }' >"$scratch/$flavour"
done

# expect FLAVOUR PATTERN COUNT: so many exported functions match
expect() {
	count=$(grep -c -E "$2" "$scratch/$1") || true
	[ "$count" = "$3" ] || die "$1: $count functions match $2, expected $3"
}

# Known counts: 28 tracepoints up to Humble, 35 in Jazzy, 42 from 8.10; plus compile_status.
expect humble '^ros_trace_' 29
expect humble '^ros_trace_(enabled|do)_' 0
expect humble 'get_symbol_funcptrEPv$' 1
expect jazzy '^ros_trace_' 106
expect jazzy '^ros_trace_enabled_' 35
expect jazzy '^ros_trace_do_' 35
expect jazzy '^ros_trace_(rmw_send_request|runtime_status)$' 0
expect jazzy 'get_symbol_funcptrEPKv$' 1
expect rolling '^ros_trace_' 128
expect rolling '^ros_trace_(rmw_send_request|message_link_partial_sync|runtime_status)$' 3

for flavour in humble jazzy rolling; do
	expect $flavour 'demangle_symbolEPKc$' 1
	expect $flavour '^stub_' 0
	xml=$KYMO_BUILD/stub/$flavour/share/tracetools/package.xml
	grep -q -E '<version>[0-9]+\.[0-9]+\.[0-9]+</version>' "$xml" || die "$xml has no version"
done
