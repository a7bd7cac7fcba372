/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A periodic loop, a real-time thread that runs one, and a mutex that records its waits, for C++17.
 *
 *     #include <kymo/cyclic.hpp>
 *
 *     kymo::mutex state_lock(KYMO_MUTEX("control", "state"));
 *
 *     kymo::cyclic_options options;
 *     options.period = 1ms;
 *     options.priority = 80;          // SCHED_FIFO
 *     options.cpus = {2};
 *     options.lock_memory = true;
 *     kymo::cyclic_thread control(KYMO_LOOP("control", "step"), options, [&](const kymo::loop
 * &loop) { std::lock_guard guard(state_lock);
 *             ...
 *             return loop.cycles() < 10000;           // false: the thread ends
 *     });
 *     control.join();                 // or control.stop(), from any thread; the destructor does
 * both
 *
 * In a thread of your own:
 *
 *     kymo::loop loop(KYMO_LOOP("control", "step"), 1ms);
 *     while (running) {
 *             loop.wait();
 *             ...
 *     }                               // its last cycle ends with its scope
 *
 * The events of a loop are those of loop.h. A mutex named "state" emits the spans state_wait (only
 * when another thread holds it) and state_hold.
 *
 * Constructors throw std::system_error; they allocate and make system calls. A cycle makes no
 * system call but the sleep, and the wait for a mutex that is held; the loop throws nothing.
 * -DKYMO_COMPILE_OUT: the same without the events.
 */
#ifndef KYMO_CYCLIC_HPP
#define KYMO_CYCLIC_HPP

#pragma GCC system_header

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "loop.h"

namespace kymo
{

/* What KYMO_LOOP() returns: a name, and the description of its events. */
struct loop_name {
	const char *name;
	kymo_loop_sites site;
};

/** KYMO_LOOP() - the name of a loop. @category, @name: string literals. Context: emits nothing. */
#ifdef KYMO_COMPILE_OUT
#define KYMO_LOOP(category, name) (::kymo::loop_name{ name, {} })
#else
namespace detail __attribute__((visibility("hidden")))
{
/* A lambda cannot name a variable around it: what is no literal is an error before the lambda. */
template <class Category, class Name, class Make> auto named(Make make) noexcept
{
	static_assert(is_literal<Category>(false) && is_literal<Name>(false), KYMO__NO_LITERAL);
	return make();
}
} /* namespace detail */

#define KYMO_LOOP(category, loop_name_)                                                     \
	::kymo::detail::named<decltype((category)), decltype((loop_name_))>([]() noexcept { \
		static constexpr auto &kymo__of = category;                                 \
		static constexpr auto &kymo__text = loop_name_;                             \
		::kymo_loop kymo__named;                                                    \
		KYMO_LOOP_INIT(&kymo__named, kymo__of, kymo__text, 1, 0);                   \
		return ::kymo::loop_name{ kymo__text, kymo__named.site };                   \
	})
#endif

/* A kymo_loop whose last cycle ends with its scope. Not for several threads at a time. */
class loop
{
      public:
	using nanoseconds = std::chrono::nanoseconds;

	/**
	 * loop() - prepare a loop
	 * @period: from one cycle to the next; at least 1 ns
	 * @deadline: from when a cycle is due until it must end; 0: the period
	 * Context: wait-free; emits nothing.
	 */
	loop(const loop_name &name, nanoseconds period,
	     nanoseconds deadline = nanoseconds(0)) noexcept
	{
		kymo__loop_init(&loop_, ns_of(period), ns_of(deadline));
		loop_.site = name.site;
	}
	~loop()
	{
		kymo_loop_end(&loop_);
	}
	loop(const loop &) = delete;
	loop &operator=(const loop &) = delete;

	/** wait() - kymo_loop_wait(): end this cycle, sleep until the next one is due, begin it */
	void wait() noexcept
	{
		kymo_loop_wait(&loop_);
	}
	/** end() - kymo_loop_end(): end this cycle before the next wait() does */
	void end() noexcept
	{
		kymo_loop_end(&loop_);
	}

	nanoseconds period() const noexcept
	{
		return of_ns(loop_.period_ns);
	}
	nanoseconds latency() const noexcept
	{
		return of_ns(loop_.latency_ns);
	} /* of this cycle's wake-up */
	nanoseconds busy() const noexcept
	{
		return of_ns(loop_.busy_ns);
	} /* of the last cycle that ended */
	uint64_t cycles() const noexcept
	{
		return loop_.cycles;
	} /* that began, with this one */
	uint64_t missed() const noexcept
	{
		return loop_.missed;
	}
	uint64_t overruns() const noexcept
	{
		return loop_.overruns;
	}
	uint64_t skipped() const noexcept
	{
		return loop_.skipped;
	}

