-- SPDX-License-Identifier: Apache-2.0
-- Macros for DuckDB over the windows that kymo writes (docs/answers/fleet.md).
--
--   SELECT robot, entity,
--          hist_quantile(0.99, bucket_offset, buckets, zero_count, min_ns, max_ns) / 1e6 AS p99_ms
--   FROM read_parquet('fleet/**/*.parquet')
--   WHERE entity_kind = 'chain' AND metric = 'latency'
--   GROUP BY robot, entity;

-- Buckets of many rows, added up. The result is a list that begins with bucket `first`.
CREATE OR REPLACE MACRO hist_sum(offsets, lists, first, last) AS
    list_transform(range(first, last + 1), lambda b: list_sum(list_transform(range(1, len(offsets) + 1), lambda i:
        CASE WHEN b >= offsets[i] AND b < offsets[i] + len(lists[i]) THEN lists[i][b - offsets[i] + 1]::HUGEINT ELSE 0 END)));

-- The number of the bucket with the value of rank `rank`, counted from 1 behind the zeros; 0: it is a zero.
CREATE OR REPLACE MACRO hist_rank(sums, zeros, rank) AS
    CASE WHEN rank <= zeros THEN 0
         ELSE len(list_filter(range(1, len(sums) + 1), lambda i: list_sum(sums[1:i]) + zeros < rank)) + 1 END;

CREATE OR REPLACE MACRO hist_value(bucket, first, least, most) AS
    CASE WHEN bucket = 0 THEN 0 ELSE least(greatest(pow(2, (first + bucket - 0.5) / 32), least), most) END;

CREATE OR REPLACE MACRO hist_of(q, sums, first, zeros, least, most) AS
    hist_value(hist_rank(sums, zeros, greatest(1, ceil(q * (coalesce(list_sum(sums), 0) + zeros)))), first, least, most);

-- The quantile q of all rows of a group, in nanoseconds: within 1.2 %, and never outside of what was measured.
CREATE OR REPLACE MACRO hist_quantile(q, bucket_offset, buckets, zero_count, min_ns, max_ns) AS
    hist_of(q,
            hist_sum(list(bucket_offset), list(buckets), min(bucket_offset) FILTER (len(buckets) > 0),
                     max(bucket_offset + len(buckets) - 1) FILTER (len(buckets) > 0)),
            min(bucket_offset) FILTER (len(buckets) > 0), sum(zero_count), min(min_ns), max(max_ns));
