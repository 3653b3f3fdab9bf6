package import BridgeContract
package import RecordBatch

/// The deletions that a remote lists among its records, in the order of its events.
///
/// The host imports the records of a page before its deletions. So an object that comes back after its deletion must
/// not be among ``Page/deleted``, or the host would delete it for ever.
package struct DeletedObjects {
    private let keyPaths: [[String]]
    /// The objects in order; nil for one that came back.
    private var objects: [BridgeOptions?] = []
    /// The index of each object whose key can be read.
    private var places: [[String]: Int] = [:]
    /// The number of deleted objects.
    package private(set) var count = 0

    /// - Parameter keyPaths: The paths of the key in a record; see ``FetchRequest/keyPaths``.
    package init(keyPaths: [String]) {
        self.keyPaths = keyPaths.map { $0.split(separator: ".").map(String.init) }
    }

    /// Adds an object, which needs only its key.
    package mutating func insert(_ object: BridgeOptions) {
        let key = key { path in
            object.withValue(path[0]) { Self.text($0, at: path.dropFirst()) }
        }
        if let key {
            guard places[key] == nil else { return }
            places[key] = objects.count
        }
        objects.append(object)
        count += 1
    }

    /// Takes back the deletion of a record's object.
    ///
    /// Returns false if the record's key cannot be read: then it belongs in a page of its own, after the deletions.
    package mutating func restore(_ record: BatchValue) -> Bool {
        guard count > 0 else { return true }
        guard let key = key(value: { Self.text(record, at: $0[...]) }) else { return false }
        if let place = places.removeValue(forKey: key) {
            objects[place] = nil
            count -= 1
        }
        return true
    }

    /// Returns the objects for ``Page/deleted``, and forgets them.
    package mutating func take() -> [BridgeOptions] {
        defer {
            objects = []
            places = [:]
            count = 0
        }
        return objects.compactMap(\.self)
    }

    private func key(value: ([String]) -> String?) -> [String]? {
        let key = keyPaths.compactMap { $0.isEmpty ? nil : value($0) }
        return keyPaths.isEmpty || key.count < keyPaths.count ? nil : key
    }

    /// Returns the text of the scalar at a path; nil if there is none.
    private static func text(_ root: BatchValue?, at path: ArraySlice<String>) -> String? {
        let value = path.reduce(root) { $0?[$1] }
        guard let value else { return nil }
        return switch value.tag {
        case .text, .decimal: value.string
        case .bool, .int64, .double: value.json
        default: nil
        }
    }
}
