/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros of kymo.h for C++17 programs, with the same names and the same meaning.
 *
 *     #include <kymo/kymo.hpp>
 *
 *     void plan(int step)
 *     {
 *             KYMO_SPAN("control", "plan", ("step", step));     // begins here, ends with the scope
 *             ...
 *             KYMO_INSTANT("control", "replanned", ("why", "obstacle"), ("cost", 1.5));
 *     }
 *     void stop()
 *     {
 *             KYMO_FUNCTION("control");        // a span with the name of the function
 *     }
 *     void load(const std::string &name)
 *     {
 *             kymo::span span("plugin", name.c_str());          // a name known only at run time
 *     }
 *
 * You can use them in inline functions, templates, lambdas, constructors of static objects, and
 * libraries that are loaded and unloaded. They throw nothing, allocate nothing, and need nothing of
 * the standard library at run time.
 *
 * The value of a field is an integer, an enumeration, a floating-point number, a bool, a pointer, a
 * char *, or an object with data() and size() of char (std::string, std::string_view), cut at its
 * first NUL or after KYMO_TEXT_MAX bytes.
 *
 * kymo::set_enabled(), kymo::set_category(), kymo::realtime() and kymo::snapshot() are the
 * functions of kymo.h. kymo::prepare_thread() is kymo_thread_prepare() of thread.h:
 * kymo::prepare_thread({.ring_bytes = 4 << 20}), or before C++20 a kymo::thread_options whose
 * members you set.
 *
 * For context and cost see kymo.h. -DKYMO_COMPILE_OUT leaves nothing of kymo in the program.
 *
 * How a place gets its description: each macro defines a local type, and a class template over that
 * type holds the description as a static member. The linker merges the copies that inline functions
 * and templates put into many files; it could not merge static variables in a section, as C has
 * them. The initialiser of the member registers the place when the program or library is loaded. If
 * a place is reached before that, its first event registers it. All of it is hidden: a library has
 * its own descriptions, and they go with it when it is unloaded.
 */
#ifndef KYMO_KYMO_HPP
#define KYMO_KYMO_HPP

#pragma GCC system_header	/* no warnings about these macros, whatever -W options you use */

#include <type_traits>
#include <utility>

#include "kymo.h"
#include "thread.h"

#ifndef KYMO_COMPILE_OUT

namespace kymo {
namespace detail __attribute__((visibility("hidden"))) {

/* enum kymo_shape of the region layout */
enum shape : uint8_t { point, begin, end, instant, counter };

/* ---- values of fields ---- */

template <class Raw, uint8_t Kind>
struct number {
	static constexpr uint8_t kind = Kind;
	static constexpr size_t room = sizeof(Raw);
	Raw raw;
	uint8_t *put(uint8_t *at) const noexcept { return kymo__put(at, &raw, sizeof raw); }
};

struct text {
	static constexpr uint8_t kind = KYMO__TEXT;
	static constexpr size_t room = KYMO_TEXT_MAX + 1;
	const char *from;
	size_t most; /* bytes that may be read; SIZE_MAX: not known */

