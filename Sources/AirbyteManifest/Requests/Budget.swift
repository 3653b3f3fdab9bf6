internal import Model

/// Translates `api_budget` and `concurrency_level` into `limits`.
enum Budget {
    static func limits(_ manifest: ConfigValue, _ scope: Scope) -> [(key: String, value: ConfigValue)] {
        var limits: [(key: String, value: ConfigValue)] = []
        let rates = (manifest["api_budget"]?["policies"]?.array ?? []).flatMap { policy -> [Double] in
            let pairs =
                policy["rates"]?.array.map { $0.map { ($0["limit"], $0["interval"]) } }
                ?? [(policy["call_limit"], policy["period"])]
            return pairs.compactMap { limit, interval in rate(limit, per: interval, scope.with(policy)) }
        }
        if let lowest = rates.min(), lowest > 0 { limits.append(("requests_per_second", number(lowest))) }
        if let level = manifest["concurrency_level"]?["default_concurrency"],
            let known = (try? Template(level.printed, scope))?.known?.printed, let count = Int64(known), count > 0
        {
            limits.append(("concurrency", .int(count)))
        }
        return limits
    }

    private static func rate(_ limit: ConfigValue?, per interval: ConfigValue?, _ scope: Scope) -> Double? {
        guard let limit, let interval, let known = (try? Template(limit.printed, scope))?.known?.printed,
            let count = Double(known), count > 0, count < 1e9, let seconds = ISODuration.seconds(interval.printed),
            seconds > 0
        else { return nil }
        return count / Double(seconds)
    }

    private static func number(_ value: Double) -> ConfigValue {
        Int64(exactly: value).map { .int($0) } ?? .double((value * 10_000).rounded() / 10_000)
    }
}
