internal import RecordBatch

extension MetricSamples {
    /// The samples as a request of OTLP (ExportMetricsServiceRequest) in its JSON form.
    ///
    /// Source: opentelemetry-proto, `metrics.proto`, and the OTLP specification, "JSON Protobuf Encoding": names in
    /// lowerCamelCase, 64-bit integers as text, enumerations as numbers.
    ///
    /// - Parameters:
    ///   - resource: What describes this program, with its `service.name`.
    ///   - version: The version of bmo.
    ///   - began: When counting began, in nanoseconds since 1970.
    ///   - now: The time of the samples.
    func otlp(resource: [(name: String, value: String)], version: String, since began: Int64, now: Int64) -> String {
        RecordBatchWriter.json { writer in
            writer.member(
                "resourceMetrics",
                array: {
                    writer.object {
                        writer.member("resource", object: { Self.write(resource, to: writer) })
                        writer.member(
                            "scopeMetrics",
                            array: {
                                writer.object {
                                    writer.member(
                                        "scope",
                                        object: {
                                            writer.member("name", "bmo")
                                            writer.member("version", version)
                                        })
                                    writer.member(
                                        "metrics",
                                        array: {
                                            for metric in Metric.allCases {
                                                write(metric, since: began, now: now, to: writer)
                                            }
                                        })
                                }
                            })
                    }
                })
        }
    }

    private func write(_ metric: Metric, since began: Int64, now: Int64, to writer: RecordBatchWriter) {
        // The series of a histogram are one metric.
        if metric.kind == .histogram, metric != .durationCount { return }
        let points = values(of: metric)
        guard !points.isEmpty else { return }
        if metric.kind == .histogram { return writeHistogram(metric, since: began, now: now, to: writer) }
        writer.object {
            writer.member("name", metric.rawValue)
            writer.member("description", metric.help)
            writer.member(
                metric.kind == .counter ? "sum" : "gauge",
                object: {
                    writer.member(
                        "dataPoints",
                        array: {
                            for point in points {
                                writer.object {
                                    Self.write(point.labels, to: writer)
                                    if metric.kind == .counter { writer.member("startTimeUnixNano", String(began)) }
                                    writer.member("timeUnixNano", String(now))
                                    writer.member("asDouble", point.value)
                                }
                            }
                        })
                    guard metric.kind == .counter else { return }
                    // AGGREGATION_TEMPORALITY_CUMULATIVE
                    writer.member("aggregationTemporality", 2)
                    writer.member("isMonotonic", true)
                })
        }
    }

    private func writeHistogram(_ metric: Metric, since began: Int64, now: Int64, to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", metric.family)
            writer.member("description", metric.help)
            writer.member("unit", "s")
            writer.member(
                "histogram",
                object: {
                    writer.member("dataPoints", array: { writeDurations(since: began, now: now, to: writer) })
                    // AGGREGATION_TEMPORALITY_CUMULATIVE
                    writer.member("aggregationTemporality", 2)
                })
        }
    }

    static func write(_ attributes: [(name: String, value: String)], to writer: RecordBatchWriter) {
        writer.member(
            "attributes",
            array: {
                for attribute in attributes {
                    writer.object {
                        writer.member("key", attribute.name)
                        writer.member("value", object: { writer.member("stringValue", attribute.value) })
                    }
                }
            })
    }
}
