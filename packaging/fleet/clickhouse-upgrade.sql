-- SPDX-License-Identifier: Apache-2.0
-- A table kymo_windows of an earlier kymo, which had a partition for each day, becomes one of clickhouse.sql
-- (docs/answers/fleet.md). Run this script while no robot sends, once, and then clickhouse.sql for the views:
--
--   clickhouse-client --multiquery < clickhouse-upgrade.sql
--   clickhouse-client --multiquery < clickhouse.sql
--
-- A table from before kymo.yaml has no column labels. The script changes nothing then; add the column, and begin again:
--
--   clickhouse-client --query 'ALTER TABLE kymo_windows ADD COLUMN labels String AFTER software'
--
-- Robots keep their windows meanwhile. When the numbers of rows agree: DROP TABLE kymo_windows_before.
SELECT labels FROM kymo_windows LIMIT 1;
RENAME TABLE kymo_windows TO kymo_windows_before;
DROP TABLE IF EXISTS kymo_quantiles;
DROP TABLE IF EXISTS kymo_hours;
CREATE TABLE kymo_windows AS kymo_windows_before ENGINE = ReplacingMergeTree()
PARTITION BY toYYYYMM(toDateTime(intDiv(window_start, 1000000000)))
ORDER BY (entity_kind, metric, entity, process, robot, window_start, boot);
INSERT INTO kymo_windows SELECT * FROM kymo_windows_before FINAL;
