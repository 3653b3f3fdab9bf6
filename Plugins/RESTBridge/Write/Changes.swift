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

    /// Returns the JSON Patch operations.
    ///
    /// `add` also replaces existing members, while `replace` requires them to exist. Both require the object around a
    /// member (RFC 6902, section 4.1), which is added first where the remote has none.
    ///
    /// - Parameter current: The remote's object; nil if it is not known.
    func operations(in current: JSONTree?) -> [JSONTree] {
        guard let changes else { return Self.operations(values, at: "") }
        var current = current
        var operations: [JSONTree] = []
        for change in changes {
            for length in 1..<max(1, change.path.count) {
                let parent = Array(change.path.prefix(length))
                guard let object = current, (object[parent] ?? .null) == .null else { continue }
                operations.append(Self.addition(of: .object([]), at: parent))
                current?.set(.object([]), at: parent[...])
            }
            operations.append(Self.addition(of: change.value, at: change.path))
            current?.set(change.value, at: change.path[...])
        }
        return operations
    }

    /// Whether a value goes into an object that the remote may lack: no value of it is known to be there.
    ///
    /// - Parameter known: Values that the remote has, in its structure.
    func mayLackParents(besides known: [JSONTree]) -> Bool {
        (changes ?? []).contains { change in
            guard change.path.count > 1 else { return false }
            let parent = Array(change.path.dropLast())
            return !known.contains { $0[parent]?.holdsValue ?? false }
        }
    }

    private static func addition(of value: JSONTree, at path: [String]) -> JSONTree {
        ["op": "add", "path": .text(path.map { "/" + escaped($0) }.joined()), "value": value]
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

extension JSONTree {
    /// Whether the value is an object with a value other than null, at any depth.
    fileprivate var holdsValue: Bool {
        members.contains { $0.value.isObject ? $0.value.holdsValue : $0.value != .null }
    }
}
