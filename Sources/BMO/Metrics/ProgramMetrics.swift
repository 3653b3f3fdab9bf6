internal import Metrics
internal import StoreContract

/// The metrics of the program that embeds the library (swift-metrics): those of `MetricsFile`, under the same names.
///
/// A program that has not set up a metrics system pays nothing.
enum ProgramMetrics {
    /// Whether the program has set up a metrics system.
    static var isUsed: Bool { !(MetricsSystem.factory is NOOPMetricsHandler) }

    /// Passes on the result of a sync, and the state of the database.
    static func note(_ report: SyncReport, _ store: any Store) { emit(store) { $0.add(report) } }

    /// Passes on the result of a push, and the state of the database.
    static func note(_ report: PushReport, _ store: any Store) { emit(store) { $0.add(report) } }

    private static func emit(_ store: any Store, _ body: (inout MetricSamples) -> Void) {
        guard isUsed else { return }
        var samples = MetricSamples()
        body(&samples)
        // The work is done: a database that cannot be read does not make it fail.
        _ = try? samples.setState(of: store)
        for metric in Metric.allCases {
            for (labels, value) in samples.values(of: metric) {
                switch metric.kind {
                case .counter where metric == .rateLimited:
                    FloatingPointCounter(label: metric.rawValue, dimensions: labels).increment(by: value)
                case .counter: Counter(label: metric.rawValue, dimensions: labels).increment(by: Int64(value))
                // The requests are counted above; their durations exist only as sums by bucket.
                case .histogram: break
                case .gauge: Gauge(label: metric.rawValue, dimensions: labels).record(value)
                }
            }
        }
    }
}