      private:
	static uint64_t ns_of(nanoseconds time) noexcept
	{
		return time.count() > 0 ? uint64_t(time.count()) : 0;
	}
	static nanoseconds of_ns(uint64_t ns) noexcept
	{
		return nanoseconds(nanoseconds::rep(ns));
	}

	kymo_loop loop_;
};

struct cyclic_options {
	std::chrono::nanoseconds period = std::chrono::milliseconds(1);
	std::chrono::nanoseconds deadline = std::chrono::nanoseconds(0); /* 0: the period */
	int priority = 0;         /* 1 to 99: SCHED_FIFO; 0: SCHED_OTHER */
	std::vector<int> cpus;    /* where the thread may run; empty: anywhere */
	bool lock_memory = false; /* mlockall() of the whole process, now and later */
	size_t stack_bytes = 0;   /* 0: the usual size */
	uint64_t ring_bytes = 0;  /* of kymo's ring, as in thread.h; 0: the usual size */
	std::string thread_name;  /* the first 15 bytes count; empty: the name of the loop */
};

/* A thread that runs a loop. It can be neither copied nor moved. */
class cyclic_thread
{
      public:
	/**
	 * cyclic_thread() - start the thread
	 * @body: called once per cycle, in the thread; the thread ends when it returns false. If it
	 *        throws, the program ends by std::terminate()
	 *
	 * The ring of the thread is ready before its first cycle. If the ring cannot have the size
	 * that you ask for, it has the usual one. Throws: std::system_error: no permission for the
	 * priority (EPERM: see ulimit -r) or for locking memory (ENOMEM or EPERM: see ulimit -l),
	 * no such CPU (EINVAL), no memory (EAGAIN).
	 */
	cyclic_thread(const loop_name &name, const cyclic_options &options,
		      std::function<bool(const loop &)> body)
	    : state_(std::make_unique<state>(name, options, std::move(body)))
	{
		attributes with;

		if (options.lock_memory && mlockall(MCL_CURRENT | MCL_FUTURE))
			fail(errno, "mlockall");
		with.set(options);
		if (const int error = pthread_create(&thread_, &with.attr, run, state_.get()))
			fail(error, reason(error, options));
	}
	~cyclic_thread()
	{
		stop();
		join();
	}
	cyclic_thread(const cyclic_thread &) = delete;
	cyclic_thread &operator=(const cyclic_thread &) = delete;

	/** stop() - let the thread end after its present cycle. Context: wait-free; any thread,
	 * also its own */
	void stop() noexcept
	{
		state_->stopped.store(true, std::memory_order_relaxed);
	}
	/** join() - wait until the thread has ended; a second call is harmless. Not in the thread
	 * itself */
	void join() noexcept
	{
		if (!joined_)
			(void)pthread_join(thread_, nullptr);
		joined_ = true;
	}

      private:
	struct state {
		state(const loop_name &of, const cyclic_options &with,
		      std::function<bool(const loop &)> what)
		    : name(of), options(with), body(std::move(what))
		{
		}
		loop_name name;
		cyclic_options options;
		std::function<bool(const loop &)> body;
		std::atomic<bool> stopped{ false };
	};

	/* What pthread_create() means. */
	static const char *reason(int error, const cyclic_options &options) noexcept
	{
		if (error == EPERM && options.priority)
			return "a priority requires CAP_SYS_NICE or ulimit -r; starting a cyclic "
			       "thread";
		if (error == EINVAL && !options.cpus.empty())
			return "no CPU of options.cpus exists; starting a cyclic thread";
		return "starting a cyclic thread";
	}

	[[noreturn]] static void fail(int error, const char *what)
	{
		throw std::system_error(error, std::generic_category(), what);
	}

	struct attributes {
		pthread_attr_t attr;

		attributes()
		{
			check(pthread_attr_init(&attr), "pthread_attr_init");
		}
		~attributes()
		{
			(void)pthread_attr_destroy(&attr);
		}
		attributes(const attributes &) = delete;
		attributes &operator=(const attributes &) = delete;

		static void check(int error, const char *what)
		{
			if (error)
				fail(error, what);
		}
		void set(const cyclic_options &options)
		{
			sched_param param{};
			cpu_set_t set;

			param.sched_priority = options.priority;
			check(pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED),
			      "priority");
			check(pthread_attr_setschedpolicy(&attr, options.priority ? SCHED_FIFO
										  : SCHED_OTHER),
			      "priority");
			check(pthread_attr_setschedparam(&attr, &param), "priority");
			if (options.stack_bytes)
				check(pthread_attr_setstacksize(&attr, options.stack_bytes),
				      "size of the stack");
			if (options.cpus.empty())
				return;
			CPU_ZERO(&set);
			for (const int cpu : options.cpus) {
				check(cpu < 0 || cpu >= CPU_SETSIZE ? EINVAL : 0,
				      "number of a CPU");
				CPU_SET(cpu, &set);
			}
			check(pthread_attr_setaffinity_np(&attr, sizeof set, &set), "CPUs");
		}
	};

