#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kymo record, kymo relay and kymo live over TLS with a token: every event is stored and shown. A recorder without the
token, or that does not trust the certificate, says so, records beside it, and tells at the end what was not sent."""
import os
import socket
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_numbers as lib
import lib_send
from lib_numbers import check
from lib_test import KYMO


def viewer(place, relay, *options):
    """kymo live; its lines go to a file."""
    out = open(place.at('shown'), 'w+')
    process = place.start(KYMO, 'live', '-q', f'nets://localhost:{relay.live}/host/{socket.gethostname()}/robot', *options,
                          stdout=out)
    return process, out


def trusted(place):
    if not lib_send.certificate(place):
        print('skipped: openssl cannot create a certificate')
        sys.exit(77)
    secret = lib_send.token(place, 'token', '0123456789abcdef')
    place.environment['KYMO_SPOOL_DIR'] = place.at('spool')
    access = ('--tls-ca', place.at('cert.pem'), '--token-file', secret)
    with lib_send.KymoRelay('--tls-cert', place.at('cert.pem'), '--tls-key', place.at('key.pem'), '--token-file', secret) as relay:
        url = relay.url('robot', 'nets').replace('127.0.0.1', 'localhost')
        recorder = place.recorder('--relay', url, *access)
        relay.until_session('robot')
        shown, out = viewer(place, relay, *access)
        program = place.numbers(rate=2000)
        lib.wait_for('events at the viewer', lambda: os.stat(place.at('shown')).st_size > 10000)
        lib.end_well(program)
        lib.end_well(recorder)
        check(shown.wait(300) == 0, 'the viewer ended with %s', shown.returncode)
        found, lost = lib_send.complete(relay.stored('robot'))
        out.seek(0)
        check(lib.numbers_in(out.read()) == found, 'the viewer has not shown what is stored')
        print(f'{sum(map(len, found))} events over TLS, {lost} lost')

        # Others are told why, and their own trace is whole.
        for options, reason in (((*access[:2], '--token-file', lib_send.token(place, 'other', 'fedcba9876543210')), 'token'),
                                (('--token-file', secret), 'certificate')):
            local = place.at('local-' + reason)
            recorder = place.recorder('--relay', url, '-o', local, '--linger', '1s', '--strict', *options)
            program = place.numbers(2000, 'noted-' + reason)
            lib.end_well(program)
            status, said = lib.end(recorder)
            check(status == 4 and reason in said and 'not known to have stored' in said, '%s: %d, %s', reason, status, said)
            check(any(lib.babeltrace(local)[0]), 'nothing was recorded beside')
        check(len(relay.stored('robot')) == 1, 'somebody else has sent, too')


lib.main('send_tls.py', trusted)
