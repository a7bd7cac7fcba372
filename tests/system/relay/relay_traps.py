#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: long
"""What a relay can get wrong: one test each, by a producer and a viewer that are written from the protocol's layouts.
The numbers are those of the list that the project keeps of such traps (docs/network/relay.md)."""
import glob
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_relay import (CREATE_CHUNK, DATA_PENDING, END_PENDING, ERR, GET_CONFIGURATION, HUP, INACTIVE,
                       INDEX_OK, NEW_METADATA, NEW_STREAM, OK, RESET_METADATA, RETRY, VERSION, CHUNK_EXISTS, Connection,
                       Producer, Relay, StoppedDisk, Viewer)
from lib_test import until

RUN = []


def test(function):
    RUN.append(function)
    return function


def with_stopped_disk(function):
    function.stopped_disk = True
    return test(function)


def stored(relay, pattern):
    found = glob.glob(os.path.join(relay.output, '**', pattern), recursive=True)
    assert len(found) == 1, (pattern, found)
    return open(found[0], 'rb').read()


def done(producer, stream):
    """Waits until what was sent of it is stored."""
    until('what is pending', lambda: producer.pending(stream) == 0)


def live(relay, **kwargs):
    """A session with a data stream and metadata that were announced."""
    producer = Producer(relay, **kwargs).create()
    producer.one, producer.meta = producer.stream('c_0'), producer.stream('metadata')
    producer.sent()
    producer.metadata(producer.meta, b'metadata')
    return producer


def watch(relay, session=None):
    viewer = Viewer(relay.live)
    viewer.create()
    viewer.session = session or viewer.sessions()[0][0]
    status, streams = viewer.attach(viewer.session)
    assert status == 1, status
    viewer.ids = {channel: stream for stream, _, _, _, channel in streams}
    return viewer


def learn(viewer, producer, wanted=b'metadata'):
    """The viewer has the metadata; without them it is told little."""
    got = b''
    while len(got) < len(wanted):
        got += until('metadata', lambda: viewer.metadata(producer.meta)[1])
    assert got == wanted, got


def given(viewer, stream, wanted):
    """Asks for the next index until it has status @wanted."""
    return until(f'status {wanted}', lambda: (index := viewer.next_index(stream))[0] == wanted and index)


def with_late_stream(relay):
    """A viewer was told that it is 1000; then a stream comes, and for the other one it is 5000."""
    producer = live(relay)
    viewer = watch(relay)
    learn(viewer, producer)
    producer.beacon(producer.one, 1000)
    assert given(viewer, producer.one, INACTIVE)[6] == 1000
    late = producer.stream('c_1')
    producer.sent()
    producer.beacon(producer.one, 5000)
    return producer, viewer, late


# ---- what comes from producers ----

@test
def t1_t2_success_is_10_and_metadata_have_no_reply(relay):
    producer = live(relay)
    producer.metadata(producer.meta, b' and more')
    assert producer.pending(producer.meta, -1) in (0, 1)
    done(producer, producer.meta)
    producer.sent()                     # the next reply is that of the next request
    assert stored(relay, 'metadata') == b'metadata and more'


@test
def metadata_that_was_cut_off_can_be_parsed(relay):
    """kymo's recorder ended within a piece of metadata: what is stored ends before it, once the session is over."""
    whole, half = b'trace { major = 1; };\nstream { id = 0; };\n', b'event { id = 1; stream_id = 0; fields := struct {'
    for number, ends in enumerate((False, True)):
        producer = Producer(relay)
        ret, _ = struct.unpack('>IQ', producer.ask(GET_CONFIGURATION, struct.pack('>Q', 0x4b594d4f), 12))
        assert ret == OK, ret
        producer.create(name=f'cut{number}')
        producer.one, producer.meta = producer.stream('c_0'), producer.stream('metadata')
        producer.sent()
        for piece in whole, half:
            producer.metadata(producer.meta, piece)
        done(producer, producer.meta)
        path, = glob.glob(os.path.join(relay.output, producer.path or '**', '**', 'metadata'), recursive=True)
        assert os.path.getsize(path) == len(whole + half), path
        viewer = watch(relay, producer.session)
        if ends:        # in order: then it is all of it, whatever it is
            for stream in producer.one, producer.meta:
                producer.close_stream(stream)
        producer.close()
        until('the end of the session', lambda: viewer.new_streams(producer.session)[0] == 4)
        wanted = whole + half if ends else whole
        until('metadata', lambda: open(path, 'rb').read() == wanted)


