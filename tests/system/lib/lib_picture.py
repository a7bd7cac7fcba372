# SPDX-License-Identifier: Apache-2.0
"""Pictures of pages, compared with kept ones: small ones without letters, so that other fonts and other smoothing of edges change
little, and a chart, a panel or a colour that is missing changes much."""
import base64
import struct
import zlib

WIDTH, HEIGHT = 1280, 1120
SHRUNK, STEP = 1 / 4, 4		# by Chromium, and then here: a spot is 16 by 16 pixels
FAR = 16			# of 255: a spot that differs by more than this in a colour is another one
MOST_FAR = 0.01			# share of such spots in the picture,
TILE = 8			# and in each tile of so many spots a side: a chart that is missing is a small part of a picture
MOST_FAR_TILE = 0.08


def taken(browser):
    """Return: what Chromium shows, as PNG."""
    browser.value("document.getElementById('no-letters') || (document.head.append(el('style', { id: 'no-letters' }, '* { color: transparent !important; } "
                  "svg text { fill: transparent !important; }')), 1)")
    browser.ask("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))")
    shown = browser.ask("Page.captureScreenshot", format="png", clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SHRUNK})
    browser.ask("Emulation.clearDeviceMetricsOverride")
    return small(*pixels(base64.b64decode(shown["data"])))


def pixels(png):
    """Return: width, and rows of (red, green, blue) as bytes, of a PNG with 8 bits a channel."""
    at, packed, width, channels = 8, b"", 0, 3
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack_from(">IIBB", body)
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    return width, unfiltered(zlib.decompress(packed), width * channels, channels), channels


def unfiltered(data, stride, channels):
    rows, before = [], bytes(stride)
    for start in range(0, len(data), stride + 1):
        kind, row = data[start], bytearray(data[start + 1:start + 1 + stride])
        if kind == 2:
            row = bytearray(map(lambda a, b: a + b & 255, row, before))
        elif kind:
            for i in range(stride):
                left, up, corner = (row[i - channels], before[i], before[i - channels]) if i >= channels else (0, before[i], 0)
                row[i] = row[i] + (left if kind == 1 else (left + up) // 2 if kind == 3 else paeth(left, up, corner)) & 255
        rows.append(bytes(row))
        before = row
    return rows


def paeth(left, up, corner):
    near = left + up - corner
    a, b, c = abs(near - left), abs(near - up), abs(near - corner)
    return left if a <= b and a <= c else up if b <= c else corner


def small(width, rows, channels):
    """Return: a picture of one spot for each square of STEP pixels: its mean colours, as rows of bytes."""
    step, out = STEP, []
    for top in range(0, len(rows) - step + 1, step):
        line = bytearray()
        for left in range(0, width - step + 1, step):
            for channel in range(3):
                cut = slice(left * channels + channel, (left + step) * channels, channels)
                line.append(sum(sum(row[cut]) for row in rows[top:top + step]) // (step * step))
        out.append(bytes(line))
    return out


def write(path, picture):
    """Write rows of bytes as PNG."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(picture[0]) // 3, len(picture), 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in picture), 9)) + chunk(b"IEND", b""))


def read(path):
    with open(path, "rb") as file:
        return pixels(file.read())[1]


def shares_far(one, other):
    """Return: the share of spots of two pictures that differ, and that of the tile with the most; 1, 1: they have other sizes. A row
    may be a spot higher or lower: the nearest of three is compared, from each picture to the other."""
    if [len(row) for row in one] != [len(row) for row in other]:
        return 1, 1
    return tuple(max(shares) for shares in zip(far_from(one, other), far_from(other, one)))


def far_from(one, other):
    far, tiles, width = 0, {}, len(one[0]) // 3
    for y, row in enumerate(one):
        near = [other[k] for k in (y - 1, y, y + 1) if 0 <= k < len(other)]
        for x in range(width):
            is_far = all(max(abs(row[3 * x + c] - line[3 * x + c]) for c in range(3)) > FAR for line in near)
            far += is_far
            tile = (y // TILE, x // TILE)
            tiles[tile] = tiles.get(tile, 0) + is_far
    return far / (width * len(one)), max(tiles.values()) / TILE ** 2
