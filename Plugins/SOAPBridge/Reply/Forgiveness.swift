/// What a reply did that its WSDL or the standards do not allow, and that was read all the same.
struct Forgiveness: Sendable {
    enum Rule: UInt8, Sendable, CaseIterable {
        case emptyValue, misfit, undescribed, unknownType, danglingReference, cycle, missingAttachment, namespace
        case mediaType, renamed

        fileprivate func words(_ name: String) -> String {
            switch self {
            case .emptyValue: "<\(name)> is empty where a value of its type belongs: read as null"
            case .misfit: "<\(name)> has a text that does not fit its type: kept as text"
            case .undescribed: "<\(name)> is not in the schema"
            case .unknownType: "the xsi:type of <\(name)> is in no schema: the declared type is taken"
            case .danglingReference: "<\(name)> refers to something that is not in the reply: left out"
            case .cycle: "<\(name)> refers to something that holds it: left out"
            case .missingAttachment: "<\(name)> refers to an attachment that is not there: read as null"
            case .namespace: "<\(name)> is in another namespace than the WSDL says"
            case .renamed: "<\(name)> stands in a list where the schema has another name"
            case .mediaType: "the Content-Type \(name) is not one of XML"
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

    /// Notes one.
    mutating func note(_ rule: Rule, _ name: String, count: Int = 1) {
        let key = Key(rule: rule, name: name)
        if let known = counts[key] {
            counts[key] = known + count
        } else if counts.count < Self.kinds {
            counts[key] = count
            order.append(key)
        }
    }

    /// Adds what another reply of the same walk did.
    mutating func merge(_ other: Forgiveness) {
        for key in other.order { note(key.rule, key.name, count: other.counts[key] ?? 0) }
    }

    /// One sentence, with counts; nil for nothing.
    var sentence: String? {
        guard !order.isEmpty else { return nil }
        let shown = order.prefix(8).map { key in
            let count = counts[key] ?? 0
            return key.rule.words(key.name) + (count > 1 ? " (\(count) times)" : "")
        }
        let more = order.count > 8 ? "; and \(order.count - 8) more" : ""
        return "forgiven in the replies: \(shown.joined(separator: "; "))\(more)"
    }
}
