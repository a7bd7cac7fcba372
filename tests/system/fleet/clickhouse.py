#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Windows of a trace in Debian's ClickHouse: RowBinary over HTTP gives the rows of the Parquet file, the views of
packaging/fleet/clickhouse.sql give quantiles, and a window that arrives twice counts once."""
import json
import math
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_chdb import available, chdb
from lib_clickhouse import start
from lib_parquet import read
from lib_test import KYMO, SHARED, SOURCE, check, existing, in_directory, private, query, run, running, skip, until

def export(trace, *words, env=None):
    done = subprocess.run([KYMO, "export", trace, "--table", "fleet_windows", "--window", "1s", "--robot", "r2d2", "--quiet", *words],
                          stdout=subprocess.PIPE, check=True, env=env)
    return done.stdout


def value(told, of):
    """Numbers of 64 bits come as texts."""
    if isinstance(of, list):
        return [int(one) for one in told]
    return told if told is None or of is None or isinstance(of, str) else type(of)(told)


def test(directory):
    one_form()
    traces = existing(os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st", "ctf"))
    if not shutil.which("clickhouse-server"):
        skip("no clickhouse-server; apt install clickhouse-server")
    trace, path = traces[0], os.path.join(directory, "w.parquet")
    export(trace, "-o", path)
    columns, want, _ = read(path)
    body = export(trace, "--format", "rowbinary")
    run(KYMO, "export", trace, "--format", "rowbinary", "--table", "nodes", status=2)
    process, server = start(directory)
    with process:
        until("ClickHouse", server.answers)
        server.script("clickhouse.sql")
        for _ in range(2):                # the second time is a client that did not hear the answer
            server.send("INSERT INTO kymo_windows FORMAT RowBinary", body)
        told = server.rows(f"SELECT {', '.join(columns)} FROM kymo_windows FINAL")
        told = [tuple(value(one, of) for one, of in zip(row, want[0])) for row in told]
        key = columns.index("window_start")
        order = lambda row: (row[key], *(str(one) for one in row))
        fixed = [tuple(value(one, of) for one, of in zip(row, want[0])) for row in want]
        check(sorted(told, key=order) == sorted(fixed, key=order), "rows differ", len(told), len(want))
        quantiles = server.rows("SELECT entity, hour, p50_ns, p90_ns, p99_ns, values, most_ns FROM kymo_quantiles "
                                "WHERE metric = 'duration' AND entity_kind = 'callback'")
        check(len(quantiles) > 5, quantiles)
        for entity, _, *told, count, most in quantiles:
            exact = sorted(row["duration_ns"] for row in
                           query(trace, f"SELECT duration_ns FROM callback_instances WHERE callback = '{entity}'"))
            check(len(exact) == int(count) and exact[-1] == int(most), entity, count, len(exact))
            for q, one in zip((0.5, 0.9, 0.99), told):
                right = exact[max(0, math.ceil(q * len(exact)) - 1)]
                check(abs(float(one) - right) <= right * 0.012 + 1, entity, q, one, right)
        check(all(server.script("clickhouse-questions.sql")[:1] + server.script("clickhouse-questions.sql")[3:5]), "questions without an answer")
        for labels in False, True:
            upgrade(server, len(want), labels)
        pushed(server, directory, trace)
        left_out(server, directory, trace)
        incidents(server, directory)
        dashboard(server)
        slowest(server)
        current(directory, path, server)
        buffered(server, directory, trace, body)
        in_little_memory(server)


def pushed(server, directory, trace):
    """What kymo serve sends, packed, becomes the rows that kymo export writes; also in a database whose tables are older. With fewer buckets,
    quantiles are less exact."""
    config, quantiles = os.path.join(directory, "pushed.yaml"), {}
    for name, statements, buckets in ("packed", None, 32), ("older", 1, 32), ("coarse", None, 8):
        server.send(f"CREATE DATABASE {name}")
        server.script("clickhouse.sql", name, lambda text: ";".join(text.split(";")[:statements]))
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"robot: r2d2\nboot: b1\nsoftware: 1.4.0\nlabels: {{site: 'hall 3'}}\nserve: {{window: 1s, listen: '127.0.0.1:0'}}\n"
                       f"clickhouse: {{url: '{server.url}', database: {name}, buckets: {buckets}}}\n"
                       f"spool: {{directory: {directory}/spool-{name}}}\n")
        environment = private(directory, KYMO_CONFIG=config)
        body = export(trace, "--format", "rowbinary", env=environment)
        server.send(f"CREATE TABLE {name}.want AS {name}.kymo_windows ENGINE = Memory")
        server.send("INSERT INTO want FORMAT RowBinary", body, name)
        want = server.rows(f"SELECT * FROM {name}.want ORDER BY window_start, entity_kind, entity, process, metric")
        log = os.path.join(directory, name + ".log")
        with open(log, "w", encoding="utf-8") as told, running(KYMO, "serve", trace, env=environment, stderr=told):
            until("the rows", lambda rows=len(want): server.rows(f"SELECT count() FROM {name}.kymo_windows FINAL") == [[str(rows)]])
        told = server.rows(f"SELECT * FROM {name}.kymo_windows FINAL ORDER BY window_start, entity_kind, entity, process, metric")
        check((told == want) == (buckets == 32), name, "other rows")
        if not statements:
            quantiles[name] = server.rows("SELECT entity_kind, entity, metric, hour, toString(values), p50_ns, p99_ns FROM "
                                          f"{name}.kymo_quantiles ORDER BY entity_kind, entity, metric, hour")
        with open(log, encoding="utf-8") as told:
            check(("no table kymo_windows_in" in told.read()) == (name == "older"), name)
        server.send(f"DROP DATABASE {name}")
    check(len(quantiles["coarse"]) == len(quantiles["packed"]) > 20, "quantiles", len(quantiles["coarse"]))
    for fine, coarse in zip(quantiles["packed"], quantiles["coarse"]):
        check(fine[:5] == coarse[:5] and all(abs(a - b) <= 0.059 * a for a, b in zip(fine[5:], coarse[5:])), fine, coarse)


def left_out(server, directory, trace):
    """kymo_left_out has what the limits left out, as /metrics has it."""
    words = "--window", "1s", "--max-entities", "2", "--max-objects", "8"
    told = run(KYMO, "serve", "--once", trace, *words).stdout
    want = [re.search(rf"^kymo_{name}_total (\d+)$", told, re.M)[1] for name in
            ("windows_over_entities", "objects_left_out", "events_left_out")]
    check(int(want[0]) and int(want[1]), want)
    config = os.path.join(directory, "left.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"robot: left\nserve: {{listen: '127.0.0.1:0'}}\nspool: {{directory: {directory}/spool-left}}\n"
                   f"clickhouse: {{url: '{server.url}'}}\n")
    with running(KYMO, "serve", "-q", *words, trace, env=private(directory, KYMO_CONFIG=config)):
        until("what was left out", lambda: server.rows("SELECT toString(sum(windows_over_entities)), toString(sum(objects)), "
                                                       "toString(sum(events)) FROM kymo_left_out WHERE robot = 'left'") == [want])


def upgrade(server, rows, labels):
    """A table as it was before monthly partitions, and before kymo.yaml without the column labels, keeps its rows."""
    server.send("CREATE DATABASE old")
    server.script("clickhouse.sql", "old", lambda text: text.split(";")[0].replace("labels String, ", "labels String, " * labels).replace(
        "toYYYYMM(toDateTime(intDiv(window_start, 1000000000)))", "toUInt32(intDiv(window_start, 86400000000000))"))
    columns = [row[0] for row in server.rows("DESCRIBE TABLE old.kymo_windows")]
    check(("labels" in columns) == labels, columns)
    values = ", ".join("'hall-3' AS labels" if column == "labels" else column for column in columns)
    server.send(f"INSERT INTO old.kymo_windows SELECT {values} FROM kymo_windows FINAL")
    if not labels:
        try:
            server.script("clickhouse-upgrade.sql", "old")
        except AssertionError as error:
            check("labels" in str(error), error)
        server.send("ALTER TABLE kymo_windows ADD COLUMN labels String AFTER software", database="old")
    server.script("clickhouse-upgrade.sql", "old")
    server.script("clickhouse.sql", "old")
    sums = "count(), sum(count), sum(cityHash64(entity, window_start, metric, buckets))"
    for table in "old.kymo_windows", "old.kymo_windows_before":
        check(server.rows(f"SELECT {sums} FROM {table} FINAL") == server.rows(f"SELECT {sums} FROM kymo_windows FINAL"), table)
    told = server.rows("SELECT count(), min(labels), max(labels) FROM old.kymo_windows")
    check(told == [[str(rows), *2 * ["hall-3" if labels else ""]]], told)
    order = [row[0] for row in server.rows("DESCRIBE TABLE old.kymo_windows")]
    check(order == [row[0] for row in server.rows("DESCRIBE TABLE kymo_windows")], "other columns", order)
    check(server.rows("SELECT count() FROM old.kymo_hours") == server.rows("SELECT count() FROM kymo_hours"), "the views")
    server.send("DROP DATABASE old")


def buffered(server, directory, trace, body):
    """What robots send to the Buffer tables arrives, in rows and packed."""
    server.script("clickhouse-buffer.sql")
    server.send("TRUNCATE TABLE kymo_windows")
    for number in range(3):
        server.send("INSERT INTO kymo_windows FORMAT RowBinary", body.replace(b"r2d2", b"r2d%d" % (3 + number)), "robots_in")
    until("the rows of three robots", lambda: server.rows("SELECT uniqExact(robot) FROM kymo_windows") == [["3"]])
    config = os.path.join(directory, "buffered.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"robot: packed\nserve: {{window: 1s, listen: '127.0.0.1:0'}}\nspool: {{directory: {directory}/spool-buffered}}\n"
                   f"clickhouse: {{url: '{server.url}', database: robots_in}}\n")
    rows = server.rows("SELECT count() FROM kymo_windows FINAL WHERE robot = 'r2d3'")
    with running(KYMO, "serve", "-q", trace, env=private(directory, KYMO_CONFIG=config)):
        until("rows of a fourth one", lambda: server.rows("SELECT count() FROM kymo_windows FINAL WHERE robot = 'packed'") == rows)


MACROS = {"$__fromTime": "toDateTime(intDiv(1000, 1000))", "$__toTime": "toDateTime(intDiv(2000000000000, 1000))", "$__interval_s": "60"}


def panels(macros=MACROS):
    """Return: the questions of Grafana's dashboard, after the plugin has put the time range in."""
    with open(os.path.join(SOURCE, "packaging", "fleet", "grafana-clickhouse.json"), encoding="utf-8") as file:
        found = [panel["targets"][0]["rawSql"] for panel in json.load(file)["panels"]]
    for macro, text in macros.items():
        found = [sql.replace(macro, text) for sql in found]
    return found


