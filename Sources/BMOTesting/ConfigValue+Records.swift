internal import BridgeKit
internal import Model
internal import RecordBatch

extension ConfigValue {
    /// Creates a value from a bridge's.
    init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .bool: self = .bool(value.bool)
        case .int64: self = .int(value.int64)
        case .double: self = .double(value.double)
        case .decimal, .text: self = .string(value.string)
        case .timestamp: self = .int(value.int64)
        case .bytes: self = .array(value.rawBytes.map { .int(Int64($0)) })
        case .array: self = .array(value.elements.map { ConfigValue($0) })
        case .object: self = .object(value.members.map { (key: $0.key, value: ConfigValue($0.value)) })
        }
    }

    /// Creates an object from a bridge's.
    init(_ options: BridgeOptions) {
        self = .object(
            options.names.map { name in
                (key: name, value: options.withValue(name) { $0.map { ConfigValue($0) } ?? .null })
            })
    }

    /// Writes the value as a part of a record.
    func write(to writer: RecordBatchWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .int(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .decimal(let value): writer.decimal(value)
        case .string(let value): writer.text(value)
        case .secret(let reference): writer.text(reference.description)
        case .array(let elements): writer.array { for element in elements { element.write(to: writer) } }
        case .object(let members):
            writer.object {
                for (key, value) in members {
                    writer.key(key)
                    value.write(to: writer)
                }
            }
        }
    }

    /// Returns the object with another value of a member.
    func setting(_ key: String, _ value: ConfigValue) -> ConfigValue {
        var members = self.members ?? []
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = value
        } else {
            members.append((key, value))
        }
        return .object(members)
    }

    /// Returns the object with the members of another one, as JSON Merge Patch (RFC 7396) does.
    func merging(_ patch: ConfigValue) -> ConfigValue {
        guard let members = patch.members else { return patch }
        return members.reduce(self) { result, member in
            let old = result[member.key]
            return result.setting(member.key, old?.members == nil ? member.value : old?.merging(member.value) ?? .null)
        }
    }

    /// Returns whether a record has a key.
    func has(_ key: [(path: [String], value: ConfigValue)]) -> Bool {
        !key.isEmpty
            && key.allSatisfy { path, value in
                let found = path.reduce(Optional(self)) { $0?[$1] }
                return found?.plainText == value.plainText && found != nil
            }
    }

    /// The text of a single value, by which conditions and keys are compared.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        case .double(let number): String(number)
        case .decimal(let number): number
        case .bool(let value): String(value)
        default: nil
        }
    }

    /// An object as JSON, with the members in their order.
    var testText: String {
        RecordBatchWriter.json { writer in
            for (key, value) in members ?? [] {
                writer.key(key)
                value.write(to: writer)
            }
        }
    }
}