@test
def t3_the_smaller_version_holds(relay):
    producer = Producer.__new__(Producer)
    producer.control, producer.seq = Connection(relay.control), {}
    assert struct.unpack('>II', producer.ask(VERSION, struct.pack('>II', 2, 4), 8)) == (2, 15)
    producer.minor = 4
    producer.create()                   # with the layout of 2.4
    producer.stream('c_0')
    for version in ((1, 13), (3, 0), (2, 3)):
        other = Connection(relay.control)
        other.send(struct.pack('>QQIIII', 0, 8, VERSION, 0, *version))
        assert struct.unpack('>II', other.read(8)) == (2, 15)
        assert other.is_closed()


@test
def t4_halves_come_in_any_order(relay):
    producer = live(relay)
    viewer = watch(relay)
    producer.send_index(producer.one, b'first', 100, 200)
    producer.send_index(producer.one, b'second', 200, 300, seq=1)
    producer.send_data(producer.one, b'first')
    producer.send_data(producer.one, b'second', seq=1)
    producer.send_data(producer.one, b'third', seq=2)
    producer.send_index(producer.one, b'third', 300, 400, seq=2)
    producer.seq[producer.one] = 3
    done(producer, producer.one)
    assert stored(relay, 'c_0') == b'firstsecondthird'
    got = [given(viewer, producer.one, INDEX_OK)[2:4] for _ in range(3)]
    assert sorted(got) == [(0, 40), (5, 48), (11, 40)], got


@test
def t5_rotation_has_three_layouts(relay):
    producer = live(relay)
    for chunk, padding in enumerate((0, 3, 7), 1):
        producer.chunk(chunk)
        assert producer.rotate([(producer.one, 0), (producer.meta, 0)], chunk, padding) == OK
        assert producer.close_chunk(chunk - 1)[0] == OK
    assert producer.rotate([(producer.one, 0)], 3, padding=5) != OK
    assert producer.control.is_closed()


@test
def t6_t7_closing_a_chunk(relay):
    producer = live(relay)
    ret, path = producer.close_chunk(0)
    assert ret == OK and path == producer.path
    reply = producer.ask(CHUNK_EXISTS, struct.pack('>Q', 0), 5)
    assert struct.unpack('>IB', reply) == (OK, 0)
    producer.chunk(1)
    assert struct.unpack('>IB', producer.ask(CHUNK_EXISTS, struct.pack('>Q', 1), 5)) == (OK, 1)
    assert producer.close_chunk(7)[0] == 152
    assert producer.control.is_closed()


@test
def t8_t9_pending_is_true(relay):
    producer = live(relay)
    assert producer.pending(producer.one, -1) == 0      # nothing was sent
    producer.send_index(producer.one, b'bytes', 1, 2)
    assert producer.pending(producer.one, 0) == 1
    assert producer.ret(END_PENDING, struct.pack('>Q', producer.session)) == 1
    producer.send_data(producer.one, b'bytes')
    until('nothing pending', lambda: producer.pending(producer.one, 0) == 0)
    until('nothing pending', lambda: producer.ret(END_PENDING, struct.pack('>Q', producer.session)) == 0)
    assert stored(relay, 'c_0') == b'bytes'
    assert producer.pending(producer.one, 1) == 1
    assert producer.ret(DATA_PENDING, struct.pack('>QQ', 999999, 0)) == 0xffffffff
    assert producer.control.is_closed()


@test
def t10_metadata_that_come_again_are_not_sent_again(relay):
    producer = live(relay)
    done(producer, producer.meta)
    viewer = watch(relay)
    assert viewer.metadata(producer.meta) == (1, b'metadata')
    producer.chunk(1)
    producer.rotate([(producer.one, 0), (producer.meta, 0)], 1)
    producer.close_chunk(0, command=2)
    producer.metadata(producer.meta, b'metadata')
    done(producer, producer.meta)
    assert viewer.metadata(producer.meta) == (2, b'')
    producer.metadata(producer.meta, b' with more')
    assert until('more', lambda: viewer.metadata(producer.meta)[1]) == b' with more'
    assert stored(relay, 'metadata') == b'metadata with more'


