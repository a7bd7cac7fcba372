/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of known kind and size, for tests of what explains a trace: --fault KIND[:MS], several
 * times if you like. When and how often the places below are visited is the robot's own; on which
 * visit a fault comes, --seed says.
 *
 * With a fault all threads of the robot are of real-time priority (SCHED_FIFO 10) where that is
 * permitted, so that no other program adds to it.
 *
 *   kind    place      what happens there, for MS milliseconds (default 120)
 *   hold    costmap    its timer keeps the executor busy
 *   hog     detector   a thread of a higher priority, named "hog", takes the CPU that its thread is bound to meanwhile
 *   pages   detector   it maps, touches and gives back memory: page faults
 *   lock    planner    it waits for a mutex, which the thread "planner_loader" holds and sleeps
 *   late    lidar      its timer is due later than it was meant to be, while the executor goes on
 *   link    lidar      /scan is held back, and what comes behind it, too, as after a loss on a reliable link
 *   loss    lidar      /scan is published, and never gets anywhere
 *
 * Context: one thread a place; no fault begins twice.
 */
#ifndef ROBOT_FAULTS_H
#define ROBOT_FAULTS_H

#include "mini_rclcpp.h"

/** faults_init() - plan them. Exits with status 2 when one is not known. */
void faults_init(const struct rc_options *options);

/** faults_visit() - @place is visited: the fault that is to come now happens. Blocks for as long as
 * it takes. */
void faults_visit(const char *place);

/** faults_timer() - the same for faults of @timer, whose callback this is. */
void faults_timer(const char *place, struct rc_entity *timer);

/** faults_publish() - rc_publish() over a link that may be at fault. @message: what it points to
 * outlives the robot. */
void faults_publish(const char *place, struct rc_publisher *publisher, const void *message,
		    size_t size);

/** faults_print() - what happened in this process, a line of JSON each; times are those of the wall
 * clock, as kymo's tables have them. */
void faults_print(void);

#endif
