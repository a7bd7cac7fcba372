#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, quick, long
# The command as a whole: help, version, exit statuses, suggestions, completion, manual pages.
. "$(dirname "$0")/../lib/libtest.sh"

export HOME=$scratch KYMO_DIR=$scratch/runtime
unset ROS_TRACE_DIR ROS_HOME

run 2 "$kymo" && empty out && has err "Usage: kymo VERB"
run 0 "$kymo" help && empty err && has out "Usage: kymo VERB"
run 0 "$kymo" --help && empty err && has out "Verbs:"
run 0 "$kymo" -h && has out "Verbs:"
run 0 "$kymo" --version && empty err && has out "kymo " && has out "built in:"
verbs=$(sed -n 's/^  verbs: *//p' "$scratch/out")
[ "$verbs" = "$(sed -n 's/^VERB(\(.*\))/\1/p' "$KYMO_SOURCE/src/cli/commands.def" | tr '\n' ' ' |
	sed 's/ $//')" ] || fail "--version names '$verbs', not the verbs of the table"

run 2 "$kymo" no-such-verb && empty out && has err "unknown verb 'no-such-verb'"
run 2 "$kymo" --no-such-option && empty out && has err "unknown option"
run 2 "$kymo" help no-such-verb && has err "unknown verb"
run 2 "$kymo" tpo && has err "did you mean 'top'" && ! grep -q "'stop'" "$scratch/err" || fail "tpo: $(cat "$scratch/err")"
run 2 "$kymo" stat && has err "did you mean 'status'"
run 2 "$kymo" stp && has err "did you mean 'stop', which ends a recording"
run 2 "$kymo" --man no-such-verb && has err "unknown verb"
run 2 "$kymo" --completion tcsh && has err "bash, zsh or fish"
run 2 "$kymo" --completion && has err "bash, zsh or fish"
run 2 "$kymo" $'\033[31m' && has err '\x1b[31m'

# Output into a pipe whose reader went away, as that of head does, is no error; a full disk is one, and its reason is printed.
# Python ignores SIGPIPE, and so does the program then.
into_closed_pipe() {
	python3 - "$@" <<'EOF'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stdout=writer, restore_signals=False).returncode)
EOF
}
run 0 into_closed_pipe "$kymo" help && empty err
run 0 into_closed_pipe "$kymo" live --help && empty err
run 1 bash -c "'$kymo' help >/dev/full" && has err "cannot write the output: No space left on device"
trace=$KYMO_SHARED/data/ros2-traces/pair_lifecycle/ctf
if [ -d "$trace" ]; then
	run 0 into_closed_pipe "$kymo" live --top "$trace" && empty err
	run 1 bash -c "'$kymo' live --top '$trace' >/dev/full" && has err "cannot write the output"
	! grep -E "directory|No such" "$scratch/err" || fail "the reason is of something else"
fi

# An operand that is not a path, without a trace: what is missing.
run 3 "$kymo" why /nope/x && has err "'/nope/x' is neither a trace nor a chain"
run 3 "$kymo" flow control:plan && has err "'control:plan' is neither a trace nor a chain"
if [ -d "$trace" ]; then
	mkdir -p "$scratch/traces" && ln -s "$trace" "$scratch/traces/session-20260101000000"
	ROS_TRACE_DIR=$scratch/traces run 6 "$kymo" why /nope/x && empty err &&
		has out "No callback of '/nope/x' ran, and no trace has this path. \`kymo report --section callbacks\`"
fi

bash -n <("$kymo" --completion bash) || fail "the bash completion is no bash"
for shell in bash zsh fish; do
	"$kymo" --completion $shell >"$scratch/$shell"
done
! command -v zsh >/dev/null || zsh -n "$scratch/zsh" || fail "the zsh completion is no zsh"
! command -v fish >/dev/null || fish -n "$scratch/fish" || fail "the fish completion is no fish"

# Words that bash would offer for each of the words behind the verb, or for the verb.
offer() {
	bash -c 'source "$1"
		for word in "${@:3}"; do
			COMP_WORDS=(kymo ${2:+"$2"} "$word") COMPREPLY=()
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_kymo
			for offered in "${COMPREPLY[@]}"; do echo "$word: $offered"; done
		done' - "$scratch/bash" "$@"
}

