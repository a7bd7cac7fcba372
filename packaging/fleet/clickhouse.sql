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

-- What robots send: a window as one row of arrays, which is half as large on the wire. Nothing is stored here; the view below
-- makes the rows of kymo_windows of it.
CREATE TABLE IF NOT EXISTS kymo_windows_in (
    robot String, boot String, software String, labels String, window_start Int64, window_s Float64, scale Int64,
    kinds Array(String), entities Array(String), processes Array(String), metrics Array(String), firsts Array(UInt8),
    counts Array(UInt64), sums Array(UInt64), mins Array(UInt64), maxima Array(UInt64), zeros Array(UInt64),
    offsets Array(Int16), lows Array(Array(UInt8)), highs Array(Array(UInt64)),
    publishes Array(UInt64), receives Array(UInt64), losses Array(UInt64), lates Array(UInt64), unended Array(UInt64),
    waits Array(UInt64), waits_ns Array(UInt64)
) ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS kymo_windows_unpack TO kymo_windows AS
SELECT robot, boot, software, labels, window_start, window_s, kind AS entity_kind, name AS entity, of AS process,
       if(kind IN ('callback', 'timer', 'subscription') AND substring(name, 1, 1) = '/', splitByChar(' ', name)[1], '') AS node,
       multiIf(kind IN ('topic', 'service') AND substring(name, 1, 1) = '/', splitByChar(' ', name)[1],
               kind IN ('callback', 'subscription') AND substring(splitByChar(' ', name)[2], 1, 1) = '/',
               splitByChar(' ', name)[2], '') AS topic,
       values AS metric, if(values = '', total, zero + arraySum(buckets)) AS count,
       sum AS sum_ns, least AS min_ns, most AS max_ns, zero AS zero_count,
       scale, toInt64(first_bucket) AS bucket_offset,
       arrayMap((low_byte, rest) -> low_byte + 256 * rest, low, arrayResize(high, length(low), toUInt64(0))) AS buckets,
       if(has, n1, NULL) AS published, if(has, n2, NULL) AS received, if(has, n3, NULL) AS lost, if(has, n4, NULL) AS late,
       if(has, n5, NULL) AS unfinished, if(has, n6, NULL) AS waited, if(has, n7, NULL) AS waited_ns
FROM kymo_windows_in
ARRAY JOIN kinds AS kind, entities AS name, processes AS of, metrics AS values, firsts AS has, counts AS total, sums AS sum,
           mins AS least, maxima AS most, zeros AS zero, offsets AS first_bucket, lows AS low, highs AS high,
           publishes AS n1, receives AS n2, losses AS n3, lates AS n4, unended AS n5, waits AS n6, waits_ns AS n7;

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

-- What the limits serve.max-entities and serve.max-objects left out, of each robot by day. A robot without a row left out nothing.
CREATE VIEW IF NOT EXISTS kymo_left_out AS
SELECT robot, toDate(toDateTime(intDiv(window_start, 1000000000))) AS day,
       sumIf(count, entity = 'windows_over_entities') AS windows_over_entities, sumIf(count, entity = 'objects') AS objects,
       sumIf(count, entity = 'events') AS events
FROM kymo_windows FINAL WHERE entity_kind = 'left_out'
GROUP BY robot, day;

-- Buckets and counters of an hour of a robot, added up. Lambdas of version 18.16 cannot see columns of a view, so the
-- columns are handed to them as arrays.
CREATE VIEW IF NOT EXISTS kymo_hours AS
SELECT robot, software, entity_kind, entity, process, node, topic, metric,
       toStartOfHour(toDateTime(intDiv(window_start, 1000000000))) AS hour, scale,
       sum(count) AS values, sum(sum_ns) AS total_ns, min(min_ns) AS least_ns, max(max_ns) AS most_ns,
       sum(zero_count) AS zeros, sum(lost) AS lost_messages, sum(late) AS late_starts,
       sumMap(arrayMap((i, first) -> toInt64(first + i - 1), arrayEnumerate(buckets),
                       arrayResize([bucket_offset], length(buckets), bucket_offset)), buckets) AS merged,
       tupleElement(merged, 1) AS bucket_numbers,
       arrayCumSum(tupleElement(merged, 2)) AS bucket_sums
FROM kymo_windows FINAL
GROUP BY robot, software, entity_kind, entity, process, node, topic, metric, hour, scale;

-- Quantiles of them, within 1.2 % (scale 5).
CREATE VIEW IF NOT EXISTS kymo_quantiles AS
SELECT robot, software, entity_kind, entity, process, node, topic, metric, hour, values, most_ns,
       if(rank50 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank50 - zeros], length(bucket_sums), rank50 - zeros))) + 0.5) / pow(2, scale)), toFloat64(least_ns)), toFloat64(most_ns))) AS p50_ns,
       if(rank90 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank90 - zeros], length(bucket_sums), rank90 - zeros))) + 0.5) / pow(2, scale)), toFloat64(least_ns)), toFloat64(most_ns))) AS p90_ns,
       if(rank99 <= zeros, toFloat64(0), least(greatest(pow(2, (arrayElement(bucket_numbers,
           arrayFirstIndex((sum, least) -> sum >= least, bucket_sums,
               arrayResize([rank99 - zeros], length(bucket_sums), rank99 - zeros))) + 0.5) / pow(2, scale)), toFloat64(least_ns)), toFloat64(most_ns))) AS p99_ns
FROM (SELECT *, greatest(1, ceil(0.5 * values)) AS rank50, greatest(1, ceil(0.9 * values)) AS rank90,
             greatest(1, ceil(0.99 * values)) AS rank99
      FROM kymo_hours WHERE metric != '');
