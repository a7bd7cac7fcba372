#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain
"""Incidents are uploaded to a bucket, whose server computes each signature again from the request as it came, and to a directory:
each once, incident.json last; through failures, with a wrong key, and with names of files that somebody chose with care."""
import hashlib
import hmac
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_http import Server, certificates, strict
from lib_test import KYMO, check, in_directory, run, running, until

USER, SECRET, SESSION = "AKIDEXAMPLE", "a/secret+of=this/robot", "a-session/token=="
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
AT_NS = 1795489964000000000              # 2026-11-24 03:12:44 UTC
HOSTILE = [b"a b", b"a=b&c", b"100%25", b"a+b", "\u00fc".encode(), b"\xff\xfe", b"new\nline", b"back\\slash", b"?#", b"...", b"a'\"<>", b"-rf",
           b"x" * 255, b"deep/er/file", b"empty"]


def signature(secret, date, region, string):
    key = ("AWS4" + secret).encode()
    for part in date, region, "s3", "aws4_request":
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, string.encode(), hashlib.sha256).hexdigest()


def wrong(method, target, headers, body, region):
    """Return: the code of S3 for what is wrong with this request; None: nothing."""
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)",
                         headers.get("authorization", ""))
    if not found:
        return "AccessDenied"
    user, date, used, signed, given = found.groups()
    names = signed.split(";")
    if user != USER:
        return "InvalidAccessKeyId"
    if used != region:
        return "AuthorizationHeaderMalformed"
    if names != sorted(names) or not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names):
        return "MissingHeaders"
    if any(name.startswith("x-amz-") and name not in names for name in headers):
        return "MissingHeaders"
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch"
    path, _, query = target.partition("?")
    path = urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="/-_.~")
    request = "\n".join([method, path, query, *(f"{name}:{' '.join(headers[name].split())}" for name in names), "", signed,
                         headers["x-amz-content-sha256"]])
    string = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], f"{date}/{region}/s3/aws4_request",
                        hashlib.sha256(request.encode()).hexdigest()])
    return None if hmac.compare_digest(signature(SECRET, date, region, string), given) else "SignatureDoesNotMatch"


class Bucket(Server):
    """A store of objects. Answers as `habits` say, one for each request; then well. `objects`: in the order in which they came."""

    def __init__(self, *habits, context=None, region="us-east-1"):
        super().__init__(Handler, context)
        self.habits, self.objects, self.region, self.requests = list(habits), {}, region, []
        self.open, self.stuck = threading.Event(), threading.Event()
        self.url = f"s3+{self.address}/robots/all=1"

    def __exit__(self, *what):
        self.open.set()
        super().__exit__(*what)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_PUT(self):
        server, headers = self.server, {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers["content-length"]))
        habit = server.habits.pop(0) if server.habits else "take"
        error = wrong("PUT", self.path, headers, body, server.region)
        server.requests.append((self.path, headers, error))
        if habit == "wait":
            server.stuck.set()
            server.open.wait(300)
        if habit == "cut":
            self.close_connection = True
            return
        status, text, tags = 200, "", {"ETag": '"1"'}
        if error or habit == "503":
            status, tags = (403, {}) if error else (503, {})
            text = f"<?xml version='1.0'?><Error><Code>{error or 'SlowDown'}</Code><Message>m</Message></Error>"
        elif habit == "lie":
            text, tags = "<html>Welcome to our hotel", {}
        else:
            server.objects[urllib.parse.unquote_to_bytes(self.path)] = body
        self.send_response(status)
        for name, value in tags.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


def incident(place, name, state="complete", **more):
    path = os.path.join(place, name)
    os.makedirs(os.path.join(path, "trace"))
    for file, text in ("page.html", "<html>"), ("why.json", "{}"), ("trace/metadata", "m" * 100000):
        with open(os.path.join(path, file), "w", encoding="utf-8") as out:
            out.write(text)
    with open(os.path.join(path, "incident.json"), "w", encoding="utf-8") as out:
        json.dump({"state": state, "at_ns": AT_NS, "robot": "r2d2", **more}, out)
    return path


