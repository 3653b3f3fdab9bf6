/// What a test waited for did not come before the deadline.
package struct DeadlineError: Error, CustomStringConvertible {
    /// What was waited for, and how long.
    package let description: String

    /// A deadline that passed.
    package init(description: String) { self.description = description }
}

/// Asks again and again until `condition` gives a value, and throws ``DeadlineError`` when the deadline passes before.
package func eventually<Value: Sendable>(
    _ what: String, within deadline: Duration = .seconds(90), every interval: Duration = .milliseconds(5),
    _ condition: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + deadline
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < end else { throw DeadlineError(description: "not within \(deadline): \(what)") }
        try await Task.sleep(for: interval)
    }
}

/// As the other ``eventually(_:within:every:_:)``, until `condition` holds.
package func eventually(
    _ what: String, within deadline: Duration = .seconds(90), _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, within: deadline) { try await condition() ? true : nil }
}
