#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Windows of a trace in Debian's ClickHouse: RowBinary over HTTP gives the rows of the Parquet file, the views of
packaging/fleet/clickhouse.sql give quantiles, and a window that arrives twice counts once."""
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_parquet import read
from lib_test import KYMO, SHARED, SOURCE, check, existing, in_directory, query, run, running, skip, until

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
CONFIG = """<yandex>
  <logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
  <http_port>{1}</http_port><listen_host>127.0.0.1</listen_host>
  <path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><user_files_path>{0}/files/</user_files_path>
  <users_config>{0}/users.xml</users_config><mark_cache_size>5368709120</mark_cache_size>
  <default_profile>default</default_profile><default_database>default</default_database>
</yandex>
"""
USERS = """<yandex>
  <profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
  <users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
  <quotas><default/></quotas>
</yandex>
"""


class Server:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/"

    def send(self, sql, body=b""):
        request = urllib.request.Request(self.url + "?" + urllib.parse.urlencode({"query": sql}), data=body, method="POST")
        try:
            with OPENER.open(request, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:1000]) from error

    def rows(self, sql):
        return json.loads(self.send(sql + " FORMAT JSONCompact"))["data"]

    def answers(self):
        try:
            return self.send("SELECT 1")
        except (OSError, urllib.error.URLError):
            return None


def start(directory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text.format(directory, port))
    process = running("clickhouse-server", "--config-file", os.path.join(directory, "config.xml"), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, cwd=directory)
    return process, Server(port)


def export(trace, *words):
    done = subprocess.run([KYMO, "export", trace, "--table", "fleet_windows", "--window", "1s", "--robot", "r2d2", "--quiet", *words],
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


def value(told, of):
    """Numbers of 64 bits come as texts."""
    if isinstance(of, list):
        return [int(one) for one in told]
    return told if told is None or of is None or isinstance(of, str) else type(of)(told)


def test(directory):
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
        with open(os.path.join(SOURCE, "packaging", "fleet", "clickhouse.sql"), encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if not line.startswith("--")]
        for statement in "\n".join(lines).split(";"):
            if statement.strip():
                server.send(statement)
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


in_directory(test)
