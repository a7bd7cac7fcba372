#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
# `kymo query` as a command: operands, formats, errors with their place, limits, the prompt.
. "$(dirname "$0")/../lib/libtest.sh"
trace=$KYMO_SOURCE/tests/fixtures/lifecycle

# ---- operands
run 0 "$kymo" query "$trace" 'SELECT count(*) AS n FROM callback_instances' --format csv
[ "$(cat "$scratch/out")" = $'n\n46' ] || fail "46 runs, as the report says: $(cat "$scratch/out")"
mkdir "$scratch/home"
cp -r "$trace" "$scratch/home/session-20990101000000"
ROS_TRACE_DIR=$scratch/home run 0 "$kymo" query 'SELECT name FROM nodes ORDER BY id' --format csv
[ "$(cat "$scratch/out")" = $'name\nlc_talker\nlc_manager' ] || fail "the newest trace: $(cat "$scratch/out")"
echo 'SELECT 1 AS a; -- nothing
SELECT 2 AS b' | "$kymo" query "$trace" --format json >"$scratch/out" 2>"$scratch/err" || fail "SQL from standard input"
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1])))' "$scratch/out")" = \
	"{'rows': [{'a': 1}], 'rows_2': [{'b': 2}]}" ] || fail "two statements: $(cat "$scratch/out")"
run 3 "$kymo" query "$scratch/nothing" 'SELECT 1'
run 2 "$kymo" query "$trace" 'SELECT 1' 'SELECT 2'
has err 'put all SQL into one operand'
run 0 "$kymo" query 'SELECT count(*) AS n FROM callback_instances' "$trace" --format csv
[ "$(cat "$scratch/out")" = $'n\n46' ] || fail "SQL before the trace: $(cat "$scratch/out")"
run 3 "$kymo" query 'SELECT 1' "$scratch/nothing"
# The prompt's commands as an operand and from a pipe.
for operands in ".tables $trace" "$trace .tables"; do
	run 0 "$kymo" query $operands
	has out callback_instances
done
printf '.schema nodes\n\nSELECT 7 AS seven;\n.format csv\nSELECT 8\n AS eight\n' | "$kymo" query "$trace" >"$scratch/out" 2>"$scratch/err" ||
	fail "commands and statements from a pipe: $(cat "$scratch/err")"
has out seven
[ "$(tail -2 "$scratch/out")" = $'eight\n8' ] || fail "the last statement is not CSV: $(tail -3 "$scratch/out")"
run 2 "$kymo" query "$trace" .nothing
has err "unknown command '.nothing'"

# ---- values and names
run 0 "$kymo" query "$trace" --format json \
	"SELECT NULL AS a, NULL AS a, 'x,\"y\"' AS \"p, q\", x'00ff' AS b, 1.5 AS r, median(1), 9007199254740993 AS i"
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["rows"])' "$scratch/out")" = \
	"[{'a': None, 'a_2': None, 'p, q': 'x,\"y\"', 'b': '00ff', 'r': 1.5, 'median(1)': 1, 'i': 9007199254740993}]" ] ||
	fail "values: $(cat "$scratch/out")"
run 0 "$kymo" query "$trace" --format csv "SELECT 1 AS \"a, b\""
[ "$(head -1 "$scratch/out")" = '"a, b"' ] || fail "the header is no CSV"
run 0 "$kymo" query "$trace" 'SELECT 1500000 AS wait_ns, node_handle FROM nodes LIMIT 1'
has out '1.50 ms'
has out '0x'

run 0 "$kymo" query "$trace" 'SELECT count(latency_ns) FROM callback_instances'
grep -q ' ns$' "$scratch/out" && fail "a number of times is no duration"

run 0 "$kymo" query "$trace" "SELECT 1 AS first; SELECT 'x' AS second"
[ "$(tr -s ' \n' ' ' <"$scratch/out")" = 'first 1 second x ' ] || fail "two tables: $(cat "$scratch/out")"

# ---- functions: the same as Python says
run 0 "$kymo" query "$trace" --format json "SELECT percentile(duration_ns, 90) AS p, median(duration_ns) AS m,
	stddev(duration_ns) AS s, group_concat(duration_ns) AS all_ns, ns_to_text(1500000) AS t,
	percentile(NULL, 5) AS none, stddev(iif(id = 1, 1, NULL)) AS one FROM callback_instances"