	uint8_t *put(uint8_t *at) const noexcept
	{
		if (!from || most > KYMO_TEXT_MAX)
			return kymo__put_text(at, from);
		const void *nul = most ? memchr(from, 0, most) : nullptr;
		const size_t length = nul ? size_t(static_cast<const char *>(nul) - from) : most;

		if (length)
			memcpy(at, from, length);
		at[length] = 0;
		return at + length + 1;
	}
};

template <class T>
constexpr auto number_of() noexcept
{
	if constexpr (std::is_same_v<T, bool>)
		return number<int32_t, KYMO__BOOL>{};
	else if constexpr (std::is_floating_point_v<T>)
		return number<double, KYMO__F64>{};
	else if constexpr (std::is_signed_v<T>)
		if constexpr (sizeof(T) == 1)
			return number<int8_t, KYMO__I8>{};
		else if constexpr (sizeof(T) == 2)
			return number<int16_t, KYMO__I16>{};
		else if constexpr (sizeof(T) == 4)
			return number<int32_t, KYMO__I32>{};
		else
			return number<int64_t, KYMO__I64>{};
	else if constexpr (sizeof(T) == 1)
		return number<uint8_t, KYMO__U8>{};
	else if constexpr (sizeof(T) == 2)
		return number<uint16_t, KYMO__U16>{};
	else if constexpr (sizeof(T) == 4)
		return number<uint32_t, KYMO__U32>{};
	else
		return number<uint64_t, KYMO__U64>{};
}

/* By value, so that a `static const int` member without a definition works, too. */
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
constexpr auto field(T value) noexcept
{
	auto result = number_of<std::conditional_t<std::is_same_v<T, char>, signed char, T>>();

	result.raw = static_cast<decltype(result.raw)>(value);
	return result;
}

template <class T, std::enable_if_t<std::is_enum_v<T>, int> = 0>
constexpr auto field(T value) noexcept
{
	return field(static_cast<std::underlying_type_t<T>>(value));
}

template <class T>
auto field(T *value) noexcept
{
	if constexpr (std::is_same_v<std::remove_const_t<T>, char>)
		return text{ value, __builtin_object_size(value, 0) };
	else
		return number<uint64_t, KYMO__PTR>{reinterpret_cast<uintptr_t>(value)};
}

constexpr auto field(std::nullptr_t) noexcept
{
	return number<uint64_t, KYMO__PTR>{0};
}

template <class T, class = const char *> inline constexpr bool has_text = false;
template <class T>
inline constexpr bool has_text<T, std::add_pointer_t<std::add_const_t<std::remove_pointer_t<
					  decltype(std::declval<const T &>().data())>>>> = true;

template <class T,
	  std::enable_if_t<std::is_class_v<T> || std::is_union_v<T> || std::is_member_pointer_v<T>,
			   int> = 0>
auto field(const T &value) noexcept
{
	static_assert(
		has_text<T>,
		"the value of a field is a number, an enumeration, a bool, a pointer, a char *, "
		"or an object with data() and size() of char");
	if constexpr (has_text<T>)
		return text{ value.data(), value.size() };
	else
		return number<uint64_t, KYMO__PTR>{ 0 };
}

/* ---- places ---- */

struct place {
	uint8_t shape;
	uint32_t line;
	const char *category, *name, *file, *function;
	const char *const *field; /* their names */
};

/*
 * Whether the compiler knows the bytes: an array of const char is a literal or __func__; of a
 * pointer,
 * @constant says whether its value is known.
 */
template <class T> constexpr bool is_literal(bool constant) noexcept
{
	using type = std::remove_reference_t<T>;

	if constexpr (std::is_array_v<type>)
		return std::is_same_v<std::remove_extent_t<type>, const char>;
	else
		return constant && std::is_convertible_v<T, const char *>;
}

constexpr const char *literal(const char *text) noexcept
{
	return text;
}

template <class T, std::enable_if_t<!std::is_convertible_v<T, const char *>, int> = 0>
constexpr const char *literal(const T &) noexcept
{
	return "";
}

constexpr size_t length_of(const char *text) noexcept
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

/* Names that are made of two literals. */
template <size_t Length> struct joined {
	const char text[Length + 1];
};

template <size_t... I, size_t... J>
constexpr joined<sizeof...(I) + sizeof...(J)> join(
	const char *a, std::index_sequence<I...>, const char *b, std::index_sequence<J...>) noexcept
{
	return { { a[I]..., b[J]..., 0 } };
}

/* Not in a function: an inline function of a library would keep the library from being unloaded. */
template <class Made> struct kept {
	static constexpr auto made = Made::make();
};

/* What KYMO_FUNCTION() names its category: what it was given, if it was given something. */
inline constexpr char function_category[] = "function";
template <class T> constexpr T &&category_of(T &&category) noexcept
{
	return static_cast<T &&>(category);
}
constexpr const char(&category_of() noexcept)[sizeof(function_category)]
{
	return function_category;
}

struct field_table {
	kymo_site_field field[KYMO_EVENT_FIELDS_MAX + 1];
};

template <class... Value>
constexpr field_table fields_of(const place &at) noexcept
{
	field_table table{};
	unsigned i = 0;

	((table.field[i] = kymo_site_field{Value::kind, at.field[i]}, ++i), ...);
	return table;
}

struct registration {
	kymo_site *site;

