#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, quick, one-thread
"""kymo config check knows each rule by which kymo serve or the upload refuses a configuration, and says the same with the line;
a secret goes to another machine by TLS only, unless the file allows it."""
import os
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, in_directory, private

# The file, the line of the error, and a part of the error.
WRONG = [
    ("serve:\n  sample: 40s", 2, "half of the window"),
    ("serve:\n  window: 10s\n  sample: 6s", 3, "half of the window"),
    ("serve:\n  sample: 50ms", 2, "100ms"),
    ("serve:\n  window: 10ms", 2, "at least 100ms"),
    ("serve:\n  max-series: 5000000000", 2, "too large"),
    ("serve:\n  max-entities: 0", 2, "from 1"),
    ("serve:\n  max-objects: 0", 2, "from 1"),
    ("serve:\n  listen: 127.0.0.1:x", 2, "invalid port"),
    ("serve:\n  listen: robot:9465", 2, "not a numeric address"),
    ("serve:\n  listen: 0.0.0.0:9465", 2, "serve.everybody-may-read"),
    ("serve:\n  listen: '[::1'", 2, "not a numeric address"),
    ("serve:\n  listen: '[::1]9465'", 2, "invalid port"),
    ("serve:\n  tls-cert: {here}/secret", 2, "require each other"),
    ("serve:\n  tls-key: {here}/secret", 2, "require each other"),
    ("serve:\n  tls-cert: {here}/secret\n  tls-key: {here}/secret", 2, "secret"),
    ("serve:\n  token-file: {here}/open", 2, "chmod 600"),
    ("serve:\n  token-file: {here}/short", 2, "at least"),
    ("clickhouse:\n  url: http://:1", 2, "expected an address"),
    ("clickhouse:\n  url: http://a:b@127.0.0.1:1", 2, "a user or a password"),
    ("clickhouse:\n  url: http://127.0.0.1:1/?x", 2, "clickhouse.database"),
    ("clickhouse:\n  url: http://127.0.0.1:1\n  password-file: {here}/open", 3, "chmod 600"),
    ("clickhouse:\n  url: http://127.0.0.1:1\n  password-file: {here}/lines", 3, "one line"),
    ("clickhouse:\n  url: http://127.0.0.1.example:1\n  password-file: {here}/secret", 2, "clickhouse.unencrypted: yes"),
    ("otlp:\n  token-file: {here}/secret\n  url: http://10.0.0.1:4318", 3, "otlp.unencrypted: yes"),
    ("upload:\n  to: s3+http://10.0.0.1/b", 2, "upload.unencrypted: yes"),
    ("upload:\n  to: s3+https://10.0.0.1/b\n  region: '-*-'", 3, "region"),
    ("upload:\n  to: s3+https://10.0.0.1/b\n  credentials-file: {here}/secret", 3, "aws_access_key_id"),
]
VARIABLES = [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://127.0.0.1", "expected an address"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:b@127.0.0.1:1", "a user or a password"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://10.0.0.1:4318", "otlp.unencrypted: yes"),
]
RIGHT = [
    "serve:\n  sample: 30s",
    "serve:\n  listen: 0.0.0.0:9465\n  everybody-may-read: yes",
    "clickhouse:\n  url: https://db.example:8443\n  password-file: {here}/secret",
    "clickhouse:\n  url: http://10.0.0.1:8123",
    "clickhouse:\n  url: http://10.0.0.1:8123\n  password-file: {here}/secret\n  unencrypted: yes",
    "clickhouse:\n  url: http://[::1]:8123\n  password-file: {here}/secret",
    "otlp:\n  url: http://localhost:4318\n  token-file: {here}/secret",
    "upload:\n  to: s3+http://127.0.0.1/b\n  credentials-file: {here}/bucket",
    "upload:\n  to: s3+http://10.0.0.1/b\n  unencrypted: yes",
]


def say(env, *words):
    done = subprocess.run([KYMO, *words], env=env, capture_output=True, text=True, timeout=300)
    check("Secret-of-this-test" not in done.stdout + done.stderr, "the secret is printed", words)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test(directory):
    for name, mode, text in (("secret", 0o600, "Secret-of-this-test-0123456789abcdef\n"), ("open", 0o644, "Secret-of-this-test-0123456789abcdef\n"),
                             ("lines", 0o600, "a\nb\n"), ("short", 0o600, "a\n"),
                             ("bucket", 0o600, "aws_access_key_id = A\naws_secret_access_key = Secret-of-this-test\n")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
    path = os.path.join(directory, "kymo.yaml")
    env = private(directory, KYMO_CONFIG=path, COLUMNS="4000", AWS_ACCESS_KEY_ID="A", AWS_SECRET_ACCESS_KEY="Secret-of-this-test")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("{here}", directory) + "\n")

    for text, line, part in WRONG:
        write(text)
        status, told = say(env, "config", "check")
        check(status not in (0, 139) and f"kymo.yaml:{line}: " in told and part in told, text, status, told)
        if "credentials-file" in text:    # the variables come first
            continue
        status, told = say(env, *(("incidents", "upload") if text.startswith("upload") else ("serve", "-q")))
        check(status not in (0, 139) and part in told, "accepted", text, status, told)
    write("robot: a")
    for name, value, part in VARIABLES:
        for words in ("config", "check"), ("serve", "-q"):
            status, told = say({**env, "OTEL_EXPORTER_OTLP_HEADERS": "a=b", name: value}, *words)
            check(status not in (0, 139) and part in told and "kymo.yaml:" not in told, name, value, words, status, told)
    for text in RIGHT:
        write(text)
        status, told = say(env, "config", "check")
        check(status == 0 and "no errors" in told, text, status, told)
    for size in "64M", "1G", "1536M", "20K", "1000":    # as a person writes it
        write("spool:\n  limit: " + size + "\nserve:\n  window: 1234567s")
        _, told = say(env, "config", "show", "--format", "csv")
        check(f"spool.limit,{size}," in told and "serve.window,1234567s," in told, size, told)


in_directory(test)