python3 - "$scratch/out" <<'PY' || fail "functions"
import json, statistics, sys
r = json.load(open(sys.argv[1]))["rows"][0]
v = sorted(map(int, r["all_ns"].split(",")))
at = 0.9 * (len(v) - 1)
p = v[int(at)] + (v[int(at) + 1] - v[int(at)]) * (at - int(at))
assert abs(r["p"] - p) < 1e-6 and r["m"] == statistics.median(v), r
assert abs(r["s"] / statistics.stdev(v) - 1) < 1e-12, r
assert r["t"] == "1.50 ms" and r["none"] is None and r["one"] is None, r
PY
run 1 "$kymo" query "$trace" 'SELECT percentile(duration_ns, 101) FROM callback_instances'
has err 'from 0 to 100'

# ---- errors name the place
run 2 "$kymo" query "$trace" 'SELECT * FORM nodes'
has err 'near "FORM": syntax error'
[ "$(sed -n 3p "$scratch/err")" = '           ^' ] || fail "the mark is elsewhere: $(cat "$scratch/err")"
run 2 "$kymo" query "$trace" 'SELECT id FROM node'
has err 'did you mean nodes?'
run 2 "$kymo" query "$trace" 'SELECT naem FROM nodes'
has err 'did you mean name?'
run 2 "$kymo" query "$trace" 'SELECT id FROM nodes WHERE name = "lc_talker"'
has err 'single quotes'

run 2 "$kymo" query "$trace" $'SELECT \e[2J FROM nodes'
has err '\x1b[2J'

# ---- it only reads
cd "$scratch" || exit 1
for sql in "ATTACH 'new.db' AS x" "CREATE TABLE a(b)" "CREATE TEMP TABLE a(b)" "DROP TABLE nodes" \
	"DELETE FROM nodes" "INSERT INTO nodes(id) VALUES (1)" "UPDATE nodes SET id = 1" "VACUUM INTO 'new.db'" \
	"PRAGMA journal_mode = wal" "PRAGMA temp_store_directory = '.'" "SELECT load_extension('x')" "BEGIN" \
	"CREATE VIRTUAL TABLE a USING nodes"; do
	"$kymo" query "$trace" "$sql" >out 2>err </dev/null
	status=$?
	[ "$status" -eq 2 ] || [ "$status" -eq 1 ] || fail "'$sql' gave $status"
	[ -s out ] && fail "'$sql' printed something"
done
[ ! -e new.db ] || fail "SQL wrote a file"

# ---- conditions are pushed down, and mean what they mean in SQL
same() {	# SQL SQL: both give the same
	local a b
	a=$("$kymo" query "$trace" --format csv "$1") || fail "$1"
	b=$("$kymo" query "$trace" --format csv "$2") || fail "$2"
	[ "$a" = "$b" ] || fail "$1: $a, but $2: $b"
	[ "$(wc -l <<<"$a")" -gt 1 ] || fail "$1 gives nothing: nothing was compared"
}
begin=1795206336734593149
same "SELECT id, start_ns FROM callback_instances WHERE start_ns >= $begin AND start_ns < $begin + 200000000" \
	"SELECT id, start_ns FROM callback_instances WHERE +start_ns >= $begin AND +start_ns < $begin + 200000000"
same "SELECT id, end_ns FROM callback_instances WHERE end_ns <= $begin" \
	"SELECT id, end_ns FROM callback_instances WHERE +end_ns <= $begin"
same "SELECT count(*), min(name) FROM events WHERE timestamp_ns BETWEEN $begin AND $begin + 100000000" \
	"SELECT count(*), min(name) FROM events WHERE +timestamp_ns BETWEEN $begin AND $begin + 100000000"
same "SELECT id, name FROM events WHERE timestamp_ns >= $begin LIMIT 3" \
	"SELECT id, name FROM events WHERE +timestamp_ns >= $begin LIMIT 3"
same "SELECT * FROM events WHERE id = 500" "SELECT * FROM events WHERE +id = 500"
same "SELECT id FROM nodes WHERE id = 2" "SELECT id FROM nodes WHERE +id = 2"
same "SELECT id FROM nodes WHERE name = 'lc_manager'" "SELECT id FROM nodes WHERE name || '' = 'lc_manager'"
same "SELECT id FROM nodes WHERE id IN (1, 2) ORDER BY id DESC" "SELECT id FROM nodes ORDER BY +id DESC"
same "SELECT count(*) FROM callback_instances WHERE id = 5 OR callback_id = 3" \
	"SELECT count(*) FROM callback_instances WHERE +id = 5 OR +callback_id = 3"