	explicit registration(kymo_site *of) noexcept : site(of) { kymo__register(of, of + 1); }
	~registration() { kymo__unregister(site); }
	registration(const registration &) = delete;
	registration &operator=(const registration &) = delete;
};

template <class... Value> constexpr bool first_is_number() noexcept
{
	const uint8_t kind[] = { Value::kind..., KYMO__PTR };

	return !sizeof...(Value) || (kind[0] != KYMO__TEXT && kind[0] != KYMO__PTR);
}

template <class Place, class... Value> struct site_of {
	static constexpr place at = Place::place();
	static constexpr field_table fields = fields_of<Value...>(at);
	/* No dynamic initialiser: valid from the first instruction of the program on. */
	static inline kymo_site site = {
		KYMO_SITE_NEW, KYMO_SITE_NEW, at.shape, sizeof...(Value), at.line,
		at.category, at.name, at.file, at.function, fields.field,
	};
	static inline const registration registered{&site};

	static kymo_site *get() noexcept
	{
		(void)&registered;	/* use it, so that the compiler keeps it */
		return &site;
	}

	static bool wanted() noexcept { return kymo__wanted(get()); }

	static bool emit(int, Value... value) noexcept
	{
		static_assert(at.shape != counter || first_is_number<Value...>(), KYMO__NO_NUMBER);
		if constexpr (sizeof...(Value) == 0) {
			return kymo__event(&site, "", 0);
		} else {
			uint8_t buffer[(Value::room + ...)], *to = buffer;

			((to = value.put(to)), ...);
			return kymo__event(&site, buffer, size_t(to - buffer));
		}
	}
};

/* Only for its type; it is never called. */
template <class Place, class... Value>
site_of<Place, Value...> *site_for(int, Value...) noexcept
{
	return nullptr;
}

} /* namespace detail */

/* An open span, which ends with its scope. KYMO_SPAN() creates one with a literal name. */
class span {
public:
	/** span() - begin a span whose name is known only at run time, as kymo_begin_named() */
	span(const char *category, const char *name) noexcept
		: named_(kymo_begin_named(category, name)) {}
	/** span() - for KYMO_SPAN(): the end to emit, or NULL */
	explicit span(kymo_site *end) noexcept : end_(end) {}
	~span() { finish(); }
	span(const span &) = delete;
	span &operator=(const span &) = delete;

	/** finish() - end the span before its scope ends; a second call is harmless */
	void finish() noexcept
	{
		if (end_)
			(void)kymo__event(end_, "", 0);
		else if (named_)
			kymo_end_named();
		end_ = nullptr;
		named_ = false;
	}

private:
	kymo_site *end_ = nullptr;
	bool named_ = false;
};

} /* namespace kymo */

/*
 * f("a", 1) f("b", 2) ... for a list of pairs that ends with a ~. Because of the ~ no list is empty, so
 * that C++17's preprocessor, which has no __VA_OPT__, can expand it.
 */
