-- SPDX-License-Identifier: Apache-2.0
-- A table kymo_windows of an earlier kymo, which had a partition for each day and, before kymo.yaml, no column
-- labels, becomes one of clickhouse.sql (docs/answers/fleet.md). Run it while no robot sends, once:
--
--   clickhouse-client --multiquery < clickhouse-upgrade.sql
--
-- Robots keep their windows meanwhile. When the numbers of rows agree: DROP TABLE kymo_windows_before.
RENAME TABLE kymo_windows TO kymo_windows_before;
DROP TABLE IF EXISTS kymo_quantiles;
DROP TABLE IF EXISTS kymo_hours;
CREATE TABLE kymo_windows (
    robot String, boot String, software String, labels String, window_start Int64, window_s Float64,
    entity_kind String, entity String, process String, node String, topic String, metric String,
    count UInt64, sum_ns UInt64, min_ns UInt64, max_ns UInt64, zero_count UInt64,
    scale Int64, bucket_offset Int64, buckets Array(UInt64),
    published Nullable(UInt64), received Nullable(UInt64), lost Nullable(UInt64), late Nullable(UInt64),
    unfinished Nullable(UInt64), waited Nullable(UInt64), waited_ns Nullable(UInt64)
) ENGINE = ReplacingMergeTree()
PARTITION BY toYYYYMM(toDateTime(intDiv(window_start, 1000000000)))
ORDER BY (entity_kind, metric, entity, process, robot, window_start, boot);
INSERT INTO kymo_windows (robot, boot, software, window_start, window_s, entity_kind, entity, process, node, topic, metric,
    count, sum_ns, min_ns, max_ns, zero_count, scale, bucket_offset, buckets,
    published, received, lost, late, unfinished, waited, waited_ns)
SELECT robot, boot, software, window_start, window_s, entity_kind, entity, process, node, topic, metric,
    count, sum_ns, min_ns, max_ns, zero_count, scale, bucket_offset, buckets,
    published, received, lost, late, unfinished, waited, waited_ns
FROM kymo_windows_before FINAL;
-- Then the views: clickhouse-client --multiquery < clickhouse.sql