# roff to plain text, as wide as the widest line of ours.
render() {
	MANWIDTH=200 MAN_KEEP_FORMATTING='' LC_ALL=C man -l --warnings "$1" 2>"$scratch/err" | col -bx
}

for verb in $verbs; do
	run 0 "$kymo" "$verb" --help && empty err && has out "Usage: kymo $verb"
	cp "$scratch/out" "$scratch/help"
	run 0 "$kymo" help "$verb" && cmp -s "$scratch/out" "$scratch/help" ||
		fail "'help $verb' and '$verb --help' differ"
	run 0 "$kymo" "$verb" -h && has out "Usage: kymo $verb"
	run 2 "$kymo" "$verb" --no-such-option && empty out && has err "kymo $verb: unknown option"

	case "$(offer '' "${verb:0:2}")" in
	*": $verb"*) ;;
	*) fail "bash does not complete ${verb:0:2} to $verb" ;;
	esac
	for shell in zsh fish; do
		grep -q -w -- "$verb" "$scratch/$shell" || fail "$shell does not know $verb"
	done
	# Every option of --help is offered, and stands in the manual page.
	run 0 "$kymo" --man "$verb"
	cp "$scratch/out" "$scratch/page"
	sed 's/\\-/-/g' "$scratch/page" >"$scratch/plain"
	options=$(sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/--\2/p' "$scratch/help")
	[ -n "$options" ] || fail "no options in the help of $verb"
	# shellcheck disable=SC2086 # words
	offer "$verb" $options >"$scratch/offered"
	for option in $options; do
		grep -qxF -- "$option: $option" "$scratch/offered" || fail "bash does not offer $option of $verb"
		grep -qF -- "\\fB$option\\fR" "$scratch/plain" || fail "$option is not in the manual page of $verb"
	done

	if sanitized || ! command -v man >/dev/null; then	# of the two, only the page itself is kymo's
		continue
	fi
	render "$scratch/page" >"$scratch/text"
	empty err
	usage=$(sed -n '/^Usage: /,/^$/{s/^Usage: //;s/^ *//;/./p}' "$scratch/help" | tr '\n' ' ' | sed 's/ $//')
	synopsis=$(sed -n '/^SYNOPSIS/{n;s/^ *//;p}' "$scratch/text")
	[ "$usage" = "$synopsis" ] || fail "$verb: usage '$usage' but synopsis '$synopsis'"
done

run 0 "$kymo" --man && has out ".SH EXIT STATUS"
# The same for programs: every verb, and every option that the help has.
run 0 "$kymo" help --format json && empty err
[ "$(sed -n 's/^  {"verb": "\([a-z]*\)", "synopsis".*/\1/p' "$scratch/out" | tr '\n' ' ' | sed 's/ $//')" = "$verbs" ] ||
	fail "help --format json has other verbs"
cp "$scratch/out" "$scratch/all"
run 0 "$kymo" help record --format csv && has out "record,flight,,time,TIME,," && ! grep -q "^report," "$scratch/out" ||
	fail "help record --format csv has other verbs, or not its options"
for verb in $verbs; do
	"$kymo" help "$verb" | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' | grep -vx help | sort >"$scratch/help"
	sed -n "s/^  {\"verb\": \"$verb\", \"option\": \"\([^\"]*\)\".*/\1/p" "$scratch/all" | sort >"$scratch/options"
	cmp -s "$scratch/help" "$scratch/options" || fail "help --format json has other options of $verb"
done
run 2 "$kymo" help --format json no-such-verb && has err "unknown verb"
# A number above a limit is refused, not cut.
run 2 "$kymo" why --worst 101 && has err "kymo why: --worst must be at most 100"
run 2 "$kymo" flow --worst 1001 && has err "kymo flow: --worst must be at most 1000"
run 2 "$kymo" help --no-such-option && has err "kymo help: unknown option"
# Output that cannot be written is a failure, not silence.
for words in help "help --format json" --version "--completion bash" "help ${verbs%% *}"; do
	# shellcheck disable=SC2086 # words
	"$kymo" $words >/dev/full 2>"$scratch/err"
	[ $? -eq 1 ] || fail "'$words' into a full disk is no failure"
done
finish
