# SPDX-License-Identifier: Apache-2.0
"""Debian's ClickHouse in a directory, on loopback."""
import json
import os
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from lib_test import SOURCE, running

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
        self.port = port
        self.url = f"http://127.0.0.1:{port}/"

    def send(self, sql, body=b"", database="default"):
        words = urllib.parse.urlencode({"query": sql, "database": database})
        request = urllib.request.Request(self.url + "?" + words, data=body, method="POST")
        try:
            with OPENER.open(request, timeout=300) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:1000]) from error

    def rows(self, sql):
        return json.loads(self.send(sql + " FORMAT JSONCompact"))["data"]

    def script(self, name, database="default", change=lambda text: text):
        """Each statement of a file of packaging/fleet."""
        with open(os.path.join(SOURCE, "packaging", "fleet", name), encoding="utf-8") as file:
            lines = [line for line in file.read().splitlines() if not line.startswith("--")]
        return [self.send(statement, database=database) for statement in change("\n".join(lines)).split(";") if statement.strip()]

    def answers(self):
        try:
            return self.send("SELECT 1")
        except (OSError, urllib.error.URLError):
            return None


def start(directory):
    """Return: the process as a context, and the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text.format(directory, port))
    process = running("clickhouse-server", "--config-file", os.path.join(directory, "config.xml"), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, cwd=directory)
    return process, Server(port)
