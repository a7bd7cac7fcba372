#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick
# Rules for files that a script can check.
. "$(dirname "$0")/../lib/libtest.sh"
cd "$KYMO_SOURCE" || exit 1

lines_max=800

find . \( -name .git -o -name 'build*' -o -name __pycache__ \) -prune -o -type f -print |
	sed 's|^\./||' | sort >"$scratch/all"
grep -v -E '^(LICENSE$|.*/fixtures/.*|tests/fuzz/seeds/.*|.*\.(bin|gz|png|ctf)$)' "$scratch/all" >"$scratch/text"
grep -E '\.(c|h|def|hpp|map|sh|py|cmake)$|CMakeLists\.txt$|Makefile$' "$scratch/text" >"$scratch/code"
[ "$(wc -l <"$scratch/code")" -gt 30 ] || fail "found too few files: looking at the right place?"

found=$(xargs awk -v most="$lines_max" '
	function ended() {
		if (lines > most)
			print file ": " lines " lines; at most " most
		if (file != "" && !has_spdx)
			print file ": no SPDX line at the top"
	}
	FNR == 1 { ended(); file = FILENAME; has_spdx = 0 }
	FNR <= 2 && /SPDX-License-Identifier: Apache-2.0/ { has_spdx = 1 }
	{ lines = FNR }
	END { ended() }' <"$scratch/code")
[ -z "$found" ] || fail "$found"

# search WHAT PATTERN LIST: no line of the listed files matches.
search() {
	local found
	found=$(xargs grep -nE "$2" /dev/null <"$3")
	[ -z "$found" ] || fail "$1:"$'\n'"$found"
}

search "blanks at the end of a line" '[[:blank:]]$' "$scratch/text"
search "a path of one machine" '(^|[^[:alnum:]._/-])/(wo[r]k|home/[a-z]+|ro[o]t|tmp/buil[d])(/|-|$)' "$scratch/text"
search "windows line ends" $'\r$' "$scratch/text"
grep -E '\.[ch]$' "$scratch/code" >"$scratch/c"
search "a function that cannot be told the size of its target" \
	'(^|[^[:alnum:]_])(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca)[[:blank:]]*\(' "$scratch/c"
# Libraries never end the program they are in, and never print; only the command line does. The one place that does is
# named here: what the tracer says in a traced process with KYMO_VERBOSE.
grep -E '^src/.*\.c$' "$scratch/c" | grep -v -e '^src/cli/' -e '^src/inside/tracer/tracer_process\.c$' >"$scratch/rooms"
[ "$(wc -l <"$scratch/rooms")" -gt 200 ] || fail "found too few rooms"
search "a library that ends or prints" \
	'(^|[^[:alnum:]_>.])((exit|abort|perror|printf|puts|putchar)[[:blank:]]*\(|v?fprintf[[:blank:]]*\((stderr|stdout)|f?put[cs][[:blank:]]*\([^;]*(stderr|stdout))' \
	"$scratch/rooms"
# Files of a trace may be FIFOs, devices or endless: readers open them with base/file.h alone. Others are written there, or
# opened by the path of an option. format/tail.c looks at what it opens itself.
grep -E '^src/(ctf|accounts|analysis|query|export|report|live|cli/(input|verbs/(export|info)))/.*\.c$' "$scratch/c" |
	grep -v -e '^src/ctf/format/tail\.c$' -e '^src/report/sections/\(expect_read\|realtime_names\)\.c$' >"$scratch/readers"
[ "$(wc -l <"$scratch/readers")" -gt 150 ] || fail "found too few readers"
found=$(xargs grep -nE '(^|[^[:alnum:]_>.])((f|fre)?open(64|at|at64)?|json_object_from_file)[[:blank:]]*\(' /dev/null <"$scratch/readers" |
	grep -vE 'O_WRONLY|O_RDWR|O_DIRECTORY|"w[ex]*"|"wxe"|O_NONBLOCK . O_NOCTTY|CTF_SYNC_NAME|, flags, ')
[ -z "$found" ] || fail "a reader that opens a file without base/file.h:"$'\n'"$found"

# Lines have at most 100 columns, with tabs of 8. A line with a text in quotes, a row of a table, and the drawing in a comment may
# be longer. The number of others only sinks.
long_max=0
grep -E '\.(c|h|hpp)$' "$scratch/code" | xargs awk '
	/"/ || /^[[:blank:]]*[{[]/ || /\\$/ { next }
	/^[[:blank:]]*(\/\*|\*)/ && /[|]|[^[:blank:]*]  |[^ -~\t]/ { next }
	{
		columns = 0
		parts = split($0, part, "\t")
		for (i = 1; i < parts; i++)
			columns += length(part[i]) + 8 - (columns + length(part[i])) % 8
		if (columns + length(part[parts]) > 100)
			print FILENAME ":" FNR ": " $0
	}' >"$scratch/long"
long=$(wc -l <"$scratch/long")
[ "$long" -le "$long_max" ] || fail "$long lines over 100 columns, $long_max were allowed; clang-format --lines breaks them:
$(tail -20 "$scratch/long")"
[ "$long" -ge "$((long_max - 200))" ] || fail "only $long lines over 100 columns: lower long_max in this test from $long_max"

# Why a test was skipped is printed in a form that test.sh and make seeds find.
found=$(grep -E '^tests/system/' "$scratch/code" | grep -v '/lib/' | xargs grep -lE '(exit|return)[ (]77' | xargs grep -LE 'skipped( in part)?: ')
[ -z "$found" ] || fail "a test that exits with 77 and does not print 'skipped: REASON':"$'\n'"$found"
search "a reason that is not 'skipped: REASON' or 'skipped in part: REASON'" '(print|echo)[ (]f?["'"'"'][^"'"'"']*[.](py|sh): skipped' "$scratch/code"

# Under the thread sanitizer run the unit tests that say that they have threads.
found=$(grep -E '^tests/unit/.*\.c$' "$scratch/c" | xargs grep -lE 'pthread_create|uv_thread_create' | xargs grep -L '^// needs: threads$')
[ -z "$found" ] || fail "unit tests with threads that do not say so in their second line:"$'\n'"$found"

# Memory that another process can change is mapped in one place, which survives that it shrinks. The traced process has its own region;
# perf's ring belongs to the kernel.
grep -E '^src/.*\.c$' "$scratch/c" | grep -v -e '^src/base/shared_map\.c$' -e '^src/inside/tracer/tracer_region\.c$' \
	-e '^src/kernel/perf_source\.c$' -e '^src/kernel/stacks_rings\.c$' >"$scratch/mappers"
search "a mapping of shared memory without base/shared_map.h" 'MAP_SHARED|shmat[[:blank:]]*\(' "$scratch/mappers"

# A struct that a header defines means one thing in all rooms; a .c file gives its own a prefix.
found=$(grep -E '^(src|include)/.*\.[ch]$' "$scratch/c" | sort -r | xargs awk '
	/^(static )?(const )?struct [a-z0-9_]+ \{$/ {
		tag = $0
		sub(/ \{$/, "", tag)
		sub(/.* /, "", tag)
		place[tag] = place[tag] " " FILENAME
		count[tag]++
		if (FILENAME ~ /\.h$/)
			shared[tag] = 1
	}
	END { for (tag in shared) if (count[tag] > 1) print "struct " tag ":" place[tag] }')
[ -z "$found" ] || fail "structs with two meanings; give one a prefix:"$'\n'"$found"

finish
