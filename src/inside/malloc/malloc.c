/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wraps malloc() and its family, of whatever allocator the program uses. Names and fields of the
 * events are those of LTTng's liblttng-ust-libc-wrapper. LTTng has no event for aligned_alloc(), so
 * it is recorded as memalign; reallocarray() is recorded as realloc.
 *
 * dlsym() finds the allocator, but dlsym() may itself allocate. Until the allocator is found,
 * memory comes from a small arena that is never freed. A program whose executable has its own
 * malloc() does not call these functions at all.
 *
 * Context: that of the functions themselves, and of kymo__reserve().
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inside/malloc/malloc_emit.h"
#include "inside/malloc/malloc_sums.h"

#define ARENA_SIZE	(64u << 10)
#define ARENA_ALIGN	16u

typedef void *malloc_function(size_t size);
typedef void *calloc_function(size_t nmemb, size_t size);
typedef void *realloc_function(void *in_ptr, size_t size);
typedef void free_function(void *ptr);
typedef void *memalign_function(size_t alignment, size_t size);
typedef int posix_memalign_function(void **out_ptr, size_t alignment, size_t size);

static struct {
	malloc_function *malloc;
	calloc_function *calloc;
	realloc_function *realloc;
	free_function *free;
	memalign_function *memalign, *aligned_alloc;
	posix_memalign_function *posix_memalign;
} below;
static bool found;			/* stored with release when all of `below` is known */
static __thread bool finding;		/* this thread is in dlsym() */
static enum malloc_beside beside;       /* known with `found` */

/* ---- until the allocator is found ---- */

static _Alignas(ARENA_ALIGN) char arena[ARENA_SIZE];
static size_t arena_used;

static bool is_arena(const void *at)
{
	return (const char *)at >= arena && (const char *)at < arena + ARENA_SIZE;
}

static void *arena_take(size_t size, size_t align)
{
	size_t at, whole;

	if (align < ARENA_ALIGN)
		align = ARENA_ALIGN;
	if (size > ARENA_SIZE / 2 || align > ARENA_SIZE / 2)
		return NULL;
	whole = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN + align;
	at = __atomic_fetch_add(&arena_used, whole, __ATOMIC_RELAXED);
	if (at > ARENA_SIZE - whole)
		return NULL;
	/* never used before: all zero */
	return (void *)(((uintptr_t)arena + at + align - 1) & ~((uintptr_t)align - 1));
}

/*
 * The union avoids a conversion from an object pointer to a function pointer, which ISO C does not
 * have.
 */
#define FIND(name) ({							\
		union { void *object; __typeof__(below.name) function; } found_;	\
		found_.object = dlsym(RTLD_NEXT, #name);			\
		below.name = found_.function;					\
	})

/*
 * Find the allocator. Two threads may run this at once: they find the same functions. Return:
 * false: this thread is in dlsym().
 */
static bool find(void)
{
	if (finding)
		return false;
	finding = true;
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	FIND(memalign);
	FIND(aligned_alloc);
	FIND(posix_memalign);
	beside = malloc_beside();
	if (beside == BESIDE_LEAKS)
		(void)malloc_is_linker(NULL);
	finding = false;
	__atomic_store_n(&found, true, __ATOMIC_RELEASE);
	return true;
}

static inline bool ready(void)
{
	return kymo_likely(__atomic_load_n(&found, __ATOMIC_ACQUIRE)) || find();
}

/* ---- events ---- */

#define EMIT(id, ...) do {						\
		const uint64_t payload_[] = { __VA_ARGS__ };			\
		malloc_emit(KYMO_POINT_##id, payload_, sizeof(payload_));	\
	} while (0)
#define NUMBER(pointer) ((uint64_t)(uintptr_t)(pointer))

