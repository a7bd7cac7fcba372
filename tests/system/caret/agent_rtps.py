#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: network
"""`kymo agent` is sent datagrams that are nearly RTPS, 6000 of them, at each of its ports: it goes on, answers afterwards, and its log has
a few lines. What is sent begins as what the agent itself announces; the same seed makes the same datagrams."""
import os
import random
import socket
import struct
import subprocess
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_hosts import Network, alone
from lib_test import BUILD, until

TALKER = os.path.join(BUILD, 'tests', 'talker')
DATAGRAMS, SEED, LINES = 6000, 19, 8


def parameter(number, value):
    value += b'\0' * (-len(value) % 4)
    return struct.pack('<HH', number, len(value)) + value


def submessage(number, flags, body):
    return struct.pack('<BBH', number, flags, len(body)) + body


def announcement(prefix, reader, writer, address, port):
    """A participant, or an endpoint, that says it is there, and where."""
    guid = prefix + b'\0\0\1\xc1'
    text = lambda s: struct.pack('<I', len(s) + 1) + s + b'\0'
    locator = struct.pack('<iI', 1, port) + b'\0' * 12 + address
    payload = b'\0\3\0\0' + b''.join((
        parameter(0x15, b'\2\1'), parameter(0x16, b'\1\x10'), parameter(0x50, guid), parameter(0x5a, guid), parameter(0x31, locator),
        parameter(0x32, locator), parameter(2, struct.pack('<iI', 10, 0)), parameter(0x58, struct.pack('<I', 0xfff)),
        parameter(5, text(b'rt/caret/start_record')), parameter(7, text(b'caret_msgs::msg::dds_::Start_')),
        parameter(0x2c, struct.pack('<I', 11) + b'enclave=/;'), parameter(0x62, text(b'robot')), parameter(1, b'')))
    data = struct.pack('<HH', 0, 16) + reader + writer + struct.pack('<II', 0, 1) + payload
    return (b'RTPS\2\1\1\x10' + prefix + submessage(9, 1, struct.pack('<II', 1, 0)) + submessage(0x15, 5, data) +
            submessage(7, 1, reader + writer + struct.pack('<IIII', 0, 1, 0, 1) + struct.pack('<I', 1)) +
            submessage(6, 1, reader + writer + struct.pack('<IIIII', 0, 1, 32, 1 << 31, 1)) +
            submessage(8, 1, reader + writer + struct.pack('<IIIIIII', 0, 1, 0, 1, 32, 0, 1)))


def mutants():
    chance = random.Random(SEED)
    entities = [bytes.fromhex(pair) for pair in ('000100c7000100c2', '000003c7000003c2', '000004c7000004c2', '000200c7000200c2')]
    for _ in range(DATAGRAMS):
        pair = chance.choice(entities)
        # Where nobody can send to; there is no way out of this network.
        address = bytes(chance.choice(((127, 0, 0, 1), (0, 0, 0, 0), (255, 255, 255, 255), (240, 0, 0, 1), (203, 0, 113, 5))))
        data = bytearray(announcement(chance.randbytes(12), pair[:4], pair[4:], address, chance.choice((0, 1, 7410, 65535))))
        for _ in range(chance.choice((0, 1, 1, 2, 5, 20))):
            at = chance.randrange(len(data))
            kind = chance.randrange(4)
            if kind == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                data[at:at + 4] = struct.pack('<I', chance.choice((0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffc)))
            elif kind == 2:
                del data[at:at + chance.randrange(1, 40)]
            else:
                data[at:at] = chance.randbytes(chance.randrange(1, 40))
            data = data or bytearray(b'R')
        yield bytes(data[:chance.randrange(len(data)) + 1] if chance.random() < 0.2 else data)


def send(address, ports):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number, datagram in enumerate(mutants()):
            sender.sendto(datagram, (address, int(ports[number % len(ports)])))


def ports_of(pid):
    """The UDP ports that the process has."""
    inodes = {os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')}
    with open(f'/proc/{pid}/net/udp') as rows:
        fields = [row.split() for row in list(rows)[1:]]
    return sorted({str(int(row[1].split(':')[1], 16)) for row in fields if f'socket:[{row[9]}]' in inodes})


def answered(client, pid):
    client.mark()

    def there():
        client.do('end')                # an agent that does not know our reader yet answers into the void
        return pid in {event['pid'] for event in client.since('status')}
    until('an answer', there)


def main():
    with Network(1) as network:
        host = network.hosts[0]
        program = host.start_kymo('run', '--', TALKER, 'talker', '/talk')
        until('the node', lambda: 'ready' in program.output())
        agent = host.start_kymo('agent', '--active', 'always', '-o', host.traces)
        until('the agent', lambda: 'serves' in agent.output())
        client = host.client('shell')
        client.matched('end', 1)
        answered(client, program.pid)
        ports = ports_of(agent.pid)
        assert ports, 'the agent has no port'
        done = subprocess.run([*host.there(), sys.executable, __file__, '--send', host.address, *ports], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert agent.running(), agent.said()
        answered(client, program.pid)
        client.end()
        agent.end()
        lines = agent.said().splitlines()
        assert len(lines) <= LINES, f'{len(lines)} lines: {lines[:5]} ... {lines[-5:]}'
        print(f'{DATAGRAMS} datagrams to ports {", ".join(ports)}: the agent answers, {len(lines)} lines in its log, the last: {lines[-1:]}')


if sys.argv[1:2] == ['--send']:
    send(sys.argv[2], sys.argv[3:])
else:
    alone(__file__)
    main()
