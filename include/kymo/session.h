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
 * The trace is what `kymo record` makes: CTF 1.8, readable by kymo, babeltrace2, Trace Compass. It
 * holds the events of kymo.h, and of ROS 2 where libkymo-ros2.so is preloaded, of all threads from
 * then on; and all facts (names of nodes, topics, callbacks) since the start of the program.
 *
 * All work is done by one thread that the session starts (with compression, two): SCHED_OTHER, all
 * signals blocked. Threads that emit events notice nothing of it; the functions below are not for
 * real-time threads.
 *
 * Several sinks, each a trace directory, may be added and removed at any time. Each is complete from
 * its first byte: it has all facts, and the events from its adding to its removal, to the event:
 * produced = recorded + dropped + filtered + unwritten.
 *
 * A process has one session at a time. `kymo record` leaves a process alone that records itself,
 * and records all others; and a process that is recorded by others cannot record itself.
 *
 * fork(): the child has no session and its functions say so; the parent's goes on. exec() and an
 * end of the process without kymo_session_stop() end the session as a crash does: what was not yet
 * written stays in shared memory, for `kymo recover` or the next `kymo record`.
 *
 * Link with libkymo-session (pkg-config kymo-session; CMake kymo::session), beside libkymo.
 *
 * Context of all functions, if nothing else is said: any thread but the session's own and but in
 * signal handlers; they lock, allocate and wait for the session's thread.
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

enum kymo_session_message {
	KYMO_SESSION_NOTE,		/* something to know: a corrupt ring, a full disk, a disk that works again */
};

/* Zeroed but for size means the defaults; NULL in its place, too. */
struct kymo_session_options {
	size_t size;			/* sizeof(struct kymo_session_options) */
	const char *runtime_dir;	/* NULL: $KYMO_DIR, else /dev/shm/kymo-<uid> */
	int all;			/* 1: all processes of the runtime directory, as `kymo record` does */
	int nice;			/* of the thread: 0 to 19 */
	unsigned poll_ms;		/* it looks this often, 1 to 1000; 0: every 1 to 4 ms as needed */
	const char *thread_name;	/* at most 15 bytes; NULL: kymo-session */
	const int *cpus;		/* [cpu_count] where it may run; NULL: where the caller may */
	unsigned cpu_count;
	/*
	 * Called on the session's thread with a complete sentence about what happened meanwhile. Must
	 * not call functions of this header for its session, but kymo_session_error(). NULL: not wanted.
	 */
	void (*message)(void *context, enum kymo_session_message kind, const char *text);
	void *context;
	/*
	 * What is recorded: rules, one a line or with semicolons between them, as in a --filter-file of `kymo
	 * record`: "topic !/rosout; event callback_*". NULL: everything. $KYMO_FILTER of a program counts, too.
	 */
	const char *rules;
	/* How each trace is kept, those of kymo_session_add_sink() too; 0: as one trace that grows. */
	uint64_t rotate_size;		/* begin a new chunk when the present one has so many bytes; 64 KiB at least */
	uint64_t rotate_ns;		/* begin a new one when it is so old; 100 ms at least */
	uint64_t max_size;		/* remove the oldest complete chunks to stay below so many bytes; 512 KiB at
					   least, and twice rotate_size; alone it makes chunks of an eighth */
	int compress;			/* 1: what is complete, by a further thread of nice 10 or more */
};

struct kymo_session_stats {
	uint64_t recorded;		/* runtime events */
	uint64_t dropped;		/* runtime events that found no room in the program's rings */
	uint64_t unwritten;		/* events that the disk did not take */
	uint64_t filtered;		/* runtime events that were emitted although the rules do not want them */
	uint64_t init_events, init_dropped;
	uint64_t bytes;			/* of stream files */
	uint64_t duration_ns;
	unsigned processes, threads;
};

/**
 * kymo_session_start() - record this process from now on
 * @path: trace directory; must not exist, or be empty. Its parent must exist.
 * @options: may be NULL
 * @session: set when it returns 0, else NULL
 *
 * Events that are emitted after its return are recorded, if the process is registered: libkymo does
 * that when it is loaded into a program with events in it. A program that loads its events later is
 * recorded some ms after the first of them; a forked child calls kymo_thread_ready() of kymo.h
 * first. When no event is recorded at all, the directory is removed again at the end.
 * Return: 0; -1, and kymo_session_error() says why and what to do: the path cannot be used, the
 * process is recorded by others or has a session already, a rule or a limit makes no sense, there is no
 * memory or thread.
 */
int kymo_session_start(const char *path, const struct kymo_session_options *options,
		       struct kymo_session **session);

/**
 * kymo_session_stop() - take the rest, complete all sinks, end the thread, free @session
 * @stats: of the whole session; may be NULL
 *
 * NULL as @session is fine.
 * Return: 0; -1 when something could not be written (kymo_session_error()); it is freed then, too,
 * except in a forked child.
 */
int kymo_session_stop(struct kymo_session *session, struct kymo_session_stats *stats);

/** kymo_session_add_sink() - write into a further trace directory, from now on. Return: 0; -1: as start. */
int kymo_session_add_sink(struct kymo_session *session, const char *path);

/**
 * kymo_session_remove_sink() - complete the trace at @path and go on with the others
 * @path: as it was given to start or add_sink
 * @stats: of the trace; may be NULL
 *
 * Return: 0; -1: there is none at @path, it is the only one, or (and it is gone then) something of
 * it could not be written.
 */
int kymo_session_remove_sink(struct kymo_session *session, const char *path,
			     struct kymo_session_stats *stats);

/**
 * kymo_session_set_rules() - from now on other rules say what is recorded
 * @rules: as in the options; NULL: everything
 *
 * What was emitted before is judged by the old ones.
 * Return: 0; -1: a rule makes no sense, and nothing is changed.
 */
int kymo_session_set_rules(struct kymo_session *session, const char *rules);

/**
 * kymo_session_statistics() - counts so far
 * @path: of the sink at @path; NULL: of the session
 * Return: 0; -1: there is no sink at @path.
 */
int kymo_session_statistics(struct kymo_session *session, const char *path,
			    struct kymo_session_stats *stats);

/** kymo_session_error() - why the last function here failed on the calling thread; "" when none did. */
const char *kymo_session_error(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}

namespace kymo {

/* A session as long as the object lives. Errors are a state, not an exception: if (!session) ... */
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
	/* Why the last call failed; empty when none did. */
	const std::string &error() const noexcept { return error_; }

	bool stop(kymo_session_stats *stats = nullptr)
	{
		kymo_session *handle = handle_;

		handle_ = nullptr;
		return !handle || keep(kymo_session_stop(handle, stats));
	}
	bool add_sink(const std::string &path) { return keep(kymo_session_add_sink(handle_, path.c_str())); }
	bool remove_sink(const std::string &path, kymo_session_stats *stats = nullptr)
	{
		return keep(kymo_session_remove_sink(handle_, path.c_str(), stats));
	}
	bool set_rules(const std::string &rules) { return keep(kymo_session_set_rules(handle_, rules.c_str())); }
	bool statistics(kymo_session_stats &stats) { return keep(kymo_session_statistics(handle_, nullptr, &stats)); }

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