	static void *run(void *context) noexcept
	{
		state &of = *static_cast<state *>(context);
		const std::string &name = of.options.thread_name;
		thread_options ring;

		ring.ring_bytes = of.options.ring_bytes;
		(void)(ring.ring_bytes && prepare_thread(ring) == 0);
		(void)kymo_thread_ready();
		kymo_thread_name(name.empty() ? of.name.name : name.c_str());
		loop cycles(of.name, of.options.period, of.options.deadline);
		do
			cycles.wait();
		while (!of.stopped.load(std::memory_order_relaxed) && of.body(cycles));
		return nullptr;
	}

	std::unique_ptr<state> state_;
	pthread_t thread_{};
	bool joined_ = false;
};

/* What KYMO_MUTEX() returns: the description of a mutex's events. */
struct mutex_name {
	kymo_site *wait_begin, *wait_end, *hold_begin, *hold_end;
};

/** KYMO_MUTEX() - the name of a mutex. @category, @name: string literals. Context: emits nothing.
 */
#ifdef KYMO_COMPILE_OUT
#define KYMO_MUTEX(category, name) (::kymo::mutex_name{})
#else
#define KYMO__MUTEX_SITE(member, shape, category, name, after)                 \
	do {                                                                   \
		KYMO__JOIN(kymo__name, name, after);                           \
		KYMO__PLACE(kymo__place, shape, category, kymo__name::made.text, ~); \
		KYMO__SITE(kymo__site, kymo__place, ~);                        \
		kymo__named.member = kymo__site::get();                        \
	} while (0)
#define KYMO_MUTEX(category, name)                                                    \
	::kymo::detail::named<decltype((category)), decltype((name))>([]() noexcept { \
		static constexpr auto &kymo__of = category;                           \
		static constexpr auto &kymo__text = name;                             \
		KYMO__CHECK_NAMES(kymo__of, kymo__text, "_wait");                     \
		::kymo::mutex_name kymo__named{};                                     \
		KYMO__MUTEX_SITE(wait_begin, begin, kymo__of, kymo__text, "_wait");   \
		KYMO__MUTEX_SITE(wait_end, end, kymo__of, kymo__text, "_wait");       \
		KYMO__MUTEX_SITE(hold_begin, begin, kymo__of, kymo__text, "_hold");   \
		KYMO__MUTEX_SITE(hold_end, end, kymo__of, kymo__text, "_hold");       \
		return kymo__named;                                                   \
	})
#endif

/*
 * A mutex for std::lock_guard and std::unique_lock, with priority inheritance. Release the mutexes
 * of a thread in the reverse order of locking: spans nest.
 */
class mutex
{
      public:
	/** mutex() - Throws: std::system_error, if the system has no such mutex or no memory */
	explicit mutex(const mutex_name &name) : name_(name)
	{
		pthread_mutexattr_t attr;
		int error = pthread_mutexattr_init(&attr);

		if (!error) {
			error = pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
			if (!error)
				error = pthread_mutex_init(&mutex_, &attr);
			(void)pthread_mutexattr_destroy(&attr);
		}
		if (error)
			throw std::system_error(error, std::generic_category(), "mutex");
	}
	~mutex()
	{
		(void)pthread_mutex_destroy(&mutex_);
	}
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	/**
	 * lock() - wait until no other thread holds the mutex, and hold it
	 * Context: a system call only if another thread holds it. Throws: std::system_error,
	 * EDEADLK or EAGAIN, as std::mutex does
	 */
	void lock()
	{
		if (!try_lock()) {
			const bool recorded = kymo__loop_emit(name_.wait_begin, 0, 0, 0);
			const int error = pthread_mutex_lock(&mutex_);

			if (recorded)
				kymo__loop_finish(name_.wait_end);
			if (error)
				throw std::system_error(error, std::generic_category(), "lock");
			hold();
		}
	}
	/** try_lock() - hold the mutex if no other thread does. Context: wait-free. Return: whether
	 */
	bool try_lock() noexcept
	{
		if (pthread_mutex_trylock(&mutex_))
			return false;
		hold();
		return true;
	}
	/** unlock() - Context: a system call only if another thread waits */
	void unlock() noexcept
	{
		if (recorded_)
			kymo__loop_finish(name_.hold_end);
		recorded_ = false;
		(void)pthread_mutex_unlock(&mutex_);
	}

      private:
	void hold() noexcept
	{
		recorded_ = kymo__loop_emit(name_.hold_begin, 0, 0, 0);
	}

	mutex_name name_;
	pthread_mutex_t mutex_;
	bool recorded_ = false; /* belongs to the thread that holds the mutex */
};

} /* namespace kymo */

#endif
