/// Deviations of a reply from its WSDL or from the standards that were tolerated.
struct ToleratedDeviations: Sendable {
    enum Rule: UInt8, Sendable, CaseIterable {
        case emptyValue, misfit, undescribed, unknownType, danglingReference, cycle, namespace
        case mediaType, renamed, sharedList

        fileprivate func words(_ name: String) -> String {
            switch self {
            case .emptyValue: "<\(name)> is empty where a value of its type belongs: read as null"
            case .misfit: "<\(name)> has a text that does not fit its type: kept as text"
            case .undescribed: "<\(name)> is not in the schema"
            case .unknownType: "the xsi:type of <\(name)> is in no schema: the declared type is used"
            case .danglingReference: "<\(name)> refers to something that is not in the reply: left out"
            case .cycle: "<\(name)> refers to something that contains it: left out"
            case .namespace: "<\(name)> is in another namespace than the WSDL says"
            case .sharedList:
                "<\(name)> is left out of lists in objects that records refer to, which would lead to more than "
                    + "\(RecordEmitter.Limits.sharedValues) values in one record"
            case .renamed: "<\(name)> occurs in a list where the schema has another name"
            case .mediaType: "the Content-Type \(name) is not an XML type"
            }
        }
    }

    private struct Key: Hashable {
        let rule: Rule
        let name: String
    }

    private static let kinds = 100
    private var counts: [Key: Int] = [:]
    private var order: [Key] = []

    /// Counts occurrences of a deviation.
    mutating func note(_ rule: Rule, _ name: String, count: Int = 1) {
        let key = Key(rule: rule, name: name)
        if let known = counts[key] {
            counts[key] = known + count
        } else if counts.count < Self.kinds {
            counts[key] = count
            order.append(key)
        }
    }

    /// Adds the deviations of another reply of the same scan.
    mutating func merge(_ other: ToleratedDeviations) {
        for key in other.order { note(key.rule, key.name, count: other.counts[key] ?? 0) }
    }

    /// A sentence that lists the deviations with their counts; nil if there are none.
    var sentence: String? {
        guard !order.isEmpty else { return nil }
        let shown = order.prefix(8).map { key in
            let count = counts[key] ?? 0
            return key.rule.words(key.name) + (count > 1 ? " (\(count) times)" : "")
        }
        let more = order.count > 8 ? "; and \(order.count - 8) more" : ""
        return "tolerated deviations in the replies: \(shown.joined(separator: "; "))\(more)"
    }
}