@test
def t11_beacons_come_at_any_time(relay):
    producer = live(relay)
    producer.beacon(producer.one, 500)                  # no packet yet
    producer.rotate([(producer.one, 0), (producer.meta, 0)])
    producer.beacon(producer.one, 600)
    producer.close_chunk(0)
    producer.beacon(producer.one, 700)
    viewer = watch(relay)
    learn(viewer, producer)
    assert given(viewer, producer.one, INACTIVE)[6] == 700


@test
def t12_an_index_behind_the_end_of_the_metadata(relay):
    producer = live(relay)
    viewer = watch(relay)
    producer.close_stream(producer.meta)
    producer.packet(producer.one, b'last', 1, 2)
    producer.close_stream(producer.one)
    given(viewer, producer.one, INDEX_OK)
    given(viewer, producer.one, HUP)


@test
def t13_packets_are_not_counted_by_their_own_numbers(relay):
    producer = live(relay)
    producer.packet(producer.one, b'a', 1, 2, number=5)
    producer.packet(producer.one, b'b', 2, 3, number=9)
    done(producer, producer.one)
    entries = stored(relay, 'c_0.idx')
    assert [struct.unpack('>Q', entries[at + 64:at + 72])[0] for at in (16, 88)] == [5, 9]


@test
def t14_metadata_are_reset(relay):
    producer = Producer(relay).create(live_timer=0)
    meta = producer.stream('metadata')
    producer.metadata(meta, b'one')
    producer.metadata(meta, b'two')
    producer.good(RESET_METADATA, struct.pack('>QQ', meta, 1))
    producer.metadata(meta, b'whole', padding=3)
    done(producer, meta)
    assert stored(relay, 'metadata') == b'whole\0\0\0'


@test
def metadata_begins_again_after_a_full_disk(relay):
    producer = Producer(relay).create()
    meta = producer.stream('metadata')
    before = resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE, (4, before[1]))
    producer.metadata(meta, b'too long')
    done(producer, meta)
    assert stored(relay, 'metadata') == b''
    resource.prlimit(relay.process.pid, resource.RLIMIT_FSIZE, before)
    producer.good(RESET_METADATA, struct.pack('>QQ', meta, 1))
    producer.metadata(meta, b'whole')
    done(producer, meta)
    assert stored(relay, 'metadata') == b'whole'


@test
def t15_t16_sessions_that_are_not_live(relay):
    producer = Producer(relay).create(live_timer=0)
    one, meta = producer.stream('c_0'), producer.stream('metadata')
    producer.packet(one, b'early', 1, 2)
    producer.metadata(meta, b'late')
    done(producer, one)
    viewer = Viewer(relay.live)
    viewer.create()
    assert viewer.attach(producer.session) == (4, [])   # not live
    producer.close()
    until('the end', lambda: viewer.attach(producer.session)[0] == 1)
    snapshot = Producer(relay).create(name='snap', snapshot=1, live_timer=0)
    one, meta = snapshot.stream('s_0'), snapshot.stream('metadata')
    snapshot.send_data(one, b'no index', padding=4)
    snapshot.close_stream(one, 0)
    snapshot.metadata(meta, b'metadata')
    snapshot.close_stream(meta)
    done(snapshot, one)
    assert stored(relay, 's_0') == b'no index\0\0\0\0'


@test
def t17_padding_is_zeros(relay):
    producer = live(relay)
    producer.packet(producer.one, b'abc', 1, 2, padding=5000)
    done(producer, producer.one)
    assert stored(relay, 'c_0') == b'abc' + bytes(5000)


@test
def t18_no_path_leaves_the_directory(relay):
    producer = Producer(relay).create()
    for path in ('../../x', 'ust/../../x', '..', 'a//../b', '', '/', 'a/./b', 'x/' + 300 * 'y'):
        assert producer.try_stream('c_0', path)[1] == 11, path
    for channel in ('../x', 'a/b', '..', '.', ''):
        assert producer.try_stream(channel)[1] == 11, channel
    assert producer.try_stream('c_0', '/ust//uid/')[1] == OK
    for name, host, base in (('../x', 'h', ''), ('x', '../h', ''), ('x', 'h', '../../b'), ('..', '..', '')):
        other = Producer(relay)
        try:
            other.create(name, host, base=base)
            raise SystemExit(f'{name}, {host}, {base} was taken')
        except (AssertionError, EOFError) as error:
            assert '25' in str(error), error
    snapshot = Producer(relay).create(name='chunks')
    assert snapshot.close_chunk(0)[0] == OK
    assert snapshot.ret(CREATE_CHUNK, struct.pack('>QQI', 1, 1, 9) + b'../../xx\0') == 97
    assert sorted(os.listdir(relay.dir)) == ['log', 'traces']