def dashboard(server):
    """Each question of the dashboard has an answer."""
    for sql in panels():
        check("$" not in sql and server.rows(sql), sql, "has no answer")


RANGE = ("window_start >= toInt64(toUnixTimestamp($__fromTime)) * 1000000000 AND "
         "window_start < toInt64(toUnixTimestamp($__toTime)) * 1000000000")


def one_form():
    """The slowest chains are asked for in one form: in clickhouse-questions.sql, in the docs and in the dashboard."""
    shipped, written = flat(questions()[0]), flat(documented())
    check(shipped == written, "the docs ask for the slowest chains in another form", written)
    for part, of_panel in ((r"window_start > \(SELECT.*?FROM kymo_windows\)", RANGE), (r"AS entity, least", "AS chain, least"),
                           (r"/ 1e6 AS p99_ms", "/ 1e9 AS p99, max(most_ns) / 1e9 AS longest"), ("p99_ms", "p99"), ("LIMIT 10", "LIMIT 20")):
        shipped, changed = re.subn(part, of_panel.replace("\\", r"\\"), shipped, count=1)
        check(changed, part, "is not in the question")
    check(shipped == panels({})[1], "the dashboard asks for the slowest chains in another form", shipped)


def flat(sql):
    return re.sub(r"\( ", "(", " ".join(sql.split()))


