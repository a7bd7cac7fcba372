-- SPDX-License-Identifier: Apache-2.0
-- For a ClickHouse server without async_insert (docs/answers/fleet.md): robots send to tables that collect rows in memory and write
-- them to those of clickhouse.sql in the database `default`, after 30 s at the latest. What they hold is lost if the server is killed.
-- Robots have `database: robots_in` in the section `clickhouse:`; questions are asked in `default`.
--
--   clickhouse-client --multiquery < clickhouse.sql
--   clickhouse-client --multiquery < clickhouse-buffer.sql
CREATE DATABASE IF NOT EXISTS robots_in;
CREATE TABLE IF NOT EXISTS robots_in.kymo_windows AS default.kymo_windows
ENGINE = Buffer(default, kymo_windows, 1, 5, 30, 1000, 100000, 1000000, 100000000);
CREATE TABLE IF NOT EXISTS robots_in.kymo_windows_in AS default.kymo_windows_in
ENGINE = Buffer(default, kymo_windows_in, 1, 5, 30, 20, 1000, 1000000, 30000000);
CREATE TABLE IF NOT EXISTS robots_in.kymo_incidents AS default.kymo_incidents
ENGINE = Buffer(default, kymo_incidents, 1, 5, 30, 1000, 100000, 1000000, 100000000);
