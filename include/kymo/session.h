/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that records itself, without a recorder beside it:
 *
 *     struct kymo_session *session;
 *
 *     if (kymo_session_start("/data/trace", NULL, &session) < 0)
 *             fprintf(stderr, "%s\n", kymo_session_error());
 *     ...
 *     kymo_session_stop(session, NULL);
 *
 * The trace is like one of `kymo record`: CTF 1.8, which kymo, babeltrace2 and Trace Compass read.
 * It contains the events of all threads from then on: those of kymo.h, and those of ROS 2 if
 * libkymo-ros2.so is preloaded. It also contains all facts (names of nodes, topics, callbacks)
 * since the program started.
 *
 * The session starts one thread, which does all the work, one more for each relay, and one more for
 * compression: SCHED_OTHER, all signals blocked. Threads that emit events do not notice the
 * session. Do not call the functions below in real-time threads.
 *
 * You can add and remove sinks at any time. A sink is a trace directory, a Perfetto file, or a
 * relay on the network. Each is complete from its first byte: it has all facts, and exactly the
 * events between its addition and its removal: produced = recorded + dropped + filtered +
 * unwritten. sink.h has sinks that you implement yourself.
 *
 * A process has one session at a time. `kymo record` records all other processes and leaves alone a
 * process that records itself. A process that another recorder records can't record itself.
 *
 * fork(): the child has no session, and its functions return an error; the parent's session
 * continues. exec(), and an end of the process without kymo_session_stop(), end the session as a
 * crash does: what the session had not written stays in shared memory, for `kymo recover` or the
 * next `kymo record`.
 *
 * Link with libkymo-session (pkg-config kymo-session; CMake kymo::session) and libkymo.
 *
 * Context of all functions, unless stated otherwise: any thread but the session's own; not in
 * signal handlers. They lock, allocate and wait for the session's thread.
 */
