internal import BridgeContract
internal import Model
internal import RecordBatch

/// A bridge's `discover` offer: its options, and entities with a confidence for each guess.
struct IntrospectionOffer {
    /// A part of the API that needs other options, and so a bridge of its own.
    struct Part {
        var name: String
        var options: [(key: String, value: ConfigValue)]
        var notes: [String]
    }

    var title: String?
    var options: [(key: String, value: ConfigValue)] = []
    var notes: [String] = []
    var entities: [EntityDescription] = []
    var parts: [Part] = []
    /// Whether the bridge understood its input and found no entity in it.
    var isKnownEmpty = false

    init(_ batch: RecordBatch) {
        for index in 0..<batch.count {
            if let entity = EntityDescription(batch[index]) {
                entities.append(entity)
            } else {
                let service = ServiceDescription(batch[index])
                if let name = service.part {
                    parts.append(Part(name: name, options: service.options.configuration, notes: service.notes))
                    continue
                }
                title = service.title ?? title
                isKnownEmpty = isKnownEmpty || service.isEmpty
                options += service.options.configuration
                notes += service.notes
            }
        }
    }
}

extension IntrospectionOffer {
    /// Sets the API's address, which the user knows better than its document.
    mutating func setURL(_ url: (key: String, value: ConfigValue)) {
        func replaced(_ options: [(key: String, value: ConfigValue)]) -> [(key: String, value: ConfigValue)] {
            [url] + options.filter { $0.key != url.key }
        }
        options = replaced(options)
        for index in parts.indices { parts[index].options = replaced(parts[index].options) }
    }
}

extension EntityDescription.Confidence {
    /// A comment such as `high: named id`; nil without level and reason.
    var comment: String? {
        let parts = [level?.rawValue, reason].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }
}

extension EntityDescription {
    /// Returns the reason of a member of the section.
    func reason(_ name: String) -> Confidence? { reasons.last { $0.name == name }?.confidence }
}

extension EntityDescription.Value {
    /// The value in a configuration.
    var configuration: ConfigValue { withValue { ConfigValue($0) } }
}

extension BridgeOptions {
    /// The members in a configuration.
    var configuration: [(key: String, value: ConfigValue)] {
        names.map { name in (name, withValue(name) { ConfigValue($0) }) }
    }
}

extension ConfigValue {
    /// Converts a batch value; null for a missing value, and for bytes and timestamps, which configurations lack.
    init(_ value: BatchValue?) {
        guard let value else {
            self = .null
            return
        }
        switch value.tag {
        case .null, .bytes, .timestamp: self = .null
        case .bool: self = .bool(value.bool)
        case .int64: self = .int(value.int64)
        case .double: self = .double(value.double)
        case .decimal: self = Double(value.string).map { .double($0) } ?? .string(value.string)
        case .text: self = .string(value.string)
        case .array: self = .array(value.elements.map { ConfigValue($0) })
        case .object: self = .object(value.members.map { ($0.key, ConfigValue($0.value)) })
        }
    }
}
