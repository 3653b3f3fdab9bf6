/// Orders faults that only follow from a misspelled key, whose content counts as missing.
enum FollowUpFaults {
    /// Returns the faults with each consequence moved behind its cause.
    ///
    /// - Parameter faults: In the order of their locations.
    static func behindCauses(_ faults: [Diagnostic]) -> [Diagnostic] {
        let faults = withoutUnlearned(faults)
        let causes = faults.indices.compactMap { index in Cause(faults[index]).map { (index: index, cause: $0) } }
        guard !causes.isEmpty else { return faults }
        var followers: [Int: [Diagnostic]] = [:]
        var leaders: [Int] = []
        for index in faults.indices {
            if let first = causes.first(where: { $0.index != index && $0.cause.explains(faults[index]) }) {
                followers[first.index, default: []].append(faults[index])
            } else {
                leaders.append(index)
            }
        }
        return leaders.flatMap { [faults[$0]] + (followers[$0] ?? []) }
    }

    /// Removes reports of unknown attributes for entities whose attributes are not learned yet.
    private static func withoutUnlearned(_ faults: [Diagnostic]) -> [Diagnostic] {
        let (head, tail) = ("the attributes of ", " are \"auto\", and no sync")
        let subjects = faults.compactMap { fault -> String? in
            guard fault.message.hasPrefix(head), let end = fault.message.firstRange(of: tail) else { return nil }
            return " of \(fault.message[..<end.lowerBound].dropFirst(head.count))"
        }
        guard !subjects.isEmpty else { return faults }
        return faults.filter { fault in
            !fault.message.contains("the unknown attribute ") || !subjects.contains { fault.message.contains($0) }
        }
    }

    /// A misspelled key.
    private struct Cause {
        /// The intended key.
        let key: Substring
        /// The key's owner, such as ` of entity "User"`; empty for the file itself.
        let subject: Substring

        init?(_ fault: Diagnostic) {
            let (head, hint) = ("unknown key \"", "did you mean \"")
            guard fault.message.hasPrefix(head), let remedy = fault.remedy, remedy.hasPrefix(hint) else { return nil }
            let rest = fault.message.dropFirst(head.count)
            guard let end = rest.firstIndex(of: "\"") else { return nil }
            key = remedy.dropFirst(hint.count).prefix { $0 != "\"" }
            subject = rest[rest.index(after: end)...]
        }

        func explains(_ fault: Diagnostic) -> Bool {
            let message = fault.message
            if message == "missing key \"\(key)\"\(subject)" || message == "missing \(key)\(subject)" { return true }
            switch key {
            case "bridges": return subject.isEmpty && message.hasPrefix("unknown bridge ")
            case "entities": return subject.isEmpty && message.hasPrefix("unknown entity ")
            case "attributes", "relationships":
                let names = message.contains("the unknown attribute ") || message.contains("the unknown relationship ")
                return !subject.isEmpty && names && message.contains(subject)
            default: return false
            }
        }
    }
}
