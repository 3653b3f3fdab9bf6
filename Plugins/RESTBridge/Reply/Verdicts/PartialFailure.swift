internal import BridgeJSON

/// A sign of failure in a successful reply that holds records nevertheless, such as the errors of some of a server's shards.
///
/// Records may be missing, so the listing is not complete.
enum PartialFailure {
    /// The paths that are looked at in any reply.
    private static let ofReplies = parsed(
        ["$.errors[0]", "$.error", "$.success", "$._shards.failed"] + EarlyEndFlags.ofReplies.sorted())
    /// Those of flags at the root, which is around each list.
    private static let atRoot = parsed(EarlyEndFlags.paths(around: "$"))

    /// Returns the paths that are looked at in a reply.
    ///
    /// - Parameter homes: The objects around the list.
    static func paths(in homes: [String]) -> [JSONPath] {
        ofReplies + homes.flatMap { $0 == "$" ? atRoot : parsed(EarlyEndFlags.paths(around: $0)) }
    }

    private static func parsed(_ paths: [String]) -> [JSONPath] {
        paths.compactMap { try? JSONPath($0, option: "responses") }
    }

    /// Returns the paths that lie outside the records.
    static func paths(beside records: JSONPath, preset: Preset?) -> [JSONPath] {
        guard case .name(let name)? = records.segments.first else { return [] }
        let names = PagingDetector.names(to: records)
        return paths(in: PagingDetector.objects(around: names)).filter { path in
            let depth = path.segments.count
            let isBeside =
                depth <= names.count && path.segments.dropLast() == records.segments.prefix(depth - 1)
                && !path.isPrefix(of: records)
            // The errors of a GraphQL reply are judged on their own.
            return (path.segments.first != .name(name) || isBeside)
                && !(preset == .graphQL && path.description == "$.errors[0]")
        }
    }

    /// Whether the value at one of the paths may be a sign.
    static func isSign(_ path: JSONPath, _ value: JSONScalar) -> Bool {
        switch (path.description, value) {
        case ("$.errors[0]", .missing), ("$.errors[0]", .null): false
        case ("$.errors[0]", _), ("$.error", .object), ("$.success", .bool(false)): true
        case ("$.error", .text(let text)): !OutcomeWords.isNoError(text)
        case ("$.success", .text(let text)): text.lowercased() == "false"
        case ("$._shards.failed", .number): value.integer.map { $0 > 0 } ?? false
        case ("$.error", _), ("$.success", _), ("$._shards.failed", _): false
        case (_, .text(let text)): text.lowercased() == "true"
        case (_, let flag): flag == .bool(true)
        }
    }

    /// Returns the reply's sign of failure, in words.
    ///
    /// - Parameters:
    ///   - homes: The objects around the list.
    ///   - isNull: Whether null stands where the records should be.
    ///   - isValidated: Whether a rule of the section tests a path, which then replaces this judgment.
    static func sign(
        _ survey: ReplySurvey, in homes: [String], isNull: Bool, isValidated: (String) -> Bool
    ) -> String? {
        for path in paths(in: homes) {
            // The survey does not descend into lists.
            let name = path.description.replacing("[0]", with: "")
            let value = survey[name]
            guard !isValidated(name), isSign(path, value) else { continue }
            switch value {
            case .array(""): continue
            case .array: break
            case _ where name != path.description: continue
            case .object: guard survey.holdsError(at: name) else { continue }
            case .missing, .null, .bool, .number, .text: break
            }
            return words(name, value) + (message(survey, name).map { ": \($0)" } ?? "")
        }
        guard isNull, !isValidated("$.message"), case .text(let text) = survey["$.message"], !text.isEmpty,
            !OutcomeWords.saysSuccess(text), survey["$.success"] != .bool(true), survey["$.code"].integer != 0
        else { return nil }
        return "null in place of the records, and $.message: \(text.prefix(300))"
    }

    /// Whether a reply says of itself that it is a success.
    static func saysSuccess(_ survey: ReplySurvey) -> Bool {
        if survey["$.success"] == .bool(true) || survey["$.ok"] == .bool(true) || survey["$.code"].integer == 0 {
            return true
        }
        guard case .text(let text) = survey["$.message"] else { return false }
        return !text.isEmpty && OutcomeWords.isNone(text)
    }

    private static func words(_ path: String, _ value: JSONScalar) -> String {
        switch value {
        case .array: "\(path) is a list"
        case .object: "\(path) is an object"
        case .text where ["$.error", "$.errors"].contains(path): "\(path) is a text"
        case .bool, .number, .text, .null, .missing: "\(path) is \(value.plain ?? "")"
        }
    }

    private static func message(_ survey: ReplySurvey, _ path: String) -> String? {
        for place in [path, path + ".message", path + ".reason", path + ".type", "$.message"] {
            if case .text(let text) = survey[place], !text.isEmpty, !["false", "true"].contains(text.lowercased()) {
                return String(text.prefix(300))
            }
        }
        return nil
    }
}
