/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Obstacles from laser scans, and a costmap of them, on one single-threaded executor. That is
 * the robot's flaw: about once a second the costmap is rebuilt from scratch, which takes 20 ms,
 * and a scan that arrives meanwhile waits although its own callback is quick.
 */
#include <stdio.h>

#include "faults.h"
#include "work.h"

#define CENTERS_MAX 64
#define CELLS 100
#define REBUILD_NS (20 * MS)
/*
 * Every tenth update is a rebuild: every 960 ms, which is 10 ms off a multiple of the scans' 25 ms.
 * So a scan comes within the first half of at least one rebuild in three, and waits 10 ms or more.
 */
#define UPDATE_NS (96 * MS)
#define UPDATES_PER_REBUILD 10

static struct {
	struct rc_context context;
	struct rc_executor executor;
	struct rc_node detector, costmap;
	struct rc_publisher obstacles;
	struct rc_entity scan, obstacles_in, update_timer;
	uint8_t cell[CELLS][CELLS];
	uint64_t seed;
	unsigned scans, updates, rebuilds, next_rebuild;
} robot;

static void on_scan(void *user, const void *message)
{
	const sensor_msgs_msg_dds__LaserScan_ *scan = message;
	geometry_msgs_msg_dds__Point_ center[CENTERS_MAX];
	robot_msgs_msg_dds__Obstacles_ obstacles = { .header = header_now("laser") };
	uint32_t count = 0;

	(void)user;
	for (uint32_t i = 1; i + 1 < scan->ranges._length && count < CENTERS_MAX; i++) {
		const float *range = scan->ranges._buffer + i;

		if (range[0] < range[-1] && range[0] < range[1])
			center[count++] = (geometry_msgs_msg_dds__Point_){ range[0], (double)i, 0 };
	}
	work_for(300 * US);
	faults_visit("detector");
	obstacles.centers._length = obstacles.centers._maximum = count;
	obstacles.centers._buffer = center;
	robot.scans++;
	rc_publish(&robot.obstacles, &obstacles);
}

static void on_obstacles(void *user, const void *message)
{
	const robot_msgs_msg_dds__Obstacles_ *obstacles = message;

	(void)user;
	for (uint32_t i = 0; i < obstacles->centers._length; i++) {
		const geometry_msgs_msg_dds__Point_ *center = obstacles->centers._buffer + i;

		robot.cell[(unsigned)(center->x * 8) % CELLS][(unsigned)center->y % CELLS] = 255;
	}
	work_for(100 * US);
}

static void on_update_timer(void *user)
{
	(void)user;
	robot.updates++;
	faults_visit("costmap");
	for (int x = 0; x < CELLS; x++)
		for (int y = 0; y < CELLS; y++)
			robot.cell[x][y] -= robot.cell[x][y] / 8;
	if (robot.updates != robot.next_rebuild) {
		work_for(400 * US);
		return;
	}
	robot.next_rebuild += UPDATES_PER_REBUILD;
	robot.rebuilds++;
	work_for(REBUILD_NS);
}

static void nodes_init(void)
{
	struct rc_executor *executor = &robot.executor;

	rc_node_init(&robot.detector, executor, "obstacle_detector", "/perception");
	rc_publisher_init(&robot.obstacles, &robot.detector, &robot_msgs_msg_dds__Obstacles__desc,
			  "/obstacles");
	rc_subscription_init(&robot.scan, &robot.detector, &sensor_msgs_msg_dds__LaserScan__desc,
			     "/scan", on_scan, NULL,
			     "robot::ObstacleDetector::on_scan(sensor_msgs::msg::LaserScan const&)");

	rc_node_init(&robot.costmap, executor, "costmap", "/perception");
	rc_subscription_init(&robot.obstacles_in, &robot.costmap,
			     &robot_msgs_msg_dds__Obstacles__desc, "/obstacles", on_obstacles, NULL,
			     "robot::Costmap::on_obstacles(robot_msgs::msg::Obstacles const&)");
	rc_timer_init(&robot.update_timer, &robot.costmap, UPDATE_NS, on_update_timer, NULL,
		      "robot::Costmap::on_update_timer()");
}

int main(int argc, char **argv)
{
	struct rc_options options = rc_main_options(argc, argv);

	faults_init(&options);
	robot.seed = options.seed * 2654435761u + 1;
	robot.next_rebuild = 5 + (unsigned)(5 * chance(&robot.seed));
	rc_init(&robot.context, &options);
	rc_executor_init(&robot.executor, &robot.context);
	nodes_init();
	rc_spin(&robot.executor, 1);
	rc_shutdown(&robot.context);
	printf("perception: %u scans, %u costmap updates, %u of them rebuilds of 20 ms\n",
	       robot.scans, robot.updates, robot.rebuilds);
	faults_print();
	return 0;
}
