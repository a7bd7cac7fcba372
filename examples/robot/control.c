/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the robot is, where it goes, and its 1000 Hz control loop, on one executor with three
 * threads. The mode is a service of the planner.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "faults.h"
#include "work.h"

#define THREADS 3

static struct {
	struct rc_context context;
	struct rc_executor executor;
	struct rc_node localization, planner, controller;
	struct rc_publisher odom, cmd_vel;
	struct rc_entity imu, odom_in, obstacles, set_mode, loop_timer;
	double x;			/* planner's group */
	bool automatic;			/* planner's group */
	_Atomic double speed;		/* planner to controller */
	double effort;			/* controller's group */
	unsigned loops, plans, modes;
} robot;

static void on_imu(void *user, const void *message)
{
	const sensor_msgs_msg_dds__Imu_ *imu = message;
	nav_msgs_msg_dds__Odometry_ odom = {
		.header = header_now("odom"), .child_frame_id = "base",
		.position = { imu->linear_acceleration.x, 0, 0 }, .yaw = imu->angular_velocity.z,
	};

	(void)user;
	work_for(50 * US);
	rc_publish(&robot.odom, &odom);
}

static void on_odom(void *user, const void *message)
{
	const nav_msgs_msg_dds__Odometry_ *odom = message;

	(void)user;
	robot.x += odom->position.x * 0.005;
	work_for(20 * US);
}

static void on_obstacles(void *user, const void *message)
{
	const robot_msgs_msg_dds__Obstacles_ *obstacles = message;
	geometry_msgs_msg_dds__Twist_ twist = { 0 };

	(void)user;
	work_for(200 * US);
	faults_visit("planner");
	twist.linear.x = robot.automatic ? 1.0 / (1 + obstacles->centers._length) : 0.1;
	robot.speed = twist.linear.x;
	robot.plans++;
	rc_publish(&robot.cmd_vel, &twist);
}

static void on_set_mode(void *user, const void *message, void *answer)
{
	const std_srvs_srv_dds__SetBool_Request_ *request = message;
	std_srvs_srv_dds__SetBool_Response_ *response = answer;

	(void)user;
	robot.automatic = request->data;
	robot.modes++;
	work_for(100 * US);
	response->success = true;
	response->message = dds_string_dup(request->data ? "automatic" : "manual");
}

static void on_loop_timer(void *user)
{
	(void)user;
	robot.effort += 0.1 * (robot.speed - robot.effort);
	robot.loops++;
	work_for(20 * US);
}

static void nodes_init(void)
{
	struct rc_executor *executor = &robot.executor;

	rc_node_init(&robot.localization, executor, "localization", "/control");
	rc_publisher_init(&robot.odom, &robot.localization, &nav_msgs_msg_dds__Odometry__desc,
			  "/odom");
	rc_subscription_init(&robot.imu, &robot.localization, &sensor_msgs_msg_dds__Imu__desc,
			     "/imu", on_imu, NULL,
			     "robot::Localization::on_imu(sensor_msgs::msg::Imu const&)");

	rc_node_init(&robot.planner, executor, "planner", "/control");
	rc_publisher_init(&robot.cmd_vel, &robot.planner, &geometry_msgs_msg_dds__Twist__desc,
			  "/cmd_vel");
	rc_subscription_init(&robot.odom_in, &robot.planner, &nav_msgs_msg_dds__Odometry__desc,
			     "/odom", on_odom, NULL,
			     "robot::Planner::on_odom(nav_msgs::msg::Odometry const&)");
	rc_subscription_init(&robot.obstacles, &robot.planner, &robot_msgs_msg_dds__Obstacles__desc,
			     "/obstacles", on_obstacles, NULL,
			     "robot::Planner::on_obstacles(robot_msgs::msg::Obstacles const&)");
	rc_service_init(&robot.set_mode, &robot.planner, &std_srvs_srv_dds__SetBool_Request__desc,
			&std_srvs_srv_dds__SetBool_Response__desc, "/set_mode", on_set_mode, NULL,
			"robot::Planner::on_set_mode(std_srvs::srv::SetBool_Request const&, "
			"std_srvs::srv::SetBool_Response&)");

	rc_node_init(&robot.controller, executor, "controller", "/control");
	rc_timer_init(&robot.loop_timer, &robot.controller, 1 * MS, on_loop_timer, NULL,
		      "robot::Controller::on_loop_timer()");
}

int main(int argc, char **argv)
{
	struct rc_options options = rc_main_options(argc, argv);

	faults_init(&options);
	rc_init(&robot.context, &options);
	rc_executor_init(&robot.executor, &robot.context);
	nodes_init();
	rc_spin(&robot.executor, THREADS);
	rc_shutdown(&robot.context);
	printf("control: %u loops, %u plans, %u mode changes\n", robot.loops, robot.plans,
	       robot.modes);
	faults_print();
	return 0;
}