@test
def t20_a_half_that_stays_alone_expires(relay):
    producer = live(relay)
    producer.send_index(producer.one, b'never comes', 100, 200)
    producer.seq[producer.one] = 1
    producer.packet(producer.one, b'comes', 200, 300)
    until('the loss', lambda: 'lost on the way' in relay.said())
    done(producer, producer.one)
    lost = stored(relay, 'c_0.lost')
    assert struct.unpack('>Q', lost[16:24])[0] == 2**64 - 1 and len(lost) == 16 + 72
    producer.beacon(producer.one, 900)
    viewer = watch(relay)
    learn(viewer, producer)
    assert given(viewer, producer.one, INDEX_OK)[5:7] == (200, 300)
    assert given(viewer, producer.one, INACTIVE)[6] == 900


@test
def t20_a_packet_on_a_slow_network_does_not_expire(relay):
    """Its index was there first, and its bytes take longer than a half waits (EXPIRE)."""
    producer = live(relay)
    packet = os.urandom(20)
    producer.send_index(producer.one, packet, 100, 200)
    producer.data.send(struct.pack('>QQQII', 0, producer.one, 0, len(packet), 0))
    for at in range(len(packet)):
        time.sleep(0.3)
        producer.data.send(packet[at:at + 1])
    producer.seq[producer.one] = 1
    done(producer, producer.one)
    assert stored(relay, 'c_0') == packet and 'lost on the way' not in relay.said(), relay.said()


