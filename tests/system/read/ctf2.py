#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread
"""CTF 2: traces of random field classes, made here, read as they were made: numbers of any width, order and alignment, LEB128, mappings,
booleans, strings in five encodings and three kinds of length, BLOBs, arrays, structures, optional fields, variants, aliases, field
locations of every kind, roles on any name. Then what is wrong is refused with the fragment and the reason."""
import json
import os
import random
import struct
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_test import KYMO, check, fewer, run

SEEDS = fewer(range(40))
UUID = list(range(16))
EVENTS = 12


class Bits:
    """A packet, bit by bit."""
    def __init__(self):
        self.data, self.pos = bytearray(), 0

    def align(self, n):
        self.pos = (self.pos + n - 1) // n * n
        self.room(self.pos)

    def room(self, bits):
        self.data.extend(bytes((bits + 7) // 8 - len(self.data)) if (bits + 7) // 8 > len(self.data) else b"")

    def put(self, value, size, big=False, reverse=False):
        value &= (1 << size) - 1
        if reverse:
            value = int(format(value, f"0{size}b")[::-1], 2)
        self.room(self.pos + size)
        for i in range(size):
            if value >> (size - 1 - i if big else i) & 1:
                at = self.pos + i
                self.data[at // 8] |= 1 << (7 - at % 8 if big else at % 8)
        self.pos += size

    def bytes(self, raw):
        self.align(8)
        for byte in raw:
            self.put(byte, 8)


def order(r, out, big, may_reverse=True):
    out["byte-order"] = "big-endian" if big else "little-endian"
    out["bit-order"] = usual = "last-to-first" if big else "first-to-last"
    if r.random() < .5:
        del out["bit-order"]
    elif may_reverse and r.random() < .3:
        out["bit-order"] = "first-to-last" if usual == "last-to-first" else "last-to-first"
        return True
    return False


class Number:
    """Fixed-length integers, bit arrays, bit maps, booleans."""
    def __init__(self, r, selector=False):
        whole = r.random() < .6
        self.size = r.choice([8, 16, 32, 64]) if whole else r.randint(1, 64)
        if selector:
            self.size = r.choice([8, 16, 32])
        self.kind = "u" if selector else r.choice("uuussbax")
        # Two byte orders cannot share a byte.
        self.big = r.random() < .5 and (whole or selector)
        self.align_ = r.choice([8, 8, 16, 32, 64]) if self.size % 8 == 0 or self.big else r.choice([1, 1, 2, 4, 8])
        name = {"u": "fixed-length-unsigned-integer", "s": "fixed-length-signed-integer", "b": "fixed-length-boolean",
                "a": "fixed-length-bit-array", "x": "fixed-length-bit-map"}[self.kind]
        self.json = {"type": name, "length": self.size}
        if self.align_ > 1 or r.random() < .5:
            self.json["alignment"] = self.align_
        self.reverse = order(r, self.json, self.big)
        if self.kind == "x":
            self.json["flags"] = {"first": [[0, 0]], "two ranges": [[2, 3], [5, 8]], "last": [[63, 63]], "out of reach": [[64, 99]]}
        self.labels = []
        if self.kind in "us" and not selector and r.random() < .4:
            self.labels = [("low", [[0, 9]]), ("two ranges", [[20, 29], [40, 49]])]
            if self.kind == "s":
                self.labels.append(("below zero", [[-50, -1]]))
            self.json["mappings"] = dict(self.labels)

    def value(self, r):
        if self.kind == "s":
            low = -(1 << self.size - 1)
            return max(low, min(-low - 1, r.choice([r.randint(-60, 60), r.randint(low, -low - 1)])))
        return min((1 << self.size) - 1, r.choice([r.randint(0, 60), r.getrandbits(self.size)]))

    def put(self, bits, value, _slots):
        bits.align(self.align_)
        bits.put(value, self.size, self.big, self.reverse)
        if self.kind == "b":
            return value != 0
        if self.kind == "x":
            return {"flags": [name for name, ranges in self.json["flags"].items()
                              if any(value >> bit & 1 for low, high in ranges for bit in range(low, high + 1))], "value": value}
        return labelled(self.labels, value)


def labelled(labels, value):
    if not labels:
        return value
    found = [name for name, ranges in labels if any(low <= value <= high for low, high in ranges)]
    return {"label": found[0] if found else None, "value": value}


class Leb128:
    def __init__(self, r, selector=False):
        self.signed = not selector and r.random() < .5
        self.json = {"type": "variable-length-%s-integer" % ("signed" if self.signed else "unsigned")}

    def value(self, r):
        size = r.choice([5, 7, 13, 31, 63, 64])
        return r.randint(-(1 << size - 1), (1 << size - 1) - 1) if self.signed else r.getrandbits(size)

    def put(self, bits, value, _slots):
        raw, left = [], value
        while True:
            raw.append(left & 0x7f)
            left >>= 7
            if (left == 0 and not (self.signed and raw[-1] & 0x40)) or (left == -1 and raw[-1] & 0x40):
                break
        bits.bytes([b | 0x80 for b in raw[:-1]] + raw[-1:])
        return value


class Real:
    def __init__(self, r, **_):
        self.size, self.big = r.choice([32, 64]), r.random() < .5
        self.json = {"type": "fixed-length-floating-point-number", "length": self.size, "alignment": 8}
        order(r, self.json, self.big, False)

    def value(self, r):
        value = r.choice([0.0, -1.5, 1e10, r.random()])
        return struct.unpack("f", struct.pack("f", value))[0] if self.size == 32 else value

    def put(self, bits, value, _slots):
        raw = struct.pack("<f" if self.size == 32 else "<d", value)
        bits.align(8)
        bits.put(int.from_bytes(raw, "little"), self.size, self.big)
        return value


CODECS = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"]


def text_of(r):
    return "".join(r.choice(["a", "Z", "0", " ", "ß", "語", "\U0001f916"]) for _ in range(r.randint(0, 7)))


class Text:
    """Strings that end with a NUL, of a given length, or of a length that stands in front of them."""
    def __init__(self, r, **_):
        self.codec = r.choice(CODECS)
        self.kind = r.choice(["null-terminated", "static-length", "dynamic-length"])
        self.json = {"type": self.kind + "-string"}
        if self.codec != "utf-8" or r.random() < .5:
            self.json["encoding"] = self.codec
        self.room = r.choice([0, 4, 40])
        if self.kind == "static-length":
            self.json["length"] = self.room

    needs = property(lambda self: "length-field-location" if self.kind == "dynamic-length" else None)

    def value(self, r):
        return text_of(r)

    def put(self, bits, value, slots):
        raw, nul = value.encode(self.codec), "\0".encode(self.codec)
        if self.kind == "null-terminated":
            bits.bytes(raw + nul)
            return value
        if self.kind == "static-length":
            if len(raw) + len(nul) > self.room:
                raw, value = b"", ""
            bits.bytes(raw + bytes(self.room - len(raw)))
            return value
        raw += nul * slots["pad"]
        slots["put"](len(raw))
        bits.bytes(raw)
        return value


class Blob:
    def __init__(self, r, **_):
        self.dynamic = r.random() < .5
        self.json = {"type": "dynamic-length-blob" if self.dynamic else "static-length-blob", "media-type": "image/x"}
        if not self.dynamic:
            self.json["length"] = self.room = r.randint(0, 9)

    needs = property(lambda self: "length-field-location" if self.dynamic else None)

    def value(self, r):
        return [r.getrandbits(8) for _ in range(r.randint(0, 6) if self.dynamic else self.room)]

    def put(self, bits, value, slots):
        if self.dynamic:
            slots["put"](len(value))
        bits.bytes(value)
        return value


def alignment(json_class):
    kind = json_class["type"]
    if kind.startswith("fixed"):
        return json_class.get("alignment", 1)
    if kind == "structure":
        return max([json_class.get("minimum-alignment", 1)] + [alignment(m["field-class"]) for m in json_class["member-classes"]])
    if kind.endswith("array"):
        return max(json_class.get("minimum-alignment", 1), alignment(json_class["element-field-class"]))
    return 1 if kind in ("optional", "variant") else 8


class Array:
    def __init__(self, r, depth=0, **_):
        self.element = make(r, depth + 1, plain=True)
        self.dynamic = r.random() < .5
        self.json = {"type": "dynamic-length-array" if self.dynamic else "static-length-array",
                     "element-field-class": self.element.json}
        if r.random() < .3:
            self.json["minimum-alignment"] = 32
        if not self.dynamic:
            self.json["length"] = self.count = r.randint(0, 4)

    needs = property(lambda self: "length-field-location" if self.dynamic else None)

    def value(self, r):
        return [self.element.value(r) for _ in range(r.randint(0, 4) if self.dynamic else self.count)]

    def put(self, bits, value, slots):
        if self.dynamic:
            slots["put"](len(value))
        bits.align(alignment(self.json))
        return [self.element.put(bits, v, slots) for v in value]


class Struct:
    """Members; what needs another field gets one in front of it, which its location names from the structure around, from the
    structures around that, or from the scope."""
    def __init__(self, r, depth=0, path=(), origin="event-record-payload"):
        self.members, outer = [], []
        for i in range(r.randint(1, 5)):
            name = r.choice(["id", "timestamp", "_x", "a.b", "field"]) + str(i)
            field = make(r, depth + 1, path=path + (name,), origin=origin)
            if not getattr(field, "needs", None):
                self.members.append((name, field, None))
                continue
            selector = (Leb128 if r.random() < .3 else Number)(r, selector=True)
            where = {"path": ["n" + name]}
            if r.random() < .5:
                where = {"origin": origin, "path": list(path) + ["n" + name]}
            field.json[field.needs] = where
            self.members.append(("n" + name, selector, name))
            self.members.append((name, field, None))
        self.json = {"type": "structure", "member-classes": [{"name": n, "field-class": f.json} for n, f, _ in self.members]}
        if r.random() < .3:
            self.json["minimum-alignment"] = r.choice([8, 32])

    def value(self, r):
        return {n: f.value(r) for n, f, _ in self.members}

    def put(self, bits, value, slots):
        bits.align(alignment(self.json))
        out = {}
        for i, (name, field, of) in enumerate(self.members):
            if of:
                # Its value is what the next member needs: try that one to learn it.
                wanted = []
                self.members[i + 1][1].put(Bits(), value[of], {"put": wanted.append, "pad": slots["pad"]})
                out[name] = field.put(bits, wanted[0] if wanted else 0, slots)
            else:
                out[name] = field.put(bits, value[name], {"put": lambda _: None, "pad": slots["pad"]})
        return out


class Optional:
    needs = "selector-field-location"

    def __init__(self, r, depth=0, **_):
        self.field = make(r, depth + 1, plain=True)
        self.json = {"type": "optional", "field-class": self.field.json, "selector-field-ranges": [[3, 5], [9, 9]]}

    def value(self, r):
        return (r.choice([0, 3, 4, 9, 10]), self.field.value(r))

    def put(self, bits, value, slots):
        slots["put"](value[0])
        return self.field.put(bits, value[1], slots) if value[0] in (3, 4, 9) else None


class Variant:
    needs = "selector-field-location"

    def __init__(self, r, depth=0, **_):
        self.options = [make(r, depth + 1, plain=True) for _ in range(r.randint(1, 3))]
        self.json = {"type": "variant", "options": [
            {"field-class": o.json, "selector-field-ranges": [[10 * i, 10 * i + 4], [10 * i + 7, 10 * i + 7]]}
            for i, o in enumerate(self.options)]}
        if r.random() < .5:
            self.json["options"][0]["name"] = "first"

    def value(self, r):
        i = r.randrange(len(self.options))
        return (10 * i + r.choice([0, 4, 7]), i, self.options[i].value(r))

    def put(self, bits, value, slots):
        slots["put"](value[0])
        return self.options[value[1]].put(bits, value[2], slots)


def make(r, depth, plain=False, path=(), origin=None):
    """@plain: a field that needs no other one."""
    kinds = [Number] * 4 + [Leb128, Real]
    if plain:
        return r.choice(kinds)(r)
    kinds += [Text, Text, Blob]
    if depth < 4:
        kinds += [Array, Optional, Variant]
    kind = r.choice(kinds + ([Struct] if depth < 3 else []))
    return Struct(r, depth, path, origin) if kind is Struct else kind(r, depth=depth) if kind in (Array, Optional, Variant) else kind(r)


def u(size, *roles, align=8):
    out = {"type": "fixed-length-unsigned-integer", "length": size, "byte-order": "little-endian", "alignment": align}
    return {**out, "roles": list(roles)} if roles else out


def members(**fields):
    return {"type": "structure", "member-classes": [{"name": n, "field-class": f} for n, f in fields.items()]}


HEADER = members(number=u(32, "packet-magic-number"), which={"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]},
                 kind=u(8, "data-stream-class-id"), instance={"type": "variable-length-unsigned-integer", "roles": ["data-stream-id"]})
CONTEXT = members(first=u(64, "default-clock-timestamp"), last=u(64, "packet-end-default-clock-timestamp"), used=u(32, "packet-content-length"),
                  whole=u(32, "packet-total-length"), n=u(16, "packet-sequence-number"), gone=u(32, "discarded-event-record-counter-snapshot"),
                  cpu_id=u(32))
# The shapes of event headers that tracers write, and one that needs the general decoder.
HEADERS = {
    "plain": members(a=u(16, "event-record-class-id"), b=u(64, "default-clock-timestamp")),
    "leb": members(t={"type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]},
                   e={"type": "variable-length-unsigned-integer", "roles": ["event-record-class-id"]}),
    "compact": {"type": "structure", "minimum-alignment": 8, "member-classes": [
        {"name": "id", "field-class": {**u(5, "event-record-class-id", align=1), "mappings": {"compact": [[0, 30]], "extended": [[31, 31]]}}},
        {"name": "v", "field-class": {"type": "variant", "selector-field-location": {"path": ["id"]}, "options": [
            {"name": "compact", "selector-field-ranges": [[0, 30]], "field-class": members(timestamp=u(27, "default-clock-timestamp", align=1))},
            {"name": "extended", "selector-field-ranges": [[31, 31]],
             "field-class": members(id=u(32, "event-record-class-id"), timestamp=u(64, "default-clock-timestamp"))}]}}]},
}


def put_header(bits, shape, event, time):
    if shape == "plain":
        bits.align(8)
        bits.put(event, 16)
        bits.put(time, 64)
    elif shape == "leb":
        Leb128.put(Leb, bits, time, None)
        Leb128.put(Leb, bits, event, None)
    else:
        bits.align(8)
        if event % 2:
            bits.put(31, 5)
            bits.align(8)
            bits.put(event, 32)
            bits.put(time, 64)
        else:
            bits.put(event, 5)
            bits.put(time, 27)


class Leb:
    signed = False


def metadata(fragments):
    return "".join("\x1e" + json.dumps(f) + "\n" for f in fragments)


def write(path, seed):
    """A trace of three event classes. Return: what each event holds."""
    r = random.Random(seed)
    shape = r.choice(list(HEADERS))
    context = Struct(r, 2, origin="event-record-common-context")
    classes = [Struct(r, 0) for _ in range(3)]
    fragments = [{"type": "preamble", "version": 2, "uuid": UUID},
                 {"type": "trace-class", "packet-header-field-class": HEADER, "environment": {"hostname": "h", "tracer_major": 3}},
                 {"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch",
                  "offset-from-origin": {"seconds": 1000, "cycles": 7}},
                 {"type": "data-stream-class", "id": 4, "default-clock-class-id": "c", "packet-context-field-class": CONTEXT,
                  "event-record-header-field-class": HEADERS[shape], "event-record-common-context-field-class": context.json}]
    for i, c in enumerate(classes):
        fragments.append({"type": "field-class-alias", "name": f"class {i}", "field-class": c.json})
        fragments.append({"type": "event-record-class", "id": i, "data-stream-class-id": 4, "name": f"e{i}",
                          "payload-field-class": f"class {i}"})
    with open(path + "/metadata", "w", encoding="utf-8") as out:
        out.write(metadata(fragments))
    expected, time, packets = [], 100, b""
    for number in range(2):
        begin, events = time, Bits()
        head = bytes([0xc1, 0x1f, 0xfc, 0xc1] + UUID + [4, 9])
        events.bytes(head + bytes(8 + 8 + 4 + 4 + 2 + 4 + 4))
        for _ in range(EVENTS):
            event = r.randrange(3)
            time += r.randint(0, 1000)
            put_header(events, shape, event, time)
            slots = {"put": lambda _: None, "pad": r.randint(0, 1)}
            in_context = context.put(events, context.value(r), slots)
            expected.append((time + 1000 * 10**9 + 7, f"e{event}", in_context, classes[event].put(events, classes[event].value(r), slots)))
        content = events.pos
        events.align(64)
        raw = bytearray(events.data + bytes(16))
        at = len(head)
        raw[at:at + 34] = struct.pack("<QQIIHII", begin, time, content, len(raw) * 8, number, 0, 5)
        packets += raw
    with open(path + "/stream_0", "wb") as out:
        out.write(packets)
    return expected


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= 1e-9 * abs(a)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and type(a) is type(b)


def random_traces(work):
    for seed in SEEDS:
        path = f"{work}/{seed}"
        os.mkdir(path)
        expected = write(path, seed)
        lines = run(KYMO, "dump", "--format", "json", path).stdout.splitlines()
        if not check(len(lines) == len(expected), f"seed {seed}: {len(lines)} events of {len(expected)}"):
            continue
        for line, (ns, name, context, fields) in zip(lines, expected):
            got = json.loads(line)
            if not check((got["ts_ns"], got["name"], got["host"], got["packet"]) == (ns, name, "h", {"cpu_id": 5}), f"seed {seed}:", line) or \
               not check(same(context, got["context"]), f"seed {seed}: context", context, "is read as", got["context"]) or \
               not check(same(fields, got["fields"]), f"seed {seed}:", name, fields, "is read as", got["fields"]):
                break
        run(KYMO, "dump", path)
        run(KYMO, "events", path)
        run(KYMO, "info", path)


def refused(work):
    path = f"{work}/bad"
    os.mkdir(path)
    pre = {"type": "preamble", "version": 2}
    payload = {"type": "event-record-class", "payload-field-class": None}

    def of(field_class):
        return [pre, {"type": "data-stream-class"}, {**payload, "payload-field-class": field_class}]

    cases = [
        ([{"type": "preamble", "version": 3}], "fragment 1 (preamble): this is CTF 3"),
        ([{"type": "trace-class"}], "the first fragment is not a preamble"),
        ([{**pre, "extensions": {"x.org": {"y": 1}}}], "extension"),
        (of("nothing"), 'no field-class-alias "nothing"'),
        (of(members(a={"type": "fixed-length-unsigned-integer", "length": 8})), '"byte-order" is missing'),
        (of(members(a=u(65))), "65 bits"),
        (of(members(a={**u(8), "alignment": 3})), "power of two"),
        (of(members(a={"type": "dream"})), 'unknown field class "dream"'),
        (of(u(8)), "is not a structure"),
        (of(members(a={"type": "dynamic-length-string", "length-field-location": {"path": ["b"]}}, b=u(8))), "no field in front of it"),
        (of(members(a={"type": "null-terminated-string", "encoding": "ebcdic"})), "encoding"),
        ([pre, {**payload, "data-stream-class-id": 3, "payload-field-class": members()}], "stream 3, which does not exist"),
    ]
    for fragments, wanted in cases:
        with open(path + "/metadata", "w", encoding="utf-8") as out:
            out.write(metadata(fragments))
        why = run(KYMO, "info", path, status=3).stderr
        check(wanted in why and path + "/metadata" in why, "refused with", why, "instead of", wanted)
    deep = "\x1e" + json.dumps(pre) + '\n\x1e{"type":"event-record-class","payload-field-class":' + '{"type":"optional","field-class":' * 3000
    with open(path + "/metadata", "w", encoding="utf-8") as out:
        out.write(deep)
    check("fragment 2" in run(KYMO, "info", path, status=3).stderr, "3000 classes in each other")


with tempfile.TemporaryDirectory() as base:
    random_traces(base)
    refused(base)
