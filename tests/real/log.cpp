// SPDX-License-Identifier: Apache-2.0
#include "log.hpp"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace zoo
{
Log log_;

Log::~Log()
{
	const char *name = std::getenv("ZOO_LOG");
	FILE *file = name ? std::fopen(name, "w") : nullptr;

	if (!file)
		return;
	(void)std::fputs(text_.c_str(), file);
	(void)std::fclose(file);
}

void Log::say(const char *format, ...)
{
	std::lock_guard<std::mutex> guard(mutex_);
	char line[512];
	va_list args;

	va_start(args, format);
	(void)std::vsnprintf(line, sizeof line, format, args);
	va_end(args);
	text_.append(line).append("\n");
}

int64_t moment()
{
	timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void ran(const std::string &callback)
{
	log_.say("run %s %" PRId64, callback.c_str(), moment());
}

void received(const std::string &callback, uint64_t number)
{
	log_.say("receive %s %" PRIu64 " %" PRId64, callback.c_str(), number, moment());
}
}
