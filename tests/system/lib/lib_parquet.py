# SPDX-License-Identifier: Apache-2.0
"""A small reader of Parquet files, written from the format's description, independent of kymo's writer.

    columns, rows, groups = read("messages.parquet")

columns are names; a row is a tuple of int, float, bool, str, list or None; a group is a dictionary with the number of
rows and, for each column, {"min": ..., "max": ..., "nulls": ...}. It reads what a flat table with lists may have: pages
of version 1, plain values and dictionaries, zstd or nothing. Everything else is an error, and so is a byte too many.
"""
import ctypes
import struct

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unzstd(data, size):
    out = ctypes.create_string_buffer(size or 1)
    assert _zstd.ZSTD_decompress(out, size, data, len(data)) == size, "zstd"
    return out.raw[:size]


class Thrift:
    """The compact protocol: a struct becomes {field number: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("b", bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, f"Thrift type {kind}"
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while (head := self.byte()):
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)
        return fields


def runs(data, width, count):
    """Numbers of the hybrid of repetitions and bit-packed groups. Return: they, and the bytes used."""
    thrift, numbers, size = Thrift(data), [], (width + 7) // 8
    while len(numbers) < count:
        head = thrift.varint()
        if head & 1:
            used = (head >> 1) * width
            bits = int.from_bytes(data[thrift.at:thrift.at + used], "little")
            assert len(data) >= thrift.at + used
            numbers += [bits >> i * width & (1 << width) - 1 for i in range((head >> 1) * 8)]
            thrift.at += used
        else:
            assert head >> 1, "an empty run"
            numbers += [int.from_bytes(data[thrift.at:thrift.at + size], "little")] * (head >> 1)
            thrift.at += size
    return numbers[:count], thrift.at


BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6


def plain(data, kind, count, unsigned):
    if kind == BOOLEAN:
        assert len(data) == (count + 7) // 8
        return [bool(data[i // 8] >> i % 8 & 1) for i in range(count)]
    if kind in (INT64, DOUBLE):
        assert len(data) == 8 * count, (len(data), count)
        return list(struct.unpack(f"<{count}{'d' if kind == DOUBLE else 'Q' if unsigned else 'q'}", data))
    values, at = [], 0
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        values.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    assert at == len(data)
    return values


def levels(data, at, count):
    size, = struct.unpack_from("<I", data, at)
    numbers, used = runs(data[at + 4:at + 4 + size], 1, count)
    assert used == size
    return numbers, at + 4 + size


def page(data, head, kind, unsigned, optional, is_list, dictionary):
    """Return: a value, or None, or a list, for each row."""
    count, encoding = head[1], head[2]
    at, repetition, definition = 0, [0] * count, [1] * count
    if is_list:
        repetition, at = levels(data, at, count)
    if optional or is_list:
        definition, at = levels(data, at, count)
    present = sum(definition)
    if encoding == 8:
        numbers, used = runs(data[at + 1:], data[at], present)
        assert at + 1 + used == len(data)
        values = [dictionary[number] for number in numbers]
    else:
        assert encoding == 0, encoding
        values = plain(data[at:], kind, present, unsigned)
    values, rows = iter(values), []
    for again, defined in zip(repetition, definition):
        if not is_list:
            rows.append(next(values) if defined else None)
        elif again:
            rows[-1].append(next(values))
        else:
            rows.append([next(values)] if defined else [])
    return rows


def chunk(data, meta, schema):
    """All rows of a column of a group."""
    at = meta.get(11, meta[9])
    end, rows, dictionary, raw, values = at + meta[7], [], None, 0, 0
    while at < end:
        thrift = Thrift(data, at)
        head = thrift.struct()
        body = data[thrift.at:thrift.at + head[3]]
        body = unzstd(body, head[2]) if meta[4] == 6 else body
        raw += thrift.at - at + head[2]
        at = thrift.at + head[3]
        if head[1] == 2:
            dictionary = plain(body, meta[1], head[7][1], schema["unsigned"])
        else:
            rows += page(body, head[5], meta[1], schema["unsigned"], schema["optional"], schema["list"], dictionary)
            values += head[5][1]
    assert at == end and raw == meta[6] and values == meta[5], (at, end, raw, meta, values)
    return rows


def schema_of(elements):
    columns, at = [], 1
    while at < len(elements):
        element = elements[at]
        is_list = element.get(5) == 1
        leaf = elements[at + 2] if is_list else element
        columns.append({"name": element[4].decode(), "list": is_list, "kind": leaf[1],
                        "unsigned": leaf.get(6) == 14, "optional": element.get(3) == 1})
        at += 3 if is_list else 1
    assert len(columns) == elements[0][5]
    return columns


def bounds(meta, schema):
    statistics = meta.get(12, {})
    value = {"nulls": statistics.get(3)}
    for key, field in (("max", 5), ("min", 6)):
        data = statistics.get(field)
        if data is not None:
            value[key] = data.decode() if schema["kind"] == BYTE_ARRAY else \
                plain(data, schema["kind"], 1, schema["unsigned"])[0]
    return value


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] == data[-4:] == b"PAR1", "magic"
    size, = struct.unpack("<I", data[-8:-4])
    thrift = Thrift(data, len(data) - 8 - size)
    footer = thrift.struct()
    assert thrift.at == len(data) - 8, "the description's size"
    columns, rows, groups, end = schema_of(footer[2]), [], [], 4
    for group in footer[4]:
        assert group[5] == end, "groups follow each other"
        parts = []
        for schema, column in zip(columns, group[1]):
            meta = column[3]
            assert column[2] == end == meta.get(11, meta[9]) and meta[3][0].decode() == schema["name"]
            parts.append(chunk(data, meta, schema))
            assert len(parts[-1]) == group[3], (schema["name"], len(parts[-1]), group[3])
            end += meta[7]
        assert group[6] == end - group[5]
        rows += zip(*parts)
        groups.append({"rows": group[3], **{s["name"]: bounds(c[3], s) for s, c in zip(columns, group[1])}})
    assert len(rows) == footer[3] and end == len(data) - 8 - size
    return [schema["name"] for schema in columns], rows, groups