def documented():
    """Return: the question of docs/answers/fleet.md about the slowest chains."""
    with open(os.path.join(SOURCE, "docs", "answers", "fleet.md"), encoding="utf-8") as file:
        sql = re.search(r"```sql\n(-- the slowest chains.*?);\n```", file.read(), re.S)[1]
    return "\n".join(line for line in sql.split("\n") if not line.startswith("--"))


def slowest(server):
    """The slowest chains, of a day and over time, are those of the windows' buckets added up here."""
    of_chain, over_time = {}, {}
    for robot, entity, time, *row in server.rows(
            "SELECT robot, entity, intDiv(window_start, 1000000000), zero_count, scale, bucket_offset, buckets, min_ns, max_ns "
            "FROM kymo_windows FINAL WHERE entity_kind = 'chain' AND metric = 'latency'"):
        of_chain.setdefault((robot, entity), []).append(row)
        over_time.setdefault((int(time), robot), []).append(row)
    check(len(of_chain) > 2 and len(over_time) > 2, of_chain.keys(), over_time.keys())
    of_chain, over_time = ({key: p99(rows) for key, rows in of.items()} for of in (of_chain, over_time))
    for sql, unit, most in (questions()[0], 1e6, 10), (documented(), 1e6, 10), (panels()[1], 1e9, 20):
        told = server.rows(sql)
        check([near(row[2] * unit) for row in told] == [near(one) for one in sorted(of_chain.values(), reverse=True)[:most]], sql, told)
        check(all(near(row[2] * unit) == near(of_chain[row[0], row[1]]) for row in told), sql, told)
    over = panels({**MACROS, "$__interval_s": "1"})[0]
    told = {(at, robot): near(seconds * 1e9) for at, robot, seconds in
            server.rows(f"SELECT toUnixTimestamp(time), robot, p99 FROM ({over})")}
    check(told == {key: near(one) for key, one in over_time.items()}, told, over_time)


def near(ns):
    return round(float(ns), 1)