same "SELECT count(*) FROM nodes WHERE id > 0.5 AND id < '3'" "SELECT count(*) FROM nodes"
same "SELECT count(*) FROM nodes WHERE id = NULL" "SELECT 0 AS \"count(*)\""
# A join reads a table again and again: from its second reading on it is kept.
same "SELECT c.id, count(i.id), sum(i.duration_ns) FROM callbacks c LEFT JOIN callback_instances i
	ON i.callback_id = c.id GROUP BY c.id HAVING count(i.id)" \
	"SELECT callback_id AS id, count(*) AS \"count(i.id)\", sum(duration_ns) AS \"sum(i.duration_ns)\"
	FROM callback_instances GROUP BY 1"
same "SELECT count(*) FROM callback_instances a JOIN callback_instances b ON b.start_ns > a.end_ns" \
	"SELECT count(*) FROM (SELECT start_ns + 0 AS s FROM callback_instances) JOIN
	(SELECT end_ns + 0 AS e FROM callback_instances) ON s > e"
same "SELECT count(*) FROM callback_instances ci JOIN publications p ON p.callback_instance_id = ci.id" \
	"SELECT count(callback_instance_id) AS \"count(*)\" FROM publications"

# ---- schema
run 0 "$kymo" query --schema
has out 'messages: Messages from publisher to callback'
run 0 "$kymo" query --schema --format csv
has out 'messages,latency_ns,duration,ns,'

# ---- a trace may declare a text as a number: that is no pointer
if command -v babeltrace2 >/dev/null; then
	cp -r "$trace" "$scratch/odd"
	chmod -R u+w "$scratch/odd"
	odd=$scratch/odd/ust/uid/0/64-bit
	babeltrace2 -o ctf-metadata "$odd" >"$scratch/metadata" 2>/dev/null
	for field in version symbol gid node_name start_label; do
		python3 - "$scratch/metadata" "$odd/metadata" "_$field" <<'PY' || fail "no field $field"
import re, sys
source, target, field = sys.argv[1:]
number = "integer { size = 64; align = 8; signed = 0; base = 10; } "
text, times = re.subn(r"\n[^\n]*\b" + field + r"\b[^;\n]*;", f"\n{number}{field};", open(source).read())
open(target, "w").write(text)
sys.exit(not times)
PY
		for table in contexts rmw_publishers rmw_subscriptions callback_symbols nodes lifecycle_transitions publishers; do
			run 0 "$kymo" query -q "$scratch/odd" "SELECT * FROM $table"
		done
	done
fi

# ---- the prompt
python3 - "$kymo" "$trace" "$scratch" <<'PY' || fail "the prompt"
import fcntl, os, pty, select, signal, struct, sys, termios
kymo, trace, scratch = sys.argv[1:]
pid, terminal = pty.fork()
if not pid:
    os.environ.update(XDG_STATE_HOME=scratch + "/state", TERM="dumb")
    os.environ["LC_ALL"] = "C"
    os.execv(kymo, [kymo, "query", trace])
seen = b""

def expect(text):
    global seen
    while text not in seen:
        if not select.select([terminal], [], [], 30)[0]:
            raise SystemExit(f"no {text} in {seen}")
        seen += os.read(terminal, 65536)
    seen = seen[seen.index(text) + len(text):]

expect(b"kymo>")
os.write(terminal, b".tables\n")
expect(b"lost_events")
os.write(terminal, b".schema timers\n")
expect(b"period_ns")
os.write(terminal, b"SELECT count(*)\nFROM nodes;\n")
expect(b"2\r\n")
# Long texts are cut where rows are wider than the terminal, and only there.
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
whole = b"x" * 150
long = b"SELECT 1 AS n, replace(hex(zeroblob(75)), '0', 'x') AS t;\n"
os.write(terminal, long)
expect(b"\n1  " + b"x" * 47 + b"..." + b"x" * 47 + b"\r\n")
os.write(terminal, b".wide on\n")
expect(b"whole")
os.write(terminal, long)
expect(b"\n1  " + whole + b"\r\n")
os.write(terminal, b".wide off\n.format csv\n")
expect(b"cut to")
os.write(terminal, long)
expect(b"\n1," + whole + b"\r\n")
os.write(terminal, b".format table\n")
os.write(terminal, b".schema nothing\n")
expect(b"Unknown table nothing")
# It gives one row, which shows that it runs, and then runs for ages.
os.write(terminal, b".format csv\n"
         b"WITH RECURSIVE c(n) AS (SELECT 77 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n = 77;\n")
expect(b"n\r\n77\r\n")
os.kill(pid, signal.SIGINT)
expect(b"interrupted")
os.write(terminal, b"SELECT 40 + 2;\n")
expect(b"42\r\n")
os.write(terminal, b".quit\n")
while True:
    try:
        if not os.read(terminal, 65536):
            break
    except OSError:
        break
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
PY
finish
