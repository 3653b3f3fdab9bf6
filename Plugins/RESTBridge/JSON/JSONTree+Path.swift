internal import BridgeJSON

extension JSONTree {
    /// The values at a path, in order; nil if the path leads nowhere.
    ///
    /// An array at the path's end stands for its elements, and null for none.
    func values(at path: JSONPath) -> [JSONTree]? {
        var found = [self]
        for segment in path.segments {
            let next = found.flatMap { $0.step(segment) ?? [] }
            // Only a list without elements leads on to nothing.
            let isEmptyList = !found.isEmpty && found.allSatisfy { $0.elements?.isEmpty == true || $0 == .null }
            if next.isEmpty { return isEmptyList ? [] : nil }
            found = next
        }
        return found.flatMap { value in value == .null ? [] : value.elements ?? [value] }
    }

    /// The values to which a segment leads; nil if it leads nowhere.
    func step(_ segment: JSONPath.Segment) -> [JSONTree]? {
        switch segment {
        case .name(let name): self[name].map { [$0] }
        case .wildcard: elements ?? members.map(\.value)
        case .index(let index): elements.flatMap { index < UInt64($0.count) ? [$0[Int(index)]] : nil }
        case .filter(let name, let value): elements?.filter { $0[name]?.text == value }
        }
    }
}