def p99(rows):
    """The nearest rank of rows (zeros, scale, first bucket, buckets, least, most); a bucket is its middle."""
    counts = {}
    for zeros, scale, first, buckets, *_ in rows:
        counts[0.] = counts.get(0., 0) + int(zeros)
        for number, count in enumerate(buckets):
            middle = 2 ** ((int(first) + number + 0.5) / 2 ** int(scale))
            counts[middle] = counts.get(middle, 0) + int(count)
    rank, least, most = 0.99 * sum(counts.values()), min(int(row[4]) for row in rows), max(int(row[5]) for row in rows)
    for middle in sorted(counts):
        rank -= counts[middle]
        if rank <= 0:
            return min(max(middle, least), most)


def in_little_memory(server):
    """Names of chains are long, and each value of a bucket is a row for the question about chains: they are not all in memory at once. A query may
    use 1 GB here (lib_clickhouse.py)."""
    server.send("TRUNCATE TABLE kymo_windows")
    server.send("INSERT INTO kymo_windows (robot, boot, window_start, window_s, entity_kind, entity, metric, count, min_ns, max_ns, scale, buckets) "
                "SELECT concat('r', toString(number % 200)), 'b', 1796000000000000000 + intDiv(number, 200) * 60000000000, 60, 'chain', "
                "concat('/', arrayStringConcat(arrayMap(x -> 'x', range(190)))), 'latency', 66, 1, 9, 5, arrayMap(x -> toUInt64(1), range(66)) "
                "FROM system.numbers LIMIT 70000")
    for sql in questions() + panels():
        if "ARRAY JOIN" in sql:
            check(server.rows(sql), "no answer", sql)


def questions(name="clickhouse-questions.sql"):
    """Return: the statements of a file of packaging/fleet."""
    with open(os.path.join(SOURCE, "packaging", "fleet", name), encoding="utf-8") as file:
        return " ".join(line for line in file.read().splitlines() if not line.startswith("--")).split(";")[:-1]


def current(directory, parquet, server):
    """A current ClickHouse answers every question, too, and names the same slowest chains."""
    if not available():
        print("skipped in part: no current ClickHouse; npm install chdb, and KYMO_NODE_MODULES")
        return
    place = os.path.join(directory, "current")
    os.mkdir(place)
    tables, asked = questions("clickhouse.sql"), [*questions(), documented(), *panels()]
    told = chdb(*tables, f"INSERT INTO kymo_windows SELECT * FROM file('{parquet}')", *asked, directory=place)[len(tables) + 1:]
    check(len(told) == len(asked) and None not in told, "questions without an answer", told)
    chains = [[(*row[:2], near(row[2] * 1e6)) for row in rows if row[0] == "r2d2"] for rows in (told[0], server.rows(asked[0]))]
    check(chains[0] and sorted(chains[0]) == sorted(chains[1]), "other chains are the slowest", *chains)


NAME = "/sc\"an'); DROP TABLE kymo_windows --\n\\"


def incidents(server, directory):
    """Each complete incident becomes a row, once, also when kymo serve is killed; its names are only names."""
    place = os.path.join(directory, "incidents")
    config = os.path.join(directory, "kymo.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"robot: r2d2\nsoftware: 1.4.0\nlabels: {{site: hall-3}}\nspool: {{directory: {directory}/spool}}\n")
    environment = private(directory, KYMO_INCIDENTS=place, KYMO_CONFIG=config)

    def happens(name, **more):
        os.makedirs(os.path.join(place, name))
        with open(os.path.join(place, name, "incident.json"), "w", encoding="utf-8") as file:
            json.dump({"state": "complete", "at_ns": 1795206328400000000, "trigger": NAME, "cause": "it was late", "value": 81, **more}, file)

    def rows():
        return server.rows("SELECT name, robot, software, labels, trigger, toString(value), state FROM kymo_incidents FINAL ORDER BY name")

    def serve():
        return running(KYMO, "serve", "-q", "--listen", "127.0.0.1:0", "--clickhouse", server.url, env=environment)

    happens("20261124-031244", robot="c3po", labels={"site": "hall-4"})
    happens("20261124-031300", state="written")
    with serve() as process:
        until("a row", rows)
        process.kill()
    happens("20261124-031245")
    with serve():
        until("another row", lambda: len(rows()) == 2)
    check(rows() == [["20261124-031244", "c3po", "1.4.0", '{"site":"hall-4"}', NAME, "81", "complete"],
                     ["20261124-031245", "r2d2", "1.4.0", '{"site":"hall-3"}', NAME, "81", "complete"]], rows())
    check(server.rows("SELECT robot, incidents FROM kymo_incident_days ORDER BY robot") == [["c3po", "1"], ["r2d2", "1"]], "days")


in_directory(test)