@test
def t21_files_in_turn(relay):
    producer = Producer(relay).create()
    one, meta = producer.stream('c_0', file_size=10, file_count=2), producer.stream('metadata')
    producer.sent()
    producer.metadata(meta, b'm')
    producer.packet(one, b'1111', 1, 2)
    viewer = watch(relay)
    index = given(viewer, one, INDEX_OK)
    for i, packet in enumerate((b'2222', b'3333', b'4444', b'5555', b'6666'), 2):
        producer.packet(one, packet, i, i + 1)
    done(producer, one)
    assert stored(relay, 'c_0_0') == b'55556666' and stored(relay, 'c_0_1') == b'33334444'
    assert viewer.packet(one, index[2], 4) == (1, b'1111')      # it was told of it before
    seen = []
    while (index := viewer.next_index(one))[0] == INDEX_OK:
        seen.append(viewer.packet(one, index[2], index[3] // 8)[1])
    assert seen == [b'3333', b'4444', b'5555', b'6666'], seen


@test
def t22_a_producer_that_vanishes(relay):
    producer = live(relay)
    viewer = watch(relay)
    producer.packet(producer.one, b'whole', 1, 2)
    producer.send_data(producer.one, b'no index', seq=1)
    producer.data.send(struct.pack('>QQQII', 0, producer.one, 2, 100, 0) + b'torn')
    given(viewer, producer.one, INDEX_OK)
    producer.close()
    given(viewer, producer.one, HUP)
    assert len(stored(relay, 'c_0.idx')) == 16 + 72
    until('the torn packet to go', lambda: stored(relay, 'c_0') == b'wholeno index')


@test
def t22_a_packet_whose_producer_was_killed_before_its_index(relay):
    """What is stored is shown, too: the packet's head says what the index would have said."""
    def packet(number, begin, end, magic=0xc1fc1fc1, size=100):
        return struct.pack('<I16sI7QI', magic, bytes(16), 0, 0, begin, end, 8 * 100, 8 * size, number, 0, 0) + bytes(16)
    producer = live(relay)
    viewer = watch(relay)
    learn(viewer, producer)
    producer.packet(producer.one, packet(0, 100, 200), 100, 200)
    producer.send_data(producer.one, packet(1, 200, 300), seq=1)
    producer.send_data(producer.one, packet(2, 300, 400, magic=1), seq=2)       # is not LTTng's
    producer.send_data(producer.one, packet(3, 400, 500, size=101), seq=3)      # says another size
    producer.send_data(producer.one, packet(4, 500, 600), seq=4)
    given(viewer, producer.one, INDEX_OK)
    until('five packets', lambda: len(stored(relay, 'c_0')) == 500)
    producer.close()
    for i, begin in ((1, 200), (4, 500)):
        index = given(viewer, producer.one, INDEX_OK)
        assert index[2:8] == (100 * i, 800, 800, begin, begin + 100, 0), index
        assert viewer.packet(producer.one, index[2], 100) == (1, packet(i, begin, begin + 100))
    given(viewer, producer.one, HUP)
    assert len(stored(relay, 'c_0.idx')) == 16 + 3 * 72


@test
def a_relay_that_begins_again_writes_over_no_session(relay):
    """The second session has the same name and was created within the same second."""
    paths = []
    for packet in b'first', b'second', b'third':
        producer = live(relay)
        producer.packet(producer.one, packet, 1, 2)
        done(producer, producer.one)
        paths.append(producer.path)
        producer.close()
        relay.kill()
        relay.again()
    assert paths == [paths[0], paths[0] + '-2', paths[0] + '-3'], paths
    for path, packet in zip(paths, (b'first', b'second', b'third')):
        assert stored(relay, path + '/**/c_0') == packet, path


@with_stopped_disk
def t19_a_disk_that_does_not_answer_holds_up_packets_only(relay, disk):
    producer = live(relay)
    producer.packet(producer.one, b'before', 1, 2)
    done(producer, producer.one)
    disk.stop()
    # More than the relay keeps for the disk (64 MiB) and what sockets hold (up to tcp_rmem, often 32 MiB): the last packets
    # wait on the way.
    many = 160
    block = os.urandom(1 << 20)
    sender = threading.Thread(target=lambda: [producer.send_data(producer.one, block, seq=1 + i) for i in range(many)])
    sender.start()
    producer.metadata(producer.meta, b' and more')
    for i in range(many):
        producer.send_index(producer.one, block, 2 + i, 3 + i, seq=1 + i)
    assert producer.pending(producer.one, many) == 1
    producer.stream('late_0')
    producer.sent()
    producer.beacon(producer.one, 5000)
    producer.chunk(1)
    assert producer.rotate([(producer.one, many + 1)], 1) == OK
    assert producer.close_chunk(0, command=0)[0] == OK
    assert producer.ret(END_PENDING, struct.pack('>Q', producer.session)) == 1
    other = Producer(relay).create(name='other')
    other.packet(other.stream('c_0'), b'waits', 1, 2)
    viewer = watch(relay, producer.session)
    assert given(viewer, producer.one, INDEX_OK)[5:7] == (1, 2)
    assert viewer.next_index(producer.one)[0] == RETRY  # nothing is shown that is not in its file
    assert sender.is_alive()
    time.sleep(3.5)     # longer than half a packet waits for the other half (EXPIRE), and a second until the relay looks
    disk.go_on()
    sender.join()
    until('what is pending', lambda: producer.pending(producer.one, many) == 0)
    assert stored(relay, 'archives/**/c_0') == b'before' + many * block


@with_stopped_disk
def a_name_that_the_disk_does_not_look_up_holds_up_its_producer_only(relay, disk):
    producer = live(relay)
    viewer = watch(relay, producer.session)
    until('the directory of its host', lambda: os.path.isdir(os.path.join(relay.output, 'robot')))     # else nothing is looked up
    open(disk.looks, 'w').close()
    waits, leaves, paths = Producer(relay), Producer(relay), []
    asks = threading.Thread(target=lambda: paths.append(waits.create(name='late').path))
    asks.start()
    leaves.create_without_answer('late')
    until('the question to the disk', lambda: os.path.exists(disk.looks + '.reached'))
    leaves.close()
    for i in range(3):
        producer.packet(producer.one, b'goes on', 1 + i, 2 + i)
        done(producer, producer.one)
        assert given(viewer, producer.one, INDEX_OK)[5:7] == (1 + i, 2 + i)
    assert [session[-1] for session in viewer.sessions()] == ['session']
    os.unlink(disk.looks)
    asks.join(300)
    assert paths and os.path.basename(paths[0]).startswith('late-'), paths
    until('two sessions', lambda: len(viewer.sessions()) == 2)


@with_stopped_disk
def a_relay_that_ends_waits_for_the_look_at_the_disk(relay, disk):
    producer, waits = live(relay), Producer(relay)
    until('the directory of its host', lambda: os.path.isdir(os.path.join(relay.output, 'robot')))
    open(disk.looks, 'w').close()
    waits.create_without_answer('late')
    until('the question to the disk', lambda: os.path.exists(disk.looks + '.reached'))
    relay.process.send_signal(signal.SIGTERM)
    until('that it listens no more', lambda: socket.socket().connect_ex((relay.host, relay.control)) != 0)
    os.unlink(disk.looks)
    assert relay.process.wait(300) == 0, relay.said()
    assert waits.control.is_closed() and producer.control.is_closed()


# ---- what viewers get ----

@test
def t23_t24_metadata(relay):
    producer = live(relay)
    producer.packet(producer.one, b'p', 1, 2)
    done(producer, producer.one)
    viewer = watch(relay)
    index = given(viewer, producer.one, INDEX_OK)       # which waits for metadata to be stored
    assert index[1] & NEW_METADATA
    assert viewer.metadata(producer.meta) == (1, b'metadata')
    assert viewer.metadata(producer.meta) == (2, b'')
    assert not viewer.next_index(producer.one)[1] & NEW_METADATA
    assert viewer.metadata(producer.one)[0] == 3 and viewer.metadata(12345)[0] == 3
    producer.metadata(producer.meta, b' more')
    until('the flag', lambda: viewer.next_index(producer.one)[1] & NEW_METADATA)
    assert viewer.metadata(producer.meta) == (1, b' more')


@test
def t24_metadata_are_given_when_they_can_be_understood(relay):
    """LTTng brings them in pieces: the clock, events, then their streams. babeltrace2 ends when it is given less than all."""
    producer = Producer(relay).create()
    one, meta = producer.stream('c_0'), producer.stream('metadata')
    producer.sent()
    viewer = watch(relay)

    def write(text):
        producer.metadata(meta, text)
        until('that it is written', lambda: producer.pending(meta, -1) == 0)

    write(b'trace { };\nclock { };\n')
    producer.packet(one, b'p', 100, 200)
    producer.beacon(one, 300)
    done(producer, one)
    assert viewer.metadata(meta) == (2, b'') and viewer.next_index(one)[:2] == (RETRY, 0)   # without a clock there is no time
    write(b'event { stream_id = 1; };\n')
    assert viewer.metadata(meta) == (2, b'')
    write(b'stream { id = 1; };\n')
    assert viewer.metadata(meta) == (1, b'trace { };\nclock { };\nevent { stream_id = 1; };\nstream { id = 1; };\n')
    assert viewer.next_index(one)[0] == RETRY       # it is of stream 0, and not silent
    write(b'stream { id = 0; };\n')
    status, flags, *entry = viewer.next_index(one)
    assert (status, flags, entry[3:5]) == (INDEX_OK, NEW_METADATA, [100, 200]), (status, flags, entry)
    assert viewer.metadata(meta) == (1, b'stream { id = 0; };\n')
    write(b'event { stream_id = 2; };\n')
    assert viewer.metadata(meta) == (2, b'')
    producer.close_stream(meta)                     # nothing more comes: this is all
    assert viewer.metadata(meta) == (1, b'event { stream_id = 2; };\n')


@test
def t25_t27_new_streams_are_told_until_they_are_heard_of(relay):
    producer, viewer, late = with_late_stream(relay)
    # Time stands still: the new stream may have events between 1000 and 5000.
    for _ in range(3):
        status, flags, *entry = viewer.next_index(producer.one)
        assert status == INACTIVE and entry[4] == 1000 and flags & NEW_STREAM, (status, flags, entry)
    producer.packet(producer.one, b'p', 5000, 6000)
    assert given(viewer, producer.one, INDEX_OK)[1] & NEW_STREAM
    status, streams = viewer.new_streams(viewer.session)
    assert status == 1 and [stream for stream, *_ in streams] == [late]
    assert not viewer.next_index(producer.one)[1] & NEW_STREAM
    producer.beacon(producer.one, 7000)
    assert given(viewer, producer.one, INACTIVE)[6] == 7000


@test
def t27_nobody_moves_while_streams_are_coming(relay):
    """A process brings its streams one by one, and its metadata last; their first packets began before they came."""
    producer = live(relay)
    producer.packet(producer.one, b'first', 100, 200)
    viewer = watch(relay)
    learn(viewer, producer)
    given(viewer, producer.one, INDEX_OK)
    producer.beacon(producer.one, 1000)
    until('the beacon', lambda: viewer.next_index(producer.one)[6] == 1000)
    late = producer.stream('c_0', 'ust/pid/late')
    producer.beacon(producer.one, 5000)
    assert given(viewer, producer.one, INACTIVE)[6] == 1000
    producer.packet(late, b'late', 1500, 6000)
    producer.packet(producer.one, b'second', 5000, 6000)
    done(producer, late)
    done(producer, producer.one)
    assert viewer.next_index(producer.one)[0] == RETRY
    assert viewer.new_streams(viewer.session) == (2, [])
    meta = producer.stream('metadata', 'ust/pid/late')
    assert viewer.next_index(producer.one)[0] == RETRY
    producer.sent()
    status, flags, *entry = viewer.next_index(producer.one)
    assert (status, flags, entry[3:5]) == (INDEX_OK, NEW_STREAM, [5000, 6000]), (status, flags, entry)
    assert sorted(stream for stream, *_ in viewer.new_streams(viewer.session)[1]) == sorted((late, meta))
    producer.beacon(producer.one, 7000)
    until('time to go on', lambda: viewer.next_index(producer.one)[6] == 7000)


@test
def t27_time_goes_on_to_where_new_streams_begin(relay):
    producer, viewer, late = with_late_stream(relay)
    assert given(viewer, producer.one, INACTIVE)[6] == 1000
    producer.packet(late, b'late', 4000, 6000)
    until('the time of its beginning', lambda: viewer.next_index(producer.one)[6] == 4000)
    producer.beacon(producer.one, 7000)
    status, flags, *entry = viewer.next_index(producer.one)
    assert (status, flags, entry[4]) == (INACTIVE, NEW_STREAM, 4000), (status, flags, entry)


@test
def t27_streams_that_never_become_whole_are_given_up(relay):
    producer = live(relay)
    viewer = watch(relay)
    learn(viewer, producer)
    producer.stream('c_0', 'ust/pid/never')
    producer.packet(producer.one, b'packet', 100, 200)
    producer.beacon(producer.one, 1000)
    assert given(viewer, producer.one, INDEX_OK)[5:7] == (100, 200)     # --expire
    assert given(viewer, producer.one, INACTIVE)[6] == 1000


@test
def t26_t28_silent_streams(relay):
    producer = live(relay)
    viewer = watch(relay)
    producer.beacon(producer.one, 300)
    # Before it has metadata, a viewer has no clock.
    assert viewer.next_index(producer.one)[0] == RETRY
    learn(viewer, producer)
    status, flags, offset, size, content, begin, end, discarded, number = given(viewer, producer.one, INACTIVE)
    assert (end, number) == (300, 0)
    # A packet on its way holds the time up, and with it a beacon that came behind it.
    producer.send_index(producer.one, b'on its way', 400, 500)
    producer.beacon(producer.one, 600)
    assert viewer.next_index(producer.one)[6] == 300
    producer.send_data(producer.one, b'on its way')
    producer.seq[producer.one] = 1
    given(viewer, producer.one, INDEX_OK)
    assert given(viewer, producer.one, INACTIVE)[6] == 600
    # Without a beacon a stream is silent to the end of its last packet.
    producer.packet(producer.one, b'p', 600, 700)
    given(viewer, producer.one, INDEX_OK)
    assert given(viewer, producer.one, INACTIVE)[6] == 700


@test
def t29_t32_ended_sessions_stay(relay):
    producer = live(relay)
    viewer = watch(relay)
    for i in range(100):
        producer.packet(producer.one, b'%03d' % i, i, i + 1)
    done(producer, producer.one)
    producer.close_stream(producer.one)
    producer.close_stream(producer.meta)
    producer.close()
    for who in (viewer, watch(relay), watch(relay)):
        learn(who, producer)
        for i in range(100):
            index = given(who, producer.one, INDEX_OK)
            assert who.packet(producer.one, index[2], 3) == (1, b'%03d' % i)
            if i == 50:
                assert who.new_streams(producer.session)[0] != 4        # there is more
        given(who, producer.one, HUP)
        until('the end', lambda: who.new_streams(producer.session)[0] == 4)
        assert who.detach(producer.session) == 1 and who.detach(producer.session) == 2


@test
def t30_a_reply_is_one_write(relay):
    """Every reply that fits into a segment comes as one, so nobody waits for an acknowledgement that is delayed."""
    def one_segment(connection, request, *arguments):
        before = connection.segments()
        result = request(*arguments)
        came = connection.segments() - before
        assert came == 1, f'{request.__name__}: {came} segments'
        return result

    producer = live(relay)
    for i in range(3):
        one_segment(producer.control, producer.packet, producer.one, b'packet', i, i + 1)
    one_segment(producer.control, producer.stream, 'c_1')
    one_segment(producer.control, producer.sent)
    done(producer, producer.one)
    done(producer, producer.meta)
    viewer = Viewer(relay.live)
    calls = ((viewer.create,), (viewer.sessions,), (viewer.attach, producer.session), (viewer.metadata, producer.meta),
             (viewer.next_index, producer.one), (viewer.packet, producer.one, 0, 6), (viewer.metadata, producer.meta),
             (viewer.new_streams, producer.session), (viewer.detach, producer.session))
    for call in calls:
        one_segment(viewer.connection, *call)
    one_segment(producer.control, producer.close_chunk, 0)
    # Of requests in one write, too.
    before = producer.control.segments()
    request = struct.pack('>QQII', 0, 8, CHUNK_EXISTS, 0) + bytes(8)
    producer.control.send(100 * request)
    producer.control.read(500)
    assert producer.control.segments() - before == 1


@test
def t31_packets_in_pieces(relay):
    producer = live(relay)
    viewer = watch(relay)
    packet = os.urandom(700000)
    producer.packet(producer.one, packet, 1, 2)
    index = given(viewer, producer.one, INDEX_OK)
    assert index[3] == 8 * len(packet)
    got = b''.join(viewer.packet(producer.one, at, min(262144, len(packet) - at))[1]
                   for at in range(0, len(packet), 262144))
    assert got == packet
    for offset, size in ((2**63, 10), (700000, 1), (699999, 2), (0, 0), (0, 2**31)):
        assert viewer.packet(producer.one, offset, size) == (3, b''), (offset, size)


# ---- what is no protocol ----

@test
def strangers_are_sent_away(relay):
    producer = live(relay)
    for port, data in ((relay.control, b'GET / HTTP/1.1\r\n\r\n' + bytes(100)), (relay.live, bytes(64)),
                       (relay.data, b'\xff' * 64),
                       (relay.control, struct.pack('>QQII', 0, 2**40, VERSION, 0)),
                       (relay.control, struct.pack('>QQII', 0, 0, 99, 0)),
                       (relay.control, struct.pack('>QQIIQ', 0, 8, GET_CONFIGURATION, 0, 0)),
                       (relay.live, struct.pack('>QII', 0, 2, 0))):
        stranger = Connection(port)
        stranger.send(data)
        try:
            while stranger.socket.recv(65536):
                pass
        except ConnectionError:
            pass
    other = Producer(relay).create(name='other')
    # Streams of others are not there.
    assert other.ret(7, struct.pack('>QQ', producer.one, 0)) == 11
    assert other.control.is_closed()
    viewer = watch(relay)
    assert viewer.next_index(999)[0] == ERR and viewer.attach(999)[0] == 3
    quiet = Connection(relay.control)   # `lttng create --live` looks like this
    quiet.close()
    producer.packet(producer.one, b'undisturbed', 1, 2)
    done(producer, producer.one)


@test
def viewers_must_do_things_in_order(relay):
    producer = live(relay)
    viewer = Viewer(relay.live)
    assert viewer.attach(producer.session)[0] == 6
    viewer.create()
    assert viewer.attach(producer.session, seek=4)[0] == 5
    assert viewer.attach(producer.session)[0] == 1
    assert viewer.attach(producer.session)[0] == 2
    session, timer, viewers, streams, host, name = viewer.sessions()[0]
    assert (session, timer, viewers, streams, host, name) == (producer.session, 1000000, 1, 2, 'robot', 'session')
    assert viewer.new_streams(777)[0] == 3


EXPIRE = {'t19_a_disk': '2s', 't20': '3s', 't27_nobody': '300s', 't27_streams': '3s'}


def main():
    for function in RUN:
        options = next((('--expire', after) for name, after in EXPIRE.items() if function.__name__.startswith(name)), ())
        if hasattr(function, 'stopped_disk'):
            with StoppedDisk() as disk, Relay(*options, env=disk.env) as relay:
                function(relay, disk)
        else:
            with Relay(*options) as relay:
                function(relay)
        print(f'ok {function.__name__}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