#define KYMO__ALL_KYMO__MANY(...)
#define KYMO__ALL_0(f, ...)
#define KYMO__ALL_1(f, t, ...) KYMO__PAIR(f, t)
#define KYMO__ALL_2(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_1(f, __VA_ARGS__)
#define KYMO__ALL_3(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_2(f, __VA_ARGS__)
#define KYMO__ALL_4(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_3(f, __VA_ARGS__)
#define KYMO__ALL_5(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_4(f, __VA_ARGS__)
#define KYMO__ALL_6(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_5(f, __VA_ARGS__)
#define KYMO__ALL_7(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_6(f, __VA_ARGS__)
#define KYMO__ALL_8(f, t, ...) KYMO__PAIR(f, t) KYMO__ALL_7(f, __VA_ARGS__)
#define KYMO__PAIRS_(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, n, ...) n
#define KYMO__PAIRS(...)                                                                      \
	KYMO__PAIRS_(__VA_ARGS__, KYMO__MANY, KYMO__MANY, KYMO__MANY, KYMO__MANY, KYMO__MANY, \
		     KYMO__MANY, KYMO__MANY, KYMO__MANY, 8, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define KYMO__ALL(f, ...) KYMO__CAT(KYMO__ALL_, KYMO__PAIRS(__VA_ARGS__))(f, __VA_ARGS__)

#define KYMO__ARE_PAIRS_KYMO__MANY(...) true
#define KYMO__ARE_PAIRS_0(...) true
#define KYMO__ARE_PAIRS_1(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_0(__VA_ARGS__)
#define KYMO__ARE_PAIRS_2(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_1(__VA_ARGS__)
#define KYMO__ARE_PAIRS_3(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_2(__VA_ARGS__)
#define KYMO__ARE_PAIRS_4(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_3(__VA_ARGS__)
#define KYMO__ARE_PAIRS_5(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_4(__VA_ARGS__)
#define KYMO__ARE_PAIRS_6(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_5(__VA_ARGS__)
#define KYMO__ARE_PAIRS_7(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_6(__VA_ARGS__)
#define KYMO__ARE_PAIRS_8(t, ...) KYMO__IS_PAIR(t) && KYMO__ARE_PAIRS_7(__VA_ARGS__)
#define KYMO__ARE_PAIRS(...) KYMO__CAT(KYMO__ARE_PAIRS_, KYMO__PAIRS(__VA_ARGS__))(__VA_ARGS__)

#define KYMO__NAME(name, value) KYMO__LITERAL(name),
#define KYMO__AND_NAME(name, value) &&KYMO__IS_LITERAL(name)
#define KYMO__VALUE(name, value) , ::kymo::detail::field(value)

#define KYMO__IS_LITERAL(text)                        \
	::kymo::detail::is_literal<decltype((text))>( \
		__builtin_constant_p(::kymo::detail::literal(text) != nullptr))
#define KYMO__LITERAL(text) (KYMO__IS_LITERAL(text) ? ::kymo::detail::literal(text) : "")
#define KYMO__LENGTH(text) ::kymo::detail::length_of(KYMO__LITERAL(text))
/* @name and @after as one constant text, name::made.text. */
#define KYMO__JOIN(name, text, after)                                                         \
	static constexpr const char *name##_of = KYMO__LITERAL(text);                         \
	struct name##_type {                                                                  \
		static constexpr auto make() noexcept                                         \
		{                                                                             \
			return ::kymo::detail::join(                                          \
				name##_of,                                                    \
				std::make_index_sequence<::kymo::detail::length_of(name##_of)>(), \
				after, std::make_index_sequence<sizeof(after) - 1>());        \
		}                                                                             \
	};                                                                                    \
	using name = ::kymo::detail::kept<name##_type>

/* What the assertions of one place check; a span has two sites, and one such place. */
#define KYMO__CHECK_NAMES(category, name, after)                                               \
	static_assert(KYMO__IS_LITERAL(category) && KYMO__IS_LITERAL(name), KYMO__NO_LITERAL); \
	static_assert(KYMO__LENGTH(category) <= KYMO_TEXT_MAX &&                               \
			      KYMO__LENGTH(name) + sizeof(after) - 1 <= KYMO_TEXT_MAX,         \
		      KYMO__NO_ROOM)
#define KYMO__CHECK(category, name, ...)                                                  \
	KYMO__CHECK_NAMES(category, name, "");                                            \
	static_assert(KYMO__PAIRS(__VA_ARGS__) <= KYMO_EVENT_FIELDS_MAX, KYMO__TOO_MANY); \
	static_assert(KYMO__ARE_PAIRS(__VA_ARGS__), KYMO__NO_PAIR);                       \
	static_assert(true KYMO__ALL(KYMO__AND_NAME, __VA_ARGS__), KYMO__NO_FIELD_NAME)

/*
 * The local type of one place. What may name the function that the macro is in is evaluated here;
 * in the type it would name place().
 */
#define KYMO__PLACE(type, site_shape, site_category, site_name, ...)                            \
	static constexpr const char *type##_function = __func__;                                \
	static constexpr const char *type##_category = KYMO__LITERAL(site_category);            \
	static constexpr const char *type##_name = KYMO__LITERAL(site_name);                    \
	static constexpr const char *const type##_field[] = { KYMO__ALL(KYMO__NAME,             \
									__VA_ARGS__) nullptr }; \
	struct type {                                                                           \
		static constexpr ::kymo::detail::place place() noexcept                         \
		{                                                                               \
			return { ::kymo::detail::site_shape,                                    \
				 __LINE__,                                                      \
				 type##_category,                                               \
				 type##_name,                                                   \
				 __FILE__,                                                      \
				 type##_function,                                               \
				 type##_field };                                                \
		}                                                                               \
	}
/*
 * The description of a place, with the types of its values. The values are not evaluated.
 * decltype() alone would not do: a value may contain a lambda.
 */
#define KYMO__SITE(site, place, ...)								\
	[[maybe_unused]] const auto site##_none = true ? nullptr :				\
		::kymo::detail::site_for<place>(0 KYMO__ALL(KYMO__VALUE, __VA_ARGS__));		\
	using site = std::remove_pointer_t<std::remove_const_t<decltype(site##_none)>>

#define KYMO__EMIT(site_shape, category, name, ...)                                    \
	do {                                                                           \
		KYMO__CHECK(category, name, __VA_ARGS__);                              \
		KYMO__PLACE(kymo__place, site_shape, category, name, __VA_ARGS__);     \
		KYMO__SITE(kymo__site, kymo__place, __VA_ARGS__);                      \
		if (kymo__site::wanted())                                              \
			(void)kymo__site::emit(0 KYMO__ALL(KYMO__VALUE, __VA_ARGS__)); \
	} while (0)

#define KYMO__EVENT_0(shape, ...)                    \
	do {                                         \
		static_assert(false, KYMO__TOO_FEW); \
	} while (0)
#define KYMO__EVENT_1(shape, ...) KYMO__EMIT(shape, __VA_ARGS__, ~)
#define KYMO__EVENT(shape, ...) \
	KYMO__CAT(KYMO__EVENT_, KYMO__HAS_TWO(__VA_ARGS__))(shape, __VA_ARGS__)
#define KYMO_BEGIN(...) KYMO__EVENT(begin, __VA_ARGS__)
#define KYMO_END(...) KYMO__EVENT(end, __VA_ARGS__)
#define KYMO_INSTANT(...) KYMO__EVENT(instant, __VA_ARGS__)
#define KYMO_TRACEPOINT(...) KYMO__EVENT(point, __VA_ARGS__)
#define KYMO__COUNTER(category, name, value, ...) \
	KYMO__EMIT(counter, category, name, ("value", value), __VA_ARGS__)
#define KYMO__COUNTER_0(...)                          \
	do {                                          \
		static_assert(false, KYMO__NO_COUNT); \
	} while (0)
#define KYMO__COUNTER_1(...) KYMO__COUNTER(__VA_ARGS__, ~)
#define KYMO_COUNTER(...) KYMO__CAT(KYMO__COUNTER_, KYMO__HAS_THREE(__VA_ARGS__))(__VA_ARGS__)

/*
 * Only the variable is named by the counter. The types of the place are local to a block, and have
 * the same names in each file that includes an inline function: the function has one place.
 */
#define KYMO__SPAN(at, category, name, ...)                                                   \
	[[maybe_unused]] const ::kymo::span kymo__span_##at(__extension__({                   \
		KYMO__CHECK(category, name, __VA_ARGS__);                                     \
		KYMO__PLACE(kymo__from, begin, category, name, __VA_ARGS__);                  \
		KYMO__PLACE(kymo__to, end, category, name, ~);                                \
		KYMO__SITE(kymo__begin, kymo__from, __VA_ARGS__);                             \
		KYMO__SITE(kymo__end, kymo__to, ~);                                           \
		kymo__begin::wanted() &&                                                      \
				kymo__begin::emit(0 KYMO__ALL(KYMO__VALUE, __VA_ARGS__))      \
			? kymo__end::get()                                                    \
			: nullptr;                                                            \
	}))
