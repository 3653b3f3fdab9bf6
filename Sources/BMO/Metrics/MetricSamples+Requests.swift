internal import BridgeHost
internal import RecordBatch

extension MetricSamples {
    /// Adds the requests of a sync or push, by bridge; those of a bridge that has reported none stay out.
    mutating func add(_ requests: [String: RequestCounts]) {
        for (bridge, counts) in requests.sorted(by: { $0.key < $1.key }) {
            if counts.waited > 0 { add(.rateLimited, counts.waited, ["bridge": bridge]) }
            guard counts.requests > 0 else { continue }
            for outcome in RequestCounts.Outcome.allCases {
                add(.requests, counts.outcomes[outcome] ?? 0, ["bridge": bridge, "outcome": outcome.rawValue])
            }
            var sum = 0
            for (index, count) in counts.durations.enumerated() {
                sum += count
                let isLast = index == RequestCounts.bounds.count
                let bound = isLast ? "+Inf" : MetricSamples.text(RequestCounts.bounds[index])
                add(.durationBucket, sum, ["bridge": bridge, "le": bound])
            }
            add(.durationSum, counts.seconds, ["bridge": bridge])
            add(.durationCount, sum, ["bridge": bridge])
        }
    }

    /// Writes the histogram of durations as data points of OTLP: counts per bucket, where the text format has sums.
    func writeDurations(since began: Int64, now: Int64, to writer: RecordBatchWriter) {
        let buckets = values(of: .durationBucket)
        for (total, sum) in zip(values(of: .durationCount), values(of: .durationSum)) {
            let bridge = total.labels.first?.value
            var before = 0.0
            let counts = buckets.filter { $0.labels.first?.value == bridge }.map { bucket in
                defer { before = bucket.value }
                return Int(bucket.value - before)
            }
            writer.object {
                MetricSamples.write(total.labels, to: writer)
                writer.member("startTimeUnixNano", String(began))
                writer.member("timeUnixNano", String(now))
                writer.member("count", String(Int(total.value)))
                writer.member("sum", sum.value)
                writer.member("bucketCounts", array: { for count in counts { writer.text(String(count)) } })
                writer.member("explicitBounds", array: { for bound in RequestCounts.bounds { writer.double(bound) } })
            }
        }
    }
}
