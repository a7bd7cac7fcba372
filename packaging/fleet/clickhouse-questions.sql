-- SPDX-License-Identifier: Apache-2.0
-- Questions about a fleet, for the tables and views of clickhouse.sql: panels of a dashboard, or to ask by hand
-- (docs/answers/fleet.md). "Last" counts from the latest window, so they also answer on old data.

-- Which chains of which robots were slowest in the last day?
-- (The windows of a chain are added up bucket by bucket first. ARRAY JOIN repeats what is beside a bucket, so that is a number
-- instead of the names, and blocks are small. fleet.md and grafana-clickhouse.json have the same question.)
SELECT any(names.1) AS robot, any(names.2) AS entity,
       least(greatest(quantileExactWeighted(0.99)(if(is_zero, 0., pow(2, (bucket + 0.5) / pow(2, scale))), weight),
                      toFloat64(min(least_ns))), toFloat64(max(most_ns))) / 1e6 AS p99_ms, sum(weight) AS arrivals
FROM (SELECT id, scale, bucket, is_zero, sum(values) AS weight, min(min_ns) AS least_ns, max(max_ns) AS most_ns
      FROM (SELECT cityHash64(robot, entity) AS id, scale, bucket_offset, min_ns, max_ns, zero_count, buckets
            FROM kymo_windows FINAL
            WHERE entity_kind = 'chain' AND metric = 'latency'
              AND window_start > (SELECT max(window_start) - 86400000000000 FROM kymo_windows))
      ARRAY JOIN arrayPushFront(buckets, zero_count) AS values, arrayEnumerate(arrayPushFront(buckets, zero_count)) AS i
      GROUP BY id, scale, bucket_offset + i - 2 AS bucket, i = 1 AS is_zero) AS added
ANY LEFT JOIN (SELECT DISTINCT cityHash64(robot, entity) AS id, (robot, entity) AS names
               FROM kymo_windows WHERE entity_kind = 'chain') AS named USING id
GROUP BY id ORDER BY p99_ms DESC LIMIT 10
SETTINGS max_block_size = 8192;

-- Which robots lost messages, and on which topics?
SELECT robot, entity, sum(lost) AS lost_messages, sum(published) AS messages FROM kymo_windows FINAL
WHERE entity_kind = 'topic' GROUP BY robot, entity HAVING lost_messages > 0 ORDER BY lost_messages DESC LIMIT 10;

-- Which robots have been silent for longer than two of their windows?
SELECT robot, max(window_start + toInt64(window_s * 1e9)) AS until_ns,
       (SELECT max(window_start + toInt64(window_s * 1e9)) FROM kymo_windows WHERE entity_kind = 'window') - until_ns AS silent_ns
FROM kymo_windows WHERE entity_kind = 'window' GROUP BY robot HAVING silent_ns > 2 * max(window_s) * 1e9 ORDER BY silent_ns DESC LIMIT 10;

-- Does a software version start its timers later than the one before? Rows without a metric only count starts (kymo serve --sample).
SELECT software, sum(late) AS late_starts, sum(count) AS starts, late_starts / starts AS share FROM kymo_windows FINAL
WHERE entity_kind = 'timer' AND late IS NOT NULL AND metric != '' GROUP BY software ORDER BY share DESC;

-- Which windows are complete? Longer ones were merged while a robot was offline; "lost" are events of the recording.
SELECT robot, count() AS rows_of_windows, sum(window_s) / 3600 AS hours, max(window_s) AS longest_s, sum(lost) AS lost_events
FROM kymo_windows FINAL WHERE entity_kind = 'window' GROUP BY robot ORDER BY hours LIMIT 10;

-- Which robots have more names than serve.max-entities or serve.max-objects in their kymo.yaml has room for?
SELECT robot, day, windows_over_entities, objects, events FROM kymo_left_out ORDER BY day DESC, objects DESC LIMIT 10;

-- What fired, and why?
SELECT robot, day, trigger, incidents, a_finding FROM kymo_incident_days ORDER BY day DESC, incidents DESC LIMIT 10;
