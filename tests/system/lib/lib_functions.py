# SPDX-License-Identifier: Apache-2.0
"""Programs in C and C++ that leave functions in every way: their output is that of the program alone, and functions that only return
have an end for each begin."""
import collections
import os

from lib_test import report, run

C = r"""
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
#endif
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define NI __attribute__((noinline, noclone))
#ifndef VFORK
#define VFORK vfork
#endif
static volatile int sink;
/* a function of libc that kymo calls, too, while it looks at a new thread */
int open(const char *path, int flags, ...)
{
	va_list l; va_start(l, flags); int mode = va_arg(l, int); va_end(l);
	sink += 0;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
/* results and arguments of all kinds */
struct two { double a; long b; };
struct big { long a[6]; };
NI double reals(double a, float b, double c, double d, double e, double f, double g, double h, double i) { return a + b + c * d - e + f + g * h + i; }
NI long double extended(long double a, int n) { return a / n; }
NI struct two pair(double a, long b) { return (struct two){ a * 2, b + 1 }; }
NI struct big wide(int n) { struct big b; for (int i = 0; i < 6; i++) b.a[i] = n + i; return b; }
NI double various(int n, ...) { va_list l; double s = 0; va_start(l, n); while (n--) s += va_arg(l, double); va_end(l); return s; }
NI __int128 huge(__int128 a, __int128 b) { return a * b; }
#ifdef __clang__
__attribute__((preserve_most))
#endif
NI long keeps(long n) { sink++; return n * 2; }
NI long many(long a, long b, long c, long d, long e, long f) { long s = keeps(a); return s + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f; }
#ifdef __x86_64__
__attribute__((target("avx"))) NI __m256d vectors(__m256d a, __m256d b) { return _mm256_add_pd(a, b); }
__attribute__((target("avx"))) NI void use_vectors(double *out) { _mm256_storeu_pd(out, vectors(_mm256_set_pd(1, 2, 3, 4), _mm256_set_pd(10, 20, 30, 40))); }
NI int has_vectors(void) { return __builtin_cpu_supports("avx") != 0; }
#elif defined(__ARM_FEATURE_SVE)
NI svfloat64_t vectors(svfloat64_t a, svfloat64_t b) { return svadd_x(svptrue_b64(), a, b); }
NI svbool_t some(int n) { return svwhilelt_b64(0, n); }
NI void use_vectors(double *out) { svst1(some(4), out, vectors(svdup_f64(2), svdup_f64(sink + 40))); }
NI int has_vectors(void) { return svcntd() >= 4; }
#else
typedef double four __attribute__((vector_size(32)));
NI four vectors(four a, four b) { return a + b; }
NI void use_vectors(double *out) { four v = vectors((four){ 1, 2, 3, 4 }, (four){ 10, 20, 30, 40 }); memcpy(out, &v, sizeof v); }
NI int has_vectors(void) { return 1; }
#endif
struct reals4 { double a, b, c, d; };
NI struct reals4 spread(double a) { return (struct reals4){ a, a + 1, a + 2, a + 3 }; }
/* large frames, and frames whose size is not known before */
NI int large(int n) { volatile char text[70000]; text[n] = (char)n; text[69999] = 1; return text[n] + text[69999]; }
NI int sized(int n) { volatile char text[n]; text[n - 1] = 3; return text[n - 1] + many(1, 1, 1, 1, 1, 1); }
/* tail calls */
NI int tail_end(int n) { sink += n; return n + 1; }
NI int tail_middle(int n) { sink++; return tail_end(n * 2); }
NI int tail_start(int n) { sink++; return tail_middle(n + 3); }
NI int recursion(int n) { return n ? recursion(n - 1) + sink * 0 + 1 : 0; }
/* long jumps */
static jmp_buf back;
NI void deep(int n) { if (!n) longjmp(back, 7); deep(n - 1); sink++; }
NI int jumps(int n) { int v = setjmp(back); if (!v) deep(n); return v; }
/* call backs from libc */
NI int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
NI int sorts(void) { int v[] = { 5, 3, 9, 1 }; qsort(v, 4, sizeof *v, order); return v[0] * 1000 + v[3]; }
/* signals, on an own stack and on this one */
static volatile int signals;
NI void on_signal(int n) { signals += n > 0; (void)tail_start(1); }
NI void raises(void) { raise(SIGUSR1); raise(SIGUSR2); }
/* contexts */
static ucontext_t main_context, coroutine;
NI int step(int n) { return n + 1; }
NI void co(void) { int n = 0; for (int i = 0; i < 3; i++) { n = step(n); swapcontext(&coroutine, &main_context); } printf("co %d\n", n); }
NI void contexts(void)
{
	static char stack[65536];
	getcontext(&coroutine); coroutine.uc_stack.ss_sp = stack; coroutine.uc_stack.ss_size = sizeof stack; coroutine.uc_link = &main_context;
	makecontext(&coroutine, co, 0);
	for (int i = 0; i < 4; i++) { swapcontext(&main_context, &coroutine); step(i); }
}
/* ends of threads */
static int cleaned;
NI void clean(void *p) { (void)p; __atomic_fetch_add(&cleaned, 1, __ATOMIC_SEQ_CST); }
NI void ends(int n) { pthread_cleanup_push(clean, NULL); if (!n) pthread_exit((void *)3); ends(n - 1); pthread_cleanup_pop(0); }
NI void *exits(void *p) { ends(3); return p; }
NI void waits(int n) { pthread_cleanup_push(clean, NULL); if (!n) for (;;) pause(); waits(n - 1); pthread_cleanup_pop(0); }
NI void *canceled(void *p) { waits(3); return p; }
NI void *plain(void *p) { return (char *)p + recursion(20); }
NI void threads(void)
{
	pthread_t t; void *v; pthread_attr_t attr;
	pthread_create(&t, 0, exits, 0); pthread_join(t, &v); printf("exit %ld\n", (long)v);
	pthread_create(&t, 0, canceled, 0); usleep(10000); pthread_cancel(t); pthread_join(t, &v); printf("canceled %d cleaned %d\n", v == PTHREAD_CANCELED, cleaned);
	for (int i = 0; i < 20; i++) { pthread_create(&t, 0, plain, (void *)1); pthread_join(t, &v); }
	pthread_attr_init(&attr); pthread_attr_setstack(&attr, aligned_alloc(4096, 1 << 20), 1 << 20);
	pthread_create(&t, &attr, plain, (void *)1); pthread_join(t, &v); printf("plain %ld\n", (long)v);
}
NI int processes(void)
{
	int s = 0; pid_t p = fork();
	if (!p) _exit(recursion(5));
	waitpid(p, &s, 0);
	p = VFORK(); if (!p) _exit(tail_start(0));
	int s2; waitpid(p, &s2, 0);
	return WEXITSTATUS(s) * 100 + WEXITSTATUS(s2);
}
NI int traces(int n) { void *at[64]; return n ? traces(n - 1) + sink * 0 : backtrace(at, 64); }
int main(void)
{
	double out[4] = { 0 };
	printf("opened %d\n", close(open("/dev/null", O_RDONLY)));
	stack_t alt = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction a = { .sa_handler = on_signal };
	struct two p; struct big b;
	printf("%g %Lg %g\n", reals(1, 2, 3, 4, 5, 6, 7, 8, 9), extended(10, 4), various(3, 1.5, 2.5, 3.0));
	printf("kept %ld\n", many(1, 2, 3, 4, 5, 6));
	p = pair(1.5, 41); b = wide(3); printf("%g %ld %ld %lld\n", p.a, p.b, b.a[5], (long long)huge(1LL << 40, 3));
	if (has_vectors()) use_vectors(out); printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
	struct reals4 four4 = spread(1.5); printf("%g %g %d %d\n", four4.a, four4.d, large(100), sized(300));
	printf("tail %d rec %d jump %d sort %d\n", tail_start(2), recursion(500), jumps(10) + jumps(3), sorts());
	sigaltstack(&alt, 0); sigaction(SIGUSR1, &a, 0); a.sa_flags = SA_ONSTACK; sigaction(SIGUSR2, &a, 0);
	raises(); printf("signals %d\n", signals);
	contexts(); threads(); printf("processes %d\n", processes());
	printf("frames %d\n", traces(10) > 11);
	for (int i = 0; i < 1000; i++) jumps(i % 7);
	return 0;
}
"""
CXX = r"""
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#define NI __attribute__((noinline))
static int destroyed;
struct Guard { int n; NI explicit Guard(int n) : n(n) {} NI ~Guard() { destroyed++; } };
NI void thrower(int n) { Guard g(n); if (!n) throw std::runtime_error("deep"); thrower(n - 1); }
NI void rethrower(int n) { Guard g(n); try { thrower(n); } catch (const std::exception &) { Guard h(1); throw; } }
NI int catches(int n) { try { rethrower(n); } catch (const std::runtime_error &e) { return (int)std::string(e.what()).size(); } return -1; }
NI void translates(int n) { try { thrower(n); } catch (...) { std::throw_with_nested(std::logic_error("outer")); } }
NI int nested() { try { translates(2); } catch (const std::logic_error &e) { try { std::rethrow_if_nested(e); } catch (const std::runtime_error &) { return 2; } return 1; } return 0; }
NI int inside() { int s = 0; for (int i = 0; i < 50; i++) { try { thrower(i % 5); } catch (...) { s += catches(i % 3); } } return s; }
struct Destroys { NI ~Destroys() { try { thrower(1); } catch (...) { destroyed += 100; } } };
NI void unwinds() { Destroys d; thrower(2); }
NI int no_throw() noexcept { return catches(4); }
int main()
{
	printf("%d %d %d\n", catches(5), nested(), inside());
	try { unwinds(); } catch (...) { printf("unwound %d\n", std::uncaught_exceptions()); }
	auto f = std::async(std::launch::async, [] { thrower(3); return 1; });
	try { f.get(); } catch (const std::exception &e) { printf("async %s\n", e.what()); }
	std::vector<std::thread> ts;
	for (int i = 0; i < 4; i++) ts.emplace_back([i] { for (int k = 0; k < 100; k++) catches(k % 9 + i); });
	for (auto &t : ts) t.join();
	std::function<int(int)> fn = [](int n) { return no_throw() + n; };
	printf("%d\n", fn(3));
	printf("destroyed %d\n", destroyed > 0);
	return 0;
}
"""
# Of each program: functions that only return, and some of those that something else leaves.
RETURN = {"c": ("reals", "extended", "pair", "wide", "various", "huge", "spread", "large", "sized", "keeps", "many", "tail_start", "tail_middle", "tail_end", "recursion", "sorts", "order", "jumps",
                "raises", "threads", "processes", "traces"),
          "x": ("catches", "nested", "inside", "no_throw")}
LEFT = {"c": ("deep", "ends"), "x": ("thrower", "rethrower", "translates", "unwinds")}


def built(scratch, name, text, compiler, *flags):
    source, program = os.path.join(scratch, name + (".cpp" if name == "x" else ".c")), os.path.join(scratch, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    run(compiler, "-pthread", "-Wno-unused-result", *flags, "-o", program, source)
    return program


def calls(rows):
    """Return: {function: [calls that ended, that did not]}; names of C++ without their arguments."""
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        name = row["function"].split("(")[0]
        sums[name][0] += row["calls"]
        sums[name][1] += row["unfinished"]
    return sums


def compare_ends(check, trace, name, what):
    """Each of the program's functions has an end or none, as it should."""
    found = calls(report(trace, "profile")["profile"])
    for function in RETURN[name]:
        ended, open_ = found[function]
        # Signals come on a stack of their own, too, from on_signal().
        less = 2 if function.startswith("tail_") else 0
        check.ok(f"{what}: {function}() has its ends", ended > 0 and open_ <= less, (ended, open_))
    for function in LEFT[name]:
        check.ok(f"{what}: {function}() has no end where it was left", found[function][1] > 0, found[function])
