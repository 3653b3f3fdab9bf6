import BridgeKit

/// The values that an object had when it was read, as far as a write says them, by the remote's names.
///
/// A local attribute may have another name than the member that it reads, and a member's own name may be that of an
/// attribute that reads something else.
struct KnownObject {
    private let request: WriteRequest

    init(_ request: WriteRequest) { self.request = request }

    /// The number of bytes of a file.
    var size: UInt64? {
        first("size") { values, name in
            values.string(name).flatMap { text in UInt64(text) ?? Double(text).flatMap { UInt64(exactly: $0) } }
        }
    }

    /// The path of a file's folder: empty for the root; nil if it is not known.
    var folder: String? {
        if let text = string("folder") { return text }
        if request.before.names.contains("folder") { return "" }
        let isRead = localNames(of: "folder").contains { request.object.names.contains($0) }
        return isRead && !isReplaced("folder") ? "" : nil
    }

    /// Returns a member's value as text.
    func string(_ member: String) -> String? { first(member) { $0.string($1) } }

    /// Returns a point in time, in microseconds since 1970.
    func microseconds(_ member: String) -> Int64? { first(member) { $0.microseconds($1) } }

    private func first<Value>(_ member: String, _ read: (BridgeOptions, String) -> Value?) -> Value? {
        if let value = read(request.before, member) { return value }
        let names = localNames(of: member)
        // The key has the remote's values, the object what transforms made of them.
        for name in names { if let value = read(request.key, name) { return value } }
        guard !isReplaced(member) else { return nil }
        for name in names { if let value = read(request.object, name) { return value } }
        return nil
    }

    /// Whether the local object has the new value of a member in place of the one that was read.
    private func isReplaced(_ member: String) -> Bool {
        request.operation == .update && request.values.names.contains(member)
    }

    /// Returns the attributes that read a member; without paths, as from an older host, the one of its name.
    private func localNames(of member: String) -> [String] {
        let paths = request.objectPaths.merging(request.keyPaths) { own, _ in own }
        let names = paths.filter { $0.value == [member] }.map(\.key).sorted()
        guard names.isEmpty, request.objectPaths.isEmpty, paths[member] == nil else { return names }
        return [member]
    }
}
