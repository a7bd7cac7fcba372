/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The robot's hardware: laser scanner, inertial unit, wheels and battery, and the operator's
 * console that switches the mode twice a second. One single-threaded executor.
 */
#include <math.h>
#include <stdio.h>

#include "faults.h"
#include "work.h"

#define BEAMS 360

static struct {
	struct rc_context context;
	struct rc_executor executor;
	struct rc_node lidar, imu, base, operator;
	struct rc_publisher scan, imu_data, battery;
	struct rc_entity scan_timer, imu_timer, battery_timer, mode_timer, cmd_vel, set_mode;
	float ranges[BEAMS];
	uint64_t seed;
	double speed;
	unsigned scans, commands, calls, answers;
} robot;

static void on_scan_timer(void *user)
{
	sensor_msgs_msg_dds__LaserScan_ scan = {
		.header = header_now("laser"), .angle_min = -3.14159f, .angle_max = 3.14159f,
		.angle_increment = 6.28318f / BEAMS, .scan_time = 0.025f, .range_min = 0.1f,
		.range_max = 12.0f,
	};

	(void)user;
	for (int i = 0; i < BEAMS; i++)
		robot.ranges[i] = 6.0f + (float)(3 * sin(i * 0.1) + 0.02 * chance(&robot.seed));
	scan.ranges._length = scan.ranges._maximum = BEAMS;
	scan.ranges._buffer = robot.ranges;
	robot.scans++;
	faults_publish("lidar", &robot.scan, &scan, sizeof(scan));
	faults_timer("lidar", &robot.scan_timer);
}

static void on_imu_timer(void *user)
{
	sensor_msgs_msg_dds__Imu_ imu = {
		.header = header_now("imu"),
		.angular_velocity.z = 0.01 * chance(&robot.seed),
		.linear_acceleration = { robot.speed, 0, 9.81 },
	};

	(void)user;
	rc_publish(&robot.imu_data, &imu);
}

static void on_battery_timer(void *user)
{
	sensor_msgs_msg_dds__BatteryState_ battery = {
		.header = header_now("base"), .voltage = 24.1f, .percentage = 0.8f
	};

	(void)user;
	rc_publish(&robot.battery, &battery);
}

static void on_cmd_vel(void *user, const void *message)
{
	const geometry_msgs_msg_dds__Twist_ *twist = message;

	(void)user;
	robot.speed = twist->linear.x;
	robot.commands++;
	work_for(20 * US);
}

static void on_mode_timer(void *user)
{
	std_srvs_srv_dds__SetBool_Request_ request = { .data = ++robot.calls % 2 };

	(void)user;
	rc_call(&robot.set_mode, &request);
}

static void on_mode_answer(void *user, const void *message)
{
	const std_srvs_srv_dds__SetBool_Response_ *response = message;

	(void)user;
	robot.answers += response->success;
}

static void nodes_init(void)
{
	struct rc_executor *executor = &robot.executor;

	rc_node_init(&robot.lidar, executor, "lidar_driver", "/");
	rc_publisher_init(&robot.scan, &robot.lidar, &sensor_msgs_msg_dds__LaserScan__desc, "/scan");
	rc_timer_init(&robot.scan_timer, &robot.lidar, 25 * MS, on_scan_timer, NULL,
		      "robot::LidarDriver::on_timer()");

	rc_node_init(&robot.imu, executor, "imu_driver", "/");
	rc_publisher_init(&robot.imu_data, &robot.imu, &sensor_msgs_msg_dds__Imu__desc, "/imu");
	rc_timer_init(&robot.imu_timer, &robot.imu, 5 * MS, on_imu_timer, NULL,
		      "robot::ImuDriver::on_timer()");

	rc_node_init(&robot.base, executor, "base_driver", "/");
	rc_publisher_init(&robot.battery, &robot.base, &sensor_msgs_msg_dds__BatteryState__desc,
			  "/battery");
	rc_timer_init(&robot.battery_timer, &robot.base, 100 * MS, on_battery_timer, NULL,
		      "robot::BaseDriver::on_battery_timer()");
	rc_subscription_init(&robot.cmd_vel, &robot.base, &geometry_msgs_msg_dds__Twist__desc,
			     "/cmd_vel", on_cmd_vel, NULL,
			     "robot::BaseDriver::on_cmd_vel(geometry_msgs::msg::Twist const&)");

	rc_node_init(&robot.operator, executor, "operator", "/");
	rc_client_init(&robot.set_mode, &robot.operator, &std_srvs_srv_dds__SetBool_Request__desc,
		       &std_srvs_srv_dds__SetBool_Response__desc, "/set_mode", on_mode_answer, NULL);
	rc_timer_init(&robot.mode_timer, &robot.operator, 500 * MS, on_mode_timer, NULL,
		      "robot::Operator::on_mode_timer()");
}

int main(int argc, char **argv)
{
	struct rc_options options = rc_main_options(argc, argv);

	faults_init(&options);
	robot.seed = options.seed * 2654435761u + 1;
	rc_init(&robot.context, &options);
	rc_executor_init(&robot.executor, &robot.context);
	nodes_init();
	rc_spin(&robot.executor, 1);
	rc_shutdown(&robot.context);
	printf("driver: %u scans, %u commands, %u of %u mode calls answered\n", robot.scans,
	       robot.commands, robot.answers, robot.calls);
	faults_print();
	return 0;
}
