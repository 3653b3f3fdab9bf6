internal import BridgeJSON
internal import BridgeKit

/// The values that an update sets.
///
/// A value may itself be an object (an attribute of the type json). It replaces the previous value as a whole, while an
/// object that only contains values keeps its other members.
struct Changes {
    private struct Change {
        let path: [String]
        let value: JSONTree
        /// The previous value, as far as needed.
        let before: JSONTree
    }

    /// All values, in the remote's structure.
    let values: JSONTree
    /// The changes with their paths, or nil if the host does not provide them.
    private let changes: [Change]?

    init(_ request: WriteRequest) {
        let values = JSONTree(request.values)
        self.values = values
        let told = request.changed.compactMap { change -> Change? in
            let path = change.strings("path")
            guard !path.isEmpty, let value = values[path] else { return nil }
            return Change(
                path: path, value: value, before: change.withValue("before") { $0.map(JSONTree.init) } ?? .null)
        }
        changes = request.changed.isEmpty ? nil : told
    }

    /// Returns the object with the values set; its other members stay unchanged.
    func made(in base: JSONTree?) -> JSONTree {
        guard var base else { return values }
        guard let changes else { return base.merging(values) }
        for change in changes { base.set(change.value, at: change.path[...]) }
        return base
    }

    /// The merge patch (RFC 7386, section 2).
    ///
    /// Removed members become null, since they would stay otherwise.
    var mergePatch: JSONTree {
        var patch = values
        for change in changes ?? [] {
            patch.set(Self.patch(from: change.before, to: change.value), at: change.path[...])
        }
        return patch
    }

    private static func patch(from before: JSONTree, to after: JSONTree) -> JSONTree {
        guard before.isObject, after.isObject else { return after }
        var patch = after
        for (name, old) in before.members {
            patch.set(after[name].map { self.patch(from: old, to: $0) } ?? .null, at: [name])
        }
        return patch
    }

    /// The JSON Patch operations.
    ///
    /// `add` also replaces existing members, while `replace` requires them to exist (RFC 6902, section 4.1).
    var operations: [JSONTree] {
        guard let changes else { return Self.operations(values, at: "") }
        return changes.map { change in
            ["op": "add", "path": .text(change.path.map { "/" + Self.escaped($0) }.joined()), "value": change.value]
        }
    }

    static func operations(_ value: JSONTree, at pointer: String) -> [JSONTree] {
        value.members.flatMap { name, value -> [JSONTree] in
            let place = "\(pointer)/\(escaped(name))"
            if value.isObject, !value.members.isEmpty { return operations(value, at: place) }
            return [["op": "add", "path": .text(place), "value": value]]
        }
    }

    /// Escapes a reference token (RFC 6901, section 3).
    private static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}