def add_hostile(path):
    for name in HOSTILE:
        file = os.path.join(path.encode(), name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as out:
            out.write(b"" if name == b"empty" else name)
    os.symlink("/etc/passwd", os.path.join(path, "link"))
    os.symlink("/etc", os.path.join(path, "trace", "links"))
    os.mkfifo(os.path.join(path, "fifo"))


def clean(name):
    """As kymo writes names of objects."""
    text = name.replace(b"\\", b"\0").decode("utf-8", "surrogateescape")
    return b"".join(b"\\x5c" if c == "\0" else b"\\x%02x" % ord(c) if c < " " else b"\\x%02x" % (ord(c) & 255) if "\udc80" <= c <= "\udcff"
                    else c.encode() for c in text)


def environment(directory, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, "KYMO_CONFIG": "", "KYMO_DIR": os.path.join(directory, "run"), "KYMO_INCIDENTS": os.path.join(directory, "I"),
            "AWS_ACCESS_KEY_ID": USER, "AWS_SECRET_ACCESS_KEY": SECRET, **more}


def upload(directory, *words, status=0, **more):
    done = run(KYMO, "incidents", "upload", *words, env=environment(directory, **more), status=status)
    check(SECRET not in done.stdout + done.stderr and SESSION not in done.stdout + done.stderr, "a secret is printed", done)
    return done


def files_of(path, named=clean):
    found = {}
    for where, _, names in os.walk(path.encode()):
        for name in names:
            file = os.path.join(where, name)
            if os.path.isfile(file) and not os.path.islink(file) and name != b"uploaded":
                with open(file, "rb") as content:
                    found[named(os.path.relpath(file, path.encode()))] = content.read()
    return found


def to_bucket(directory):
    place = os.path.join(directory, "I")
    first = incident(place, "20261124-031244", robot="../r 2/\u00fc")
    second = incident(place, "20261124-031244-2", "incomplete", at_ns=0)
    third = incident(place, "20261125-000000", "written")
    add_hostile(first)
    with Bucket("503", "cut", "take", "lie") as bucket:
        done = upload(directory, "--to", bucket.url + "/", AWS_SESSION_TOKEN=SESSION)
        roots = b"/robots/all=1/robot=.._r_2___/date=2026-11-24/20261124-031244/", b"/robots/all=1/robot=r2d2/date=2026-11-24/20261124-031244-2/"
        want = {root + name: body for root, path in zip(roots, (first, second)) for name, body in files_of(path).items()}
        check(len(files_of(first)) == len(HOSTILE) + 4, files_of(first).keys())
        check(bucket.objects == want, "objects", set(bucket.objects) ^ set(want))
        order = [name for name, _ in bucket.objects.items()]
        check([name for name in order if name.endswith(b"incident.json")] == [order[len(files_of(first)) - 1], order[-1]], "the last one", order)
        check(done.stdout.split() == [bucket.url + root.decode()[len("/robots/all=1"):-1] for root in roots], done.stdout)
        check("1 incident is not complete yet" in done.stderr, done.stderr)
        check(all(headers["x-amz-security-token"] == SESSION for _, headers, _ in bucket.requests), "the session token")
        check(len(bucket.requests) == len(want) + 3, "sent again", len(bucket.requests), len(want))
        count = len(bucket.requests)
        done = upload(directory, "--to", bucket.url)
        check(len(bucket.requests) == count and "name an incident to send it again" in done.stderr, "sent twice", done.stderr)
        upload(directory, os.path.basename(second), "--to", bucket.url)
        check(len(bucket.requests) == count + 4, "a name sends again")
        shown = run(KYMO, "incidents", "show", os.path.basename(first), env=environment(directory)).stdout
        check("Uploaded: 2" in shown and shown.rstrip().endswith(bucket.url), shown)
        done = upload(directory, os.path.basename(third), "--to", bucket.url, status=1)
        check("not complete yet" in done.stderr, done.stderr)
        done = upload(directory, "20261125-000001", "--to", bucket.url, status=3)
        check("did you mean '20261125-000000'" in done.stderr, done.stderr)


def with_wrong_keys(directory):
    incident(os.path.join(directory, "I"), "20261124-031244")
    keys, config = os.path.join(directory, "keys"), os.path.join(directory, "kymo.yaml")
    with Bucket(region="eu-central-1") as bucket:
        words = "--to", bucket.url
        for more, status, text in (({"AWS_SECRET_ACCESS_KEY": "wrong"}, 1, "SignatureDoesNotMatch: the secret access key does not belong"),
                                   ({"AWS_ACCESS_KEY_ID": "other"}, 1, "does not know this access key"),
                                   ({"AWS_REGION": "us-west-1"}, 1, "AWS_REGION or upload.region"),
                                   ({"AWS_ACCESS_KEY_ID": ""}, 3, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or upload.credentials-file"),
                                   ({"AWS_REGION": "a:b"}, 3, "not the name of a region")):
            done = upload(directory, *words, status=status, **{"AWS_REGION": "eu-central-1", **more})
            check(text in done.stderr, text, done.stderr)
        check(not bucket.objects, "accepted", bucket.objects.keys())
        with open(config, "w", encoding="utf-8") as out:
            out.write(f"upload: {{to: '{bucket.url}', region: eu-central-1, credentials-file: {keys}}}\n")
        with open(keys, "w", encoding="utf-8") as out:
            out.write(f"[other]\naws_access_key_id = no\n[default]\n# mine\naws_access_key_id = {USER}\n aws_secret_access_key={SECRET}\n")
        more = {"KYMO_CONFIG": config, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
        os.chmod(keys, 0o644)
        check("chmod 600" in upload(directory, status=3, **more).stderr, "a secret that all can read")
        os.chmod(keys, 0o600)
        upload(directory, **more)
        check(len(bucket.objects) == 4, bucket.objects.keys())


def to_directory(directory):
    path, to = incident(os.path.join(directory, "I"), "20261124-031244"), os.path.join(directory, "my disk")
    add_hostile(path)
    done = upload(directory, "--to", "https://s3.example/robots", status=2)
    check("--to: upload.to: expected s3+https://HOST" in done.stderr, done.stderr)
    done = upload(directory, "--to", "file://" + to, status=1)
    check("create the directory, or mount its disk" in done.stderr and not os.path.exists(to), done.stderr)
    os.mkdir(to)
    done = upload(directory, "--to", "file://" + to)
    there = os.path.join(to, "robot=r2d2", "date=2026-11-24", "20261124-031244")
    check(done.stdout == "file://" + there + "\n", done.stdout)
    check(files_of(there, bytes) == files_of(path), "files", set(files_of(there, bytes)) ^ set(files_of(path)))
    check(run(KYMO, "incidents", "upload", status=2, env=environment(directory)).stderr.count("file:///DIR") == 1, "where to")


def with_certificates(directory):
    """A bucket that requires a certificate takes incidents from the robot that has one, and none from another (mTLS)."""
    path, config = certificates(directory), os.path.join(directory, "kymo.yaml")
    incident(os.path.join(directory, "I"), "20261124-031244")
    with Bucket(context=strict(path)) as bucket:
        for own, status in ("", 1), (f", cert: {path['robot.pem']}, key: {path['robot.key']}", 0):
            with open(config, "w", encoding="utf-8") as out:
                out.write(f"upload: {{to: '{bucket.url}', ca: {path['ca.pem']}{own}}}\n")
            upload(directory, status=status, KYMO_CONFIG=config)
            check(len(bucket.objects) == (4 if own else 0), status, bucket.objects.keys())


def with_bandwidth(directory):
    """So many bytes a second on average: no more arrive in the time since before the upload began, however busy the machine is."""
    config = os.path.join(directory, "kymo.yaml")
    incident(os.path.join(directory, "I"), "20261124-031244")
    with Bucket() as bucket:
        with open(config, "w", encoding="utf-8") as out:
            out.write(f"upload: {{to: '{bucket.url}', bandwidth: 50K}}\n")
        begin = time.monotonic()
        upload(directory, KYMO_CONFIG=config)
        size, seconds = sum(map(len, bucket.objects.values())), time.monotonic() - begin
        check(size > 100000 and size / seconds < 75000, size, "bytes in", seconds, "s, with a limit of 51200 bytes a second")


def metrics(url):
    with OPENER.open(url, timeout=300) as answer:
        return {name: int(value) for name, value in re.findall(r"^(kymo_upload\S+) (\S+)$", answer.read().decode(), re.M)}


def by_serve(directory):
    """kymo serve uploads over TLS; another program cannot at the same time; what is removed before is counted."""
    key, certificate, config, log = (os.path.join(directory, name) for name in ("key", "pem", "kymo.yaml", "told"))
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-keyout", key, "-out",
        certificate, "-subj", "/CN=bucket", "-addext", "subjectAltName=IP:127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    place = os.path.join(directory, "I")
    incident(place, "20261124-031244")
    incident(place, "20261124-031245")
    os.makedirs(os.path.join(directory, "run"), 0o700)
    with Bucket("503", "take", "wait", context=context) as bucket:
        with open(config, "w", encoding="utf-8") as out:
            out.write(f"serve: {{listen: '127.0.0.1:0'}}\nupload: {{to: '{bucket.url}', ca: {certificate}}}\n")
        variables = environment(directory, KYMO_CONFIG=config)
        with open(log, "w", encoding="utf-8") as out, running(KYMO, "serve", env=variables, stderr=out) as serving:
            def told():
                with open(log, encoding="utf-8") as file:
                    return file.read()
            url = until("an address", lambda: re.findall(r"http://\S+/metrics", told()))[0]
            until("a request that waits", bucket.stuck.is_set)
            found = metrics(url)
            check(found["kymo_upload_waiting_incidents"] == 2 and found["kymo_upload_failures_total"] == 1, found)
            done = upload(directory, "20261124-031244", status=1, KYMO_CONFIG=config)
            check("another program writes or uploads it" in done.stderr, done.stderr)
            with open(f"/proc/{serving.pid}/cmdline", encoding="utf-8") as file:
                check(SECRET not in file.read(), "the secret is in the list of processes")
            bucket.open.set()
            sent = 'kymo_upload_incidents_total{result="sent"}'
            found = until("both", lambda: (found := metrics(url))[sent] == 2 and found)
            check(found["kymo_upload_sent_bytes_total"] > 200000 and found["kymo_upload_waiting_incidents"] == 0, found)
            check(len(bucket.objects) == 8 and len(bucket.requests) == 9, "sent once, and again from where it failed", len(bucket.requests))
            serving.terminate()
            check(serving.wait(300) == 0, told())
        check("503" in told() and "incidents wait" in told() and "arrive again" in told() and SECRET not in told(), told())


def test(directory):
    for part in to_bucket, with_wrong_keys, with_certificates, with_bandwidth, to_directory, by_serve:
        place = os.path.join(directory, part.__name__)
        os.mkdir(place)
        part(place)


in_directory(test)
