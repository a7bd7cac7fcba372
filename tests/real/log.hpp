/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes of zoo.cpp and control.cpp write down; the lines are those of zoo.hpp. */
#pragma once
#include <cstdint>
#include <mutex>
#include <string>

namespace zoo
{
/* Written into the file that ZOO_LOG names when the program ends. */
class Log {
public:
	~Log();
	void say(const char *format, ...) __attribute__((format(printf, 2, 3)));

private:
	std::mutex mutex_;
	std::string text_;
};

extern Log log_;

/** moment() - ns of CLOCK_MONOTONIC */
int64_t moment();
/** ran() - say that this callback runs now; received() - and that it got this number */
void ran(const std::string &callback);
void received(const std::string &callback, uint64_t number);
}