#define KYMO__SPAN_AT(at, ...) KYMO__SPAN(at, __VA_ARGS__)
#define KYMO__SPAN_0(...) static_assert(false, KYMO__TOO_FEW)
#define KYMO__SPAN_1(...) KYMO__SPAN_AT(__COUNTER__, __VA_ARGS__, ~)
#define KYMO_SPAN(...) KYMO__CAT(KYMO__SPAN_, KYMO__HAS_TWO(__VA_ARGS__))(__VA_ARGS__)
#define KYMO__FUNCTION(category, ...) \
	KYMO__SPAN_AT(__COUNTER__, ::kymo::detail::category_of(category), __func__, __VA_ARGS__)
#define KYMO_FUNCTION(...) KYMO__FUNCTION(__VA_ARGS__, ~)

#else /* KYMO_COMPILE_OUT */

namespace kymo {
class span {
public:
	span(const char *, const char *) noexcept {}
	~span() {}	/* not trivial, so that an unused span causes no warning */
	span(const span &) = delete;
	span &operator=(const span &) = delete;
	void finish() noexcept {}
};
} /* namespace kymo */

#define KYMO_BEGIN(...) ((void)0)
#define KYMO_END(...) ((void)0)
#define KYMO_INSTANT(...) ((void)0)
#define KYMO_COUNTER(...) ((void)0)
#define KYMO_TRACEPOINT(...) ((void)0)
#define KYMO_SPAN(...) ((void)0)
#define KYMO_FUNCTION(...) ((void)0)
#endif

/* The functions of kymo.h without the prefix. */
namespace kymo {
inline void set_enabled(bool on) noexcept { kymo_set_enabled(on); }
inline bool set_category(const char *category, bool on) noexcept
{
	return kymo_set_category(category, on);
}
inline void realtime(const char *name) noexcept { kymo_realtime(name); }
inline void snapshot() noexcept { kymo_snapshot(); }

/* The options of thread.h. */
struct thread_options {
	uint64_t ring_bytes = 0; /* at most 1 GiB; 0: the usual size */
	bool own_only = false;   /* take no blocks that all threads share */
};

/** prepare_thread() - a ring for the calling thread, before its first event. Return: 0 or -errno,
 * as kymo_thread_prepare() */
inline int prepare_thread(const thread_options &options) noexcept
{
	kymo_thread_options c{};

	c.size = sizeof c;
	c.ring_bytes = options.ring_bytes;
	c.own_only = options.own_only;
	return kymo_thread_prepare(&c);
}
} /* namespace kymo */

#endif
