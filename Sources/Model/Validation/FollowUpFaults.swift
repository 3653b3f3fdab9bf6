/// Orders faults that only follow from a misspelled key, whose content counts as missing.
enum FollowUpFaults {
    /// Returns the faults with each consequence moved behind its cause.
    ///
    /// - Parameter faults: In the order of their locations.
    static func behindCauses(_ faults: [Diagnostic]) -> [Diagnostic] {
        let faults = withoutUnlearned(faults)
        let causes = Causes(in: faults)
        guard !causes.isEmpty else { return faults }
        var followers: [Int: [Diagnostic]] = [:]
        var leaders: [Int] = []
        for index in faults.indices {
            if let first = causes.first(of: faults[index], at: index) {
                followers[first, default: []].append(faults[index])
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
        let places = Subjects(subjects)
        return faults.filter { fault in
            !fault.message.contains("the unknown attribute ") || places.found(in: fault.message).isEmpty
        }
    }

    /// Texts such as ` of entity "User"`, which are looked up in messages.
    ///
    /// A file may have as many of them as faults, and so not each of them is searched in each message.
    private struct Subjects {
        /// The places of the texts in the list, by the texts' bytes; of the first, if several are the same.
        private var places: [ArraySlice<UInt8>: Int] = [:]
        private var lengths: Set<Int> = []
        /// The first bytes of the texts, mostly ` of `: few places of a message begin so.
        private var heads: Set<ArraySlice<UInt8>> = []

        init(_ subjects: [String]) {
            for (place, subject) in subjects.enumerated() {
                let bytes = Array(subject.utf8)[...]
                guard places[bytes] == nil else { continue }
                places[bytes] = place
                lengths.insert(bytes.count)
                heads.insert(bytes.prefix(4))
            }
        }

        /// Returns the places of the texts that a message contains.
        func found(in message: String) -> [Int] {
            let bytes = Array(message.utf8)
            return bytes.indices.filter { heads.contains(bytes[$0...].prefix(4)) }.flatMap { start in
                lengths.compactMap { length in
                    start + length <= bytes.count ? places[bytes[start..<start + length]] : nil
                }
            }
        }
    }

    /// The misspelled keys of a list of faults.
    private struct Causes {
        /// The indexes of the first ones that explain a fault with exactly this message.
        private var missing: [String: Int] = [:]
        /// The indexes of misspelled `bridges` and `entities` of the file, by the beginning of what they explain.
        private var sections: [String: Int] = [:]
        /// The indexes of misspelled `attributes` and `relationships` of parts of the file.
        private var lists: [Int] = []
        private var subjects = Subjects([])
        private(set) var isEmpty = true

        init(in faults: [Diagnostic]) {
            var names: [String] = []
            for index in faults.indices {
                guard let cause = Cause(faults[index]) else { continue }
                isEmpty = false
                for message in cause.explained where missing[message] == nil { missing[message] = index }
                switch (cause.key, cause.subject.isEmpty) {
                case ("bridges", true), ("entities", true):
                    let start = cause.key == "bridges" ? "unknown bridge " : "unknown entity "
                    if sections[start] == nil { sections[start] = index }
                case ("attributes", false), ("relationships", false):
                    lists.append(index)
                    names.append(String(cause.subject))
                default: break
                }
            }
            subjects = Subjects(names)
        }

        /// Returns the index of the first cause of a fault; nil if there is none besides itself.
        func first(of fault: Diagnostic, at index: Int) -> Int? {
            var found = [missing[fault.message]].compactMap(\.self)
            found += sections.filter { fault.message.hasPrefix($0.key) }.values
            if fault.message.contains("the unknown attribute ") || fault.message.contains("the unknown relationship ") {
                found += subjects.found(in: fault.message).map { lists[$0] }
            }
            return found.filter { $0 != index }.min()
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

        /// The messages of the faults that follow from it.
        var explained: [String] { ["missing key \"\(key)\"\(subject)", "missing \(key)\(subject)"] }
    }
}
