/// A path that is compared and hashed by the bytes of its names.
///
/// For a String, a name in Unicode's normal form C and the same name in form D are equal; a server has a file for each.
struct ExactPath: Hashable, Sendable {
    let names: [String]

    init(_ names: [String]) { self.names = names }

    static func == (left: ExactPath, right: ExactPath) -> Bool { left.names.isSame(as: right.names) }

    func hash(into hasher: inout Hasher) {
        for name in names {
            for byte in name.utf8 { hasher.combine(byte) }
            // It does not occur in UTF-8.
            hasher.combine(UInt8.max)
        }
    }
}

extension String {
    /// Whether both texts have the same bytes.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [String] {
    /// Whether both lists have the same texts, each with the same bytes.
    func isSame(as other: [String]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
    }
}
