/// The samples of all metrics, in the order of their first use.
struct MetricSamples {
    /// One value, with its labels.
    private struct Sample {
        let metric: Metric
        let labels: String
        var value: Double
    }

    private var samples: [Sample] = []
    private var places: [String: Int] = [:]

    /// Sets the value of a gauge.
    mutating func set(_ metric: Metric, _ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
        put(metric, Self.text(labels)) { $0 = value }
    }

    /// Adds to a counter.
    mutating func add(_ metric: Metric, _ count: Int, _ labels: KeyValuePairs<String, String> = [:]) {
        add(metric, Double(count), labels)
    }

    /// Adds to a counter.
    mutating func add(_ metric: Metric, _ amount: Double, _ labels: KeyValuePairs<String, String> = [:]) {
        put(metric, Self.text(labels)) { $0 += amount }
    }

    private mutating func put(_ metric: Metric, _ labels: String, _ change: (inout Double) -> Void) {
        let name = metric.rawValue + labels
        let place = places[name] ?? samples.count
        if place == samples.count {
            samples.append(Sample(metric: metric, labels: labels, value: 0))
            places[name] = place
        }
        change(&samples[place].value)
    }

    /// Sets all metrics that another set has.
    mutating func merge(_ other: MetricSamples) {
        for sample in other.samples { put(sample.metric, sample.labels) { $0 = sample.value } }
    }

    /// Returns labels in braces, with `\`, `"` and line ends escaped; nothing without labels.
    private static func text(_ labels: KeyValuePairs<String, String>) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Returns the samples with counters that begin where those of `before` ended.
    func subtracting(_ before: MetricSamples) -> MetricSamples {
        var rest = self
        for index in samples.indices where samples[index].metric.kind != .gauge {
            let sample = samples[index]
            guard let place = before.places[sample.metric.rawValue + sample.labels] else { continue }
            rest.samples[index].value -= before.samples[place].value
        }
        return rest
    }

    /// Returns the values of a metric, with their labels.
    func values(of metric: Metric) -> [(labels: [(name: String, value: String)], value: Double)] {
        samples.filter { $0.metric == metric }.map { (Self.pairs($0.labels), $0.value) }
    }

    /// Returns the labels in braces.
    private static func pairs(_ text: String) -> [(name: String, value: String)] {
        text.matches(of: /([a-z_]+)="((?:[^"\\]|\\.)*)"/).map { match in
            var value = ""
            var isEscaped = false
            for character in match.2 {
                if isEscaped { value.append(character == "n" ? "\n" : character) }
                if !isEscaped, character != "\\" { value.append(character) }
                isEscaped = !isEscaped && character == "\\"
            }
            return (String(match.1), value)
        }
    }

    /// Removes the samples of entities that the configuration does not have any more.
    mutating func keep(entities: Set<String>) {
        let known = entities.map { Self.text(["entity": $0]).dropLast() }
        samples.removeAll { sample in
            sample.labels.hasPrefix("{entity=")
                && !known.contains { name in
                    sample.labels.hasPrefix(name) && "},".contains(sample.labels.dropFirst(name.count).first ?? " ")
                }
        }
        index()
    }

    /// The text of the file.
    var text: String {
        var lines: [String] = []
        var family = ""
        for metric in Metric.allCases {
            let own = samples.filter { $0.metric == metric }
            guard !own.isEmpty else { continue }
            if metric.family != family {
                lines.append("# HELP \(metric.family) \(metric.help)")
                lines.append("# TYPE \(metric.family) \(metric.kind.rawValue)")
                family = metric.family
            }
            lines += own.map { "\(metric.rawValue)\($0.labels) \(Self.text($0.value))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func text(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// Removes the samples that describe a state, which is about to be set anew.
    mutating func removeState() {
        samples.removeAll { !$0.metric.isKept }
        index()
    }

    private mutating func index() {
        places = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($1.metric.rawValue + $1.labels, $0) })
    }

    /// Reads the metrics of an earlier file; lines of any other form are ignored.
    init(from text: String = "") {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]),
                value.isFinite
            else { continue }
            let name = line[..<space]
            let end = name.firstIndex(of: "{") ?? name.endIndex
            guard let metric = Metric(rawValue: String(name[..<end])), metric != .build else { continue }
            put(metric, String(name[end...])) { $0 = value }
        }
    }
}
