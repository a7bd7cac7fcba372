/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cable with faults: hands frames from one network interface to another and back, later, twice,
 * in another order, or not at all. usage: netbridge LEFT RIGHT
 *
 *   LEFT ──▶ [dice: lost? twice?] ──▶ [heap: by the time when it is due] ──▶ RIGHT      and the same the other way
 *
 * It waits until both interfaces are in its network namespace and says "ready". Then each line of the standard input is
 * a setting, answered by "ok", or a question:
 *
 *   delay MS        every frame takes so long
 *   jitter MS       and up to so much longer: frames overtake each other
 *   loss PPM        of a million frames, so many are lost
 *   duplicate PPM   and so many come twice
 *   cut 1, cut 0    nothing passes, also of what is on its way; all passes again
 *   count           answered by "passed N lost N duplicated N overtaken N"
 *
 * It ends at the end of the standard input. Both interfaces, and those at the other ends of their
 * cables, must not leave checksums or segmentation to the hardware: there is none.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX	2048
#define FLYING_MAX	65536u			/* frames on their way; then more are lost */
#define MILLION		1000000u

struct frame {
	uint64_t due_ns, number;
	unsigned to;				/* 0 or 1 */
	size_t size;
	uint8_t bytes[];
};

static struct frame *heap[FLYING_MAX];
static unsigned flying;
static int port[2];
static uint64_t came, last_number[2];
static struct {
	uint64_t delay_ms, jitter_ms, loss, duplicate, cut;
} fault;
static struct {
	unsigned long long passed, lost, duplicated, overtaken;
} count;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* splitmix64: the same faults in every run, as far as the traffic is the same. */
static uint64_t dice(void)
{
	static uint64_t state = 1;
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* ---- frames on their way ---- */

static bool before(const struct frame *a, const struct frame *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void heap_add(struct frame *frame)
{
	unsigned at = flying++;

	for (; at && before(frame, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = frame;
}

static struct frame *heap_take(void)
{
	struct frame *first = heap[0], *last = heap[--flying];
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < flying) {
		if (child + 1 < flying && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

static void depart(unsigned to, const uint8_t *bytes, size_t size)
{
	struct frame *frame = flying < FLYING_MAX ? malloc(sizeof(*frame) + size) : NULL;

	if (!frame) {
		count.lost++;
		return;
	}
	frame->due_ns = now_ns() + fault.delay_ms * 1000000;
	if (fault.jitter_ms)
		frame->due_ns += dice() % (fault.jitter_ms * 1000000);
	frame->number = ++came;
	frame->to = to;
	frame->size = size;
	memcpy(frame->bytes, bytes, size);
	heap_add(frame);
}

static void arrive(struct frame *frame)
{
	if (fault.cut || send(port[frame->to], frame->bytes, frame->size, 0) < 0) {
		count.lost++;
	} else {
		count.passed++;
		count.overtaken += frame->number < last_number[frame->to];
		last_number[frame->to] = frame->number;
	}
	free(frame);
}

/* What stands at an interface; what we sent there ourselves is not meant. */
static void receive(unsigned from)
{
	uint8_t bytes[FRAME_MAX];
	struct sockaddr_ll address;
	socklen_t length = sizeof(address);
	ssize_t size;

	while ((size = recvfrom(port[from], bytes, sizeof(bytes), MSG_DONTWAIT,
				(struct sockaddr *)&address, &length)) > 0) {
		if (address.sll_pkttype == PACKET_OUTGOING)
			continue;
		if (fault.cut || dice() % MILLION < fault.loss) {
			count.lost++;
			continue;
		}
		depart(!from, bytes, (size_t)size);
		if (dice() % MILLION < fault.duplicate) {
			count.duplicated++;
			depart(!from, bytes, (size_t)size);
		}
	}
}

/* ---- settings ---- */

static void obey(const char *line)
{
	const struct {
		const char *name;
		uint64_t *value;
	} settings[] = {
		{ "delay", &fault.delay_ms }, { "jitter", &fault.jitter_ms }, { "loss", &fault.loss },
		{ "duplicate", &fault.duplicate }, { "cut", &fault.cut },
	};
	unsigned long long value;
	char name[16];

	if (strcmp(line, "count\n") == 0) {
		printf("passed %llu lost %llu duplicated %llu overtaken %llu\n", count.passed, count.lost,
		       count.duplicated, count.overtaken);
		return;
	}
	for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (sscanf(line, "%15s %llu", name, &value) == 2 && strcmp(name, settings[i].name) == 0) {
			*settings[i].value = value;
			puts("ok");
			return;
		}
	printf("what is %s", line);
}

static int wait_for_interface(const char *name)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	const int room = 8 << 20;
	int fd;

	while (!(address.sll_ifindex = (int)if_nametoindex(name)))
		if (poll(&(struct pollfd){ .fd = STDIN_FILENO }, 1, 0) > 0 ||
		    nanosleep(&moment, NULL) < 0)
			return -1;	/* whoever began us is gone */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -1 : fd;
}

int main(int argc, char **argv)
{
	struct pollfd fds[3] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	char line[64];

	if (argc != 3)
		return 2;
	for (unsigned i = 0; i < 2; i++) {
		port[i] = wait_for_interface(argv[1 + i]);
		if (port[i] < 0) {
			fprintf(stderr, "%s: %s\n", argv[1 + i], strerror(errno));
			return 1;
		}
		fds[1 + i] = (struct pollfd){ .fd = port[i], .events = POLLIN };
	}
	(void)setvbuf(stdin, NULL, _IONBF, 0);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		uint64_t now = now_ns();
		struct timespec rest = { 1, 0 };

		while (flying && heap[0]->due_ns <= now)
			arrive(heap_take());
		if (flying && heap[0]->due_ns - now < 1000000000)
			rest = (struct timespec){ 0, (long)(heap[0]->due_ns - now) };
		if (ppoll(fds, 3, &rest, NULL) <= 0)
			continue;
		for (unsigned i = 0; i < 2; i++)
			if (fds[1 + i].revents)
				receive(i);
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		obey(line);
	}
}