#ifndef KYMO_SESSION_H
#define KYMO_SESSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <string>
extern "C" {
#endif

#pragma GCC visibility push(default)

struct kymo_session;
struct kymo_sink; /* sink.h */

enum kymo_session_message {
	/* for example: a corrupt ring, a full disk, a disk that works again */
	KYMO_SESSION_NOTE,
};

/*
 * Set size, and zero the rest for the defaults. NULL instead of the options means the defaults,
 * too.
 */
struct kymo_session_options {
	size_t size;			/* sizeof(struct kymo_session_options) */
	const char *runtime_dir;	/* NULL: $KYMO_DIR, else /dev/shm/kymo-<uid> */
	/* 1: record all processes of the runtime directory, as `kymo record` does */
	int all;
	int nice;			/* nice value of the session's thread: 0 to 19 */
	/* the thread empties the rings this often, 1 to 1000; 0: every 1 to 4 ms */
	unsigned poll_ms;
	const char *thread_name;	/* at most 15 bytes; NULL: kymo-session */
	/* [cpu_count] CPUs for the thread; NULL: those of the caller */
	const int *cpus;
	unsigned cpu_count;
	/*
	 * Called on the session's thread with a text about something that happened. It must not
	 * call functions of this header for its session, except kymo_session_error(). NULL: no
	 * messages.
	 */
	void (*message)(void *context, enum kymo_session_message kind, const char *text);
	void *context;
	/*
	 * "topic !/rosout; event callback_*": what is recorded. One rule a line, or semicolons between
	 * them, as in a --filter-file of `kymo record`. NULL: everything. $KYMO_FILTER also
	 * applies.
	 */
	const char *rules;
	/*
	 * How traces are stored, also those of kymo_session_add_sink(). All 0: one trace that
	 * grows.
	 */
	uint64_t rotate_size;		/* bytes after which a new chunk begins; at least 64 KiB */
	uint64_t rotate_ns;		/* age after which a new chunk begins; at least 100 ms */
	/*
	 * bytes of a trace: the oldest complete chunks are removed to stay below. At least 512 KiB
	 * and twice rotate_size. Without rotate_size and rotate_ns, a chunk has an eighth of it
	 */
	uint64_t max_size;
	/* 1: another thread, of nice 10 or more, compresses what is complete */
	int compress;
	struct kymo_sink *sink; /* a sink of your own, from the beginning (sink.h); NULL: none */
	/* Sinks that are relays: net://HOST/NAME. */
	const char *relay_token_file;	/* as kymo relay --token-file; NULL: none */
	uint64_t relay_spool_size;	/* bytes that may wait; at least 1 MiB; 0: 256 MiB */
	uint64_t relay_patience_ns;	/* at the end, without any progress; 0: 10 s */
};

struct kymo_session_stats {
	uint64_t recorded;		/* runtime events */
	/* runtime events for which the program's rings had no room */
	uint64_t dropped;
	uint64_t unwritten;		/* events that could not be written to the disk */
	/* runtime events that the rules exclude, and that were emitted all the same */
	uint64_t filtered;
	uint64_t init_events, init_dropped;
	uint64_t bytes;			/* in stream files */
	uint64_t duration_ns;
	unsigned processes, threads;
};

/**
 * kymo_session_start() - record this process from now on
 * @path: trace directory; must not exist, or be empty. A path that ends in .pftrace or
 * .perfetto-trace is a Perfetto file, which must not exist. Its parent must exist. A URL
 * net://HOST[:CONTROL[:DATA]][/NAME] is a relay, to which the session sends what it records, under
 * the name NAME; the relay need not be reachable yet. NULL: only options->sink
 * @options: may be NULL
 * @session: the session if the function returns 0, else NULL
 *
 * The session records all events after this call if the process is registered. libkymo registers a
 * process when it is loaded into a program with events in it. If a program loads its events later,
 * the recording begins some ms after the first of them. A forked child calls kymo_thread_ready() of
 * kymo.h first. If the session records no event at all, it removes the directory at the end.
 *
 * Return: 0; -1, and kymo_session_error() says why and what to do: the path can't be used, another
 * recorder or session records the process, a rule or a limit is invalid, or there is no memory or
 * thread.
 */
int kymo_session_start(const char *path, const struct kymo_session_options *options,
		       struct kymo_session **session);

/**
 * kymo_session_stop() - record what is left, complete all sinks, end the thread, free @session
 * @session: may be NULL
 * @stats: of the whole session; may be NULL
 *
 * Waits for a relay as long as the relay stores something, and options->relay_patience_ns longer.
 * Return: 0; -1 if something could not be written, or if a relay is not known to have all of it
 * (kymo_session_error()). @session is freed in both cases, except in a forked child.
 */
int kymo_session_stop(struct kymo_session *session, struct kymo_session_stats *stats);

/** kymo_session_add_sink() - write to another @path, as of start, from now on. Return: 0; -1, and
 * kymo_session_error() says why. */
int kymo_session_add_sink(struct kymo_session *session, const char *path);

/**
 * kymo_session_remove_sink() - complete the trace at @path; the other sinks continue
 * @path: as given to start or add_sink
 * @stats: of the trace; may be NULL
 *
 * Waits for a relay as kymo_session_stop() does.
 * Return: 0; -1: there is no sink at @path, or it is the only one, or something could not be
 * written, or is not known to be at the relay (the sink is removed then, too).
 */
int kymo_session_remove_sink(struct kymo_session *session, const char *path,
			     struct kymo_session_stats *stats);

/**
 * kymo_session_set_rules() - replace the rules
 * @rules: as in the options; NULL: everything
 *
 * The old rules still apply to events emitted before the call.
 * Return: 0; -1: a rule is invalid; nothing changed.
 */
int kymo_session_set_rules(struct kymo_session *session, const char *rules);

/**
 * kymo_session_statistics() - the counts so far
 * @path: of this sink; NULL: of the whole session
 *
 * Return: 0; -1: there is no sink at @path.
 */
int kymo_session_statistics(struct kymo_session *session, const char *path,
			    struct kymo_session_stats *stats);

/**
 * kymo_session_error() - why the last function of this header failed in this thread; "" if none did
 *
 * Context: any thread, the session's own included; neither locks nor waits.
 * Return: text that is valid until a function fails in this thread again.
 */
const char *kymo_session_error(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}

namespace kymo {

/* A session that ends with the object. An error is a state, not an exception: if (!session) ... */
class session {
public:
	explicit session(const std::string &path, const kymo_session_options *options = nullptr)
	{
		if (kymo_session_start(path.c_str(), options, &handle_) < 0)
			error_ = kymo_session_error();
	}
	~session() { (void)stop(); }
	session(const session &) = delete;
	session &operator=(const session &) = delete;

	explicit operator bool() const noexcept { return handle_ != nullptr; }
	kymo_session *get() const noexcept
	{
		return handle_;
	}
	/* Why the last call failed; empty if none failed. */
	const std::string &error() const noexcept { return error_; }

	bool stop(kymo_session_stats *stats = nullptr)
	{
		kymo_session *handle = handle_;

		handle_ = nullptr;
		return !handle || keep(kymo_session_stop(handle, stats));
	}
	bool add_sink(const std::string &path)
	{
		return keep(kymo_session_add_sink(handle_, path.c_str()));
	}
	bool remove_sink(const std::string &path, kymo_session_stats *stats = nullptr)
	{
		return keep(kymo_session_remove_sink(handle_, path.c_str(), stats));
	}
	bool set_rules(const std::string &rules)
	{
		return keep(kymo_session_set_rules(handle_, rules.c_str()));
	}
	bool statistics(kymo_session_stats &stats)
	{
		return keep(kymo_session_statistics(handle_, nullptr, &stats));
	}

private:
	bool keep(int result)
	{
		if (result < 0)
			error_ = kymo_session_error();
		return result == 0;
	}
	kymo_session *handle_ = nullptr;
	std::string error_;
};

}
#endif

#endif
