-- SPDX-License-Identifier: Apache-2.0
-- Windows and incidents of kymo in ClickHouse (docs/answers/fleet.md), for version 18.16 of Debian 12 and later ones.
--
--   clickhouse-client --multiquery < clickhouse.sql
--   kymo export TRACE --format rowbinary --table fleet_windows --robot r2d2 -o - |
--       curl --data-binary @- 'http://127.0.0.1:8123/?query=INSERT+INTO+kymo_windows+FORMAT+RowBinary'

-- A window that arrives twice replaces itself, in the background; SELECT ... FINAL does not wait for that.
CREATE TABLE IF NOT EXISTS kymo_windows (
    robot String, boot String, software String, labels String, window_start Int64, window_s Float64,
    entity_kind String, entity String, process String, node String, topic String, metric String,
    count UInt64, sum_ns UInt64, min_ns UInt64, max_ns UInt64, zero_count UInt64,
    scale Int64, bucket_offset Int64, buckets Array(UInt64),
    published Nullable(UInt64), received Nullable(UInt64), lost Nullable(UInt64), late Nullable(UInt64),
    unfinished Nullable(UInt64), waited Nullable(UInt64), waited_ns Nullable(UInt64)
) ENGINE = ReplacingMergeTree()
PARTITION BY toYYYYMM(toDateTime(intDiv(window_start, 1000000000)))
ORDER BY (entity_kind, metric, entity, process, robot, window_start, boot);

-- One row for each incident of a flight recorder; one that arrives twice replaces itself.
CREATE TABLE IF NOT EXISTS kymo_incidents (
    robot String, boot String, software String, labels String, name String, state String, time String, at_ns Int64,
    asked_by String, trigger String, what String, value UInt64, cause String, finding String, finding_about String,
    process String, thread String, begin_ns Int64, end_ns Int64, events UInt64, dropped UInt64, suppressed UInt64,
    host String, kymo String, bytes UInt64
) ENGINE = ReplacingMergeTree()
PARTITION BY toYYYYMM(toDateTime(intDiv(at_ns, 1000000000)))
ORDER BY (robot, at_ns, name, boot);

-- How often each trigger fired on each robot, by day.
CREATE VIEW IF NOT EXISTS kymo_incident_days AS
SELECT robot, toDate(toDateTime(intDiv(at_ns, 1000000000))) AS day, trigger, count() AS incidents,
       sum(suppressed) AS suppressed_more, max(value) AS worst_value, anyLast(finding) AS a_finding
FROM kymo_incidents FINAL
GROUP BY robot, day, trigger;

-- Buckets and counters of an hour of a robot, added up. Lambdas of version 18.16 cannot see columns of a view, so the
-- columns are handed to them as arrays.
CREATE VIEW IF NOT EXISTS kymo_hours AS
SELECT robot, software, entity_kind, entity, process, node, topic, metric,
       toStartOfHour(toDateTime(intDiv(window_start, 1000000000))) AS hour,
       sum(count) AS values, sum(sum_ns) AS total_ns, min(min_ns) AS least_ns, max(max_ns) AS most_ns,
       sum(zero_count) AS zeros, sum(lost) AS lost_messages, sum(late) AS late_starts,
       sumMap(arrayMap((i, first) -> toInt64(first + i - 1), arrayEnumerate(buckets),
                       arrayResize([bucket_offset], length(buckets), bucket_offset)), buckets) AS merged,
       tupleElement(merged, 1) AS bucket_numbers,
       arrayCumSum(tupleElement(merged, 2)) AS bucket_sums
FROM kymo_windows FINAL
GROUP BY robot, software, entity_kind, entity, process, node, topic, metric, hour;

-- Quantiles of them, within 1.2 %.
CREATE VIEW IF NOT EXISTS kymo_quantiles AS
SELECT robot, software, entity_kind, entity, process, node, topic, metric, hour, values, most_ns,
       if(rank50 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank50 - zeros], length(bucket_sums), rank50 - zeros))) + 0.5) / 32), toFloat64(least_ns)), toFloat64(most_ns))) AS p50_ns,
       if(rank90 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank90 - zeros], length(bucket_sums), rank90 - zeros))) + 0.5) / 32), toFloat64(least_ns)), toFloat64(most_ns))) AS p90_ns,
       if(rank99 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank99 - zeros], length(bucket_sums), rank99 - zeros))) + 0.5) / 32), toFloat64(least_ns)), toFloat64(most_ns))) AS p99_ns
FROM (SELECT *, greatest(1, ceil(0.5 * values)) AS rank50, greatest(1, ceil(0.9 * values)) AS rank90,
             greatest(1, ceil(0.99 * values)) AS rank99
      FROM kymo_hours WHERE metric != '');
