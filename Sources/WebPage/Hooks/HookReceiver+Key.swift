internal import TextFormats
internal import BMO
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

extension HookReceiver {
    /// Returns the key that the body names; nil if it names none, or is not JSON.
    ///
    /// - Throws: ``PageFailure`` for a value that cannot be a key of the entity.
    static func key(
        in body: [UInt8], at path: RemotePath, of entity: Int, _ workspace: Workspace
    ) throws(PageFailure) -> [String]? {
        let layout = workspace.model.entities[entity]
        guard !layout.key.isEmpty, let text = String(validUTF8: body),
            let batch = try? JSONParser.batch(text), batch.count == 1
        else { return nil }
        let names = layout.key.map { layout.fields[$0].name }
        let failure = PageFailure(
            400, "The body's \"\(path)\" is not a key of \(layout.name): \(names.joined(separator: ", "))")
        let parts: [String?]? = withExtendedLifetime(batch) {
            guard let value = Self.value(at: path, in: batch[0]), value.tag != .null else { return nil }
            switch value.tag {
            case .array: return value.elements.map(Self.text)
            case .object: return names.map { value[$0].flatMap(Self.text) }
            default: return [Self.text(value)]
            }
        }
        guard let parts else { return nil }
        let key = parts.compactMap(\.self)
        guard key.count == parts.count, key.count == names.count,
            key.allSatisfy({ !$0.isEmpty && $0.utf8.count <= Self.maxKeyBytes })
        else { throw failure }
        let conditions = zip(names, key).map { LocalCondition(field: $0, comparison: .equal, value: $1) }
        guard (try? workspace.check(conditions, on: entity)) != nil else { throw failure }
        return key
    }

    private static func value(at path: RemotePath, in body: BatchValue) -> BatchValue? {
        var value = body
        for name in path.components {
            if value.tag == .array {
                guard let index = RemotePath.elementIndex(name), index < value.count else { return nil }
                value = value[index]
            } else {
                guard value.tag == .object, let member = value[name] else { return nil }
                value = member
            }
        }
        return value
    }

    private static func text(_ value: BatchValue) -> String? {
        value.text ?? value.integer.map { String($0) } ?? value.boolean.map { String($0) }
    }
}
