#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""TLS and tokens on the relay's three ports, spoken by another implementation than ours; who has none of it gets nothing."""
import os
import re
import ssl
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import Connection, Producer, Relay, Viewer
from lib_test import KYMO, until

TOKEN = b'0123456789abcdef0123456789abcdef'


def greeting(token):
    return b'KYMO' + struct.pack('>I', len(token)) + token


def shown(token, wrap=None):
    """A wrapper that greets with a token."""
    def greet(plain):
        wrapped = wrap(plain) if wrap else plain
        wrapped.sendall(greeting(token))
        reply = b''
        while len(reply) < 8:
            some = wrapped.recv(8 - len(reply))
            assert some, 'no answer to the token'
            reply += some
        assert reply == b'KYMO' + struct.pack('>I', 1), reply
        return wrapped
    return greet


def over_tls(context):
    return lambda plain: context.wrap_socket(plain, server_hostname='localhost')


def carry(relay, wrap):
    """A session from producer to viewer."""
    relay.wrap = wrap
    producer = Producer(relay).create()
    one, meta = producer.stream('c_0'), producer.stream('metadata')
    producer.sent()
    producer.metadata(meta, b'metadata')
    packet = os.urandom(300000)
    producer.packet(one, packet, 1, 2)
    until('the packet', lambda: producer.pending(one) == 0)
    viewer = Viewer(relay.live, wrap)
    viewer.create()
    assert viewer.attach(viewer.sessions()[0][0])[0] == 1
    index = until('its index', lambda: (index := viewer.next_index(one))[0] == 1 and index)
    assert viewer.packet(one, index[2], len(packet)) == (1, packet)
    producer.close()
    viewer.close()


def refused(port, wrap, first):
    """Whether a connection ends that begins with @first."""
    try:
        connection = Connection(port, wrap)
        connection.send(first)
        data = connection.socket.recv(100)
        assert data in (b'', b'KYMO\0\0\0\2'), data
        return data == b'' or connection.is_closed()
    except OSError:
        return True


def check_tls(files, token_file):
    options = ('--tls-cert', f'{files}/one.pem', '--tls-key', f'{files}/one.key', '--token-file', token_file)
    context = ssl.create_default_context(cafile=f'{files}/one.pem')
    version = struct.pack('>QQIIII', 0, 8, 5, 0, 2, 13)
    with Relay(*options) as relay:
        pin = re.match(r'certificate: --tls-pin ([0-9a-f]{64})', relay.process.stdout.readline() and
                       relay.process.stdout.readline())[1]
        wanted = subprocess.run(['openssl', 'x509', '-in', f'{files}/one.pem', '-noout', '-fingerprint', '-sha256'],
                                capture_output=True, text=True, check=True).stdout
        assert pin == wanted.split('=')[1].strip().replace(':', '').lower(), (pin, wanted)
        carry(relay, shown(TOKEN, over_tls(context)))
        for port in (relay.control, relay.data, relay.live):
            assert refused(port, None, version)                         # no TLS
            assert refused(port, None, greeting(TOKEN))
            assert refused(port, over_tls(context), version)            # no token
            assert refused(port, over_tls(context), greeting(TOKEN[:-1] + b'x'))
            assert refused(port, over_tls(context), greeting(TOKEN + b'x'))
            assert refused(port, over_tls(context), b'KYMO\xff\xff\xff\xff')
        assert 'its token is not this relay' in relay.said()
        assert TOKEN.decode() not in relay.said()
        carry(relay, shown(TOKEN, over_tls(context)))                   # the others were no harm


def check_token_alone(token_file):
    with Relay('--token-file', token_file) as relay:
        carry(relay, shown(TOKEN))
        assert refused(relay.live, None, struct.pack('>QII', 0, 2, 0))
    with Relay() as relay:                                              # one that asks for none takes it
        carry(relay, shown(TOKEN))
        carry(relay, None)


def check_options(files, token_file):
    def status(*options):
        return subprocess.run([KYMO, 'relay', '-o', f'{files}/out', '--control', '0', '--data', '0', '--live', '0', *options],
                              capture_output=True, text=True, timeout=300)
    result = status('--bind', '0.0.0.0')
    assert result.returncode == 2 and '--tls-cert' in result.stderr, result
    assert status('--bind', '0.0.0.0', '--token-file', token_file).returncode == 2
    assert status('--tls-cert', f'{files}/one.pem').returncode == 2
    assert status('--tls-cert', token_file, '--tls-key', f'{files}/one.key').returncode == 3
    os.chmod(token_file, 0o644)
    result = status('--token-file', token_file)
    assert result.returncode == 3 and 'chmod 600' in result.stderr, result


def main():
    with tempfile.TemporaryDirectory(prefix='kymo-tls-') as files:
        if subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days',
                           '30', '-subj', '/CN=relay', '-addext', 'subjectAltName=DNS:localhost', '-keyout', f'{files}/one.key',
                           '-out', f'{files}/one.pem'], capture_output=True).returncode:
            print('skipped: openssl cannot create a certificate')
            return 77
        help_text = subprocess.run([KYMO, 'relay', '--tls-cert', f'{files}/one.pem', '--tls-key', f'{files}/one.key', '--bind', 'x'],
                                   capture_output=True, text=True).stderr
        if 'without OpenSSL' in help_text:
            print('skipped: kymo was built without OpenSSL')
            return 77
        token_file = f'{files}/token'
        with open(os.open(token_file, os.O_CREAT | os.O_WRONLY, 0o600), 'wb') as file:
            file.write(TOKEN + b'\n')
        check_tls(files, token_file)
        check_token_alone(token_file)
        check_options(files, token_file)
    return 0


if __name__ == '__main__':
    sys.exit(main())