/* The event of a call or, with KYMO_MALLOC=sums, @count: its part of the thread's sums. */
#define RECORD(id, count, ...)                         \
	do {                                           \
		if (malloc_wanted(KYMO_POINT_##id)) {  \
			if (malloc_sums)               \
				count;                 \
			else                           \
				EMIT(id, __VA_ARGS__); \
		}                                      \
	} while (0)

static size_t size_of(void *ptr)
{
	return is_arena(ptr) ? 0 : malloc_size(ptr);
}

/*
 * Beside a sanitizer, call the function below as if this one did not exist. The call must be the
 * last of a function, so that the compiler jumps: then the function below sees the caller.
 */
static inline bool steps_aside(const void *caller)
{
	return kymo_unlikely(beside) && __atomic_load_n(&found, __ATOMIC_ACQUIRE) &&
	       (beside == BESIDE_ALL || malloc_is_linker(caller));
}
#define STEPS_ASIDE steps_aside(__builtin_return_address(0))

/* ---- the functions ---- */

KYMO_EXPORT void *malloc(size_t size)
{
	void *ptr;

	if (STEPS_ASIDE)
		return below.malloc(size);
	ptr = ready() ? below.malloc(size) : arena_take(size, 0);
	RECORD(libc_malloc, malloc_count(ptr, size_of(ptr), NULL, 0), size, NUMBER(ptr));
	return ptr;
}

/*
 * The event is recorded before the call: after it, another thread may already have the same memory.
 */
KYMO_EXPORT void free(void *ptr)
{
	RECORD(libc_free, malloc_count(NULL, 0, ptr, size_of(ptr)), NUMBER(ptr));
	if (!is_arena(ptr) && ready())
		below.free(ptr);
}

KYMO_EXPORT void *calloc(size_t nmemb, size_t size)
{
	size_t bytes = 0;
	void *ptr;

	if (STEPS_ASIDE)
		return below.calloc(nmemb, size);
	if (kymo_likely(ready()))
		ptr = below.calloc(nmemb, size);
	else
		ptr = __builtin_mul_overflow(nmemb, size, &bytes) ? NULL : arena_take(bytes, 0);
	RECORD(libc_calloc, malloc_count(ptr, size_of(ptr), NULL, 0), nmemb, size, NUMBER(ptr));
	return ptr;
}

/*
 * Copy a block of the arena to new memory. The block's size is unknown, so bytes after the block
 * may be copied, too: harmless.
 */
static void *from_arena(const char *in_ptr, size_t size)
{
	size_t left = (size_t)(arena + ARENA_SIZE - in_ptr);
	void *ptr = ready() ? below.malloc(size) : arena_take(size, 0);

	if (ptr)
		memcpy(ptr, in_ptr, size < left ? size : left);
	return ptr;
}

static void *resize(void *in_ptr, size_t size)
{
	const size_t before = malloc_sums ? size_of(in_ptr) : 0;
	void *ptr;

	if (is_arena(in_ptr))
		ptr = from_arena(in_ptr, size);
	else
		/* not ready: then in_ptr is NULL */
		ptr = ready() ? below.realloc(in_ptr, size) : arena_take(size, 0);
	/* If it fails, the old block stays. */
	RECORD(libc_realloc,
	       malloc_count(ptr, size_of(ptr), ptr || !size ? in_ptr : NULL,
			    ptr || !size ? before : 0),
	       NUMBER(in_ptr), size, NUMBER(ptr));
	return ptr;
}

KYMO_EXPORT void *realloc(void *in_ptr, size_t size)
{
	if (STEPS_ASIDE && !is_arena(in_ptr))
		return below.realloc(in_ptr, size);
	return resize(in_ptr, size);
}

KYMO_EXPORT void *reallocarray(void *in_ptr, size_t nmemb, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nmemb, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(in_ptr, bytes);
}

KYMO_EXPORT void *memalign(size_t alignment, size_t size);
KYMO_EXPORT void *memalign(size_t alignment, size_t size)
{
	void *ptr;

	if (STEPS_ASIDE)
		return below.memalign(alignment, size);
	ptr = ready() ? below.memalign(alignment, size) : arena_take(size, alignment);
	RECORD(libc_memalign, malloc_count(ptr, size_of(ptr), NULL, 0), alignment, size,
	       NUMBER(ptr));
	return ptr;
}

KYMO_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	void *ptr;

	if (STEPS_ASIDE)
		return below.aligned_alloc(alignment, size);
	ptr = ready() ? below.aligned_alloc(alignment, size) : arena_take(size, alignment);
	RECORD(libc_memalign, malloc_count(ptr, size_of(ptr), NULL, 0), alignment, size,
	       NUMBER(ptr));
	return ptr;
}

KYMO_EXPORT int posix_memalign(void **out_ptr, size_t alignment, size_t size)
{
	struct __attribute__((packed)) {
		uint64_t out_ptr, alignment, size;
		int32_t result;
	} payload = { .alignment = alignment, .size = size };

	if (STEPS_ASIDE)
		return below.posix_memalign(out_ptr, alignment, size);
	if (kymo_likely(ready())) {
		payload.result = below.posix_memalign(out_ptr, alignment, size);
	} else {
		*out_ptr = arena_take(size, alignment);
		payload.result = *out_ptr ? 0 : ENOMEM;
	}
	if (malloc_wanted(KYMO_POINT_libc_posix_memalign) && malloc_sums) {
		if (!payload.result)
			malloc_count(*out_ptr, size_of(*out_ptr), NULL, 0);
	} else if (malloc_wanted(KYMO_POINT_libc_posix_memalign)) {
		payload.out_ptr = payload.result ? 0 : NUMBER(*out_ptr);
		malloc_emit(KYMO_POINT_libc_posix_memalign, &payload, sizeof(payload));
	}
	return payload.result;
}
