package import Model
package import RecordBatch

/// Parses a value of an attribute as a user or program enters it: the local value, without transformers.
package struct LocalValueReader: Sendable {
    private let type: AttributeType
    private let converter: ValueConverter

    /// Creates a reader for an attribute's type.
    package init(_ type: AttributeType) {
        self.type = type
        converter = ValueConverter(Attribute(name: "", type: type))
    }

    /// Returns the local value of a text, such as a command-line argument; a text of type json is parsed as JSON.
    package func read(_ text: String) throws(StoredValueConverter.Misfit) -> StoredValue {
        guard type == .json else { return try convert(.text(text)) }
        guard (try? JSONParser.batch(text)) != nil else {
            throw StoredValueConverter.Misfit(description: "the text \"\(text)\" is not JSON")
        }
        return .json(text)
    }

    /// Returns the local value of a JSON value.
    package func read(_ value: BatchValue) throws(StoredValueConverter.Misfit) -> StoredValue {
        if type == .json { return value.tag == .null ? .null : .json(value.json) }
        return try convert(RemoteScalar(value))
    }

    /// Returns whether a text has the form of a day, such as `2026-02-30`, valid or not.
    private static func isShapedLikeDay(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [4, 2, 2]
            && parts.allSatisfy { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
    }

    private func convert(_ scalar: RemoteScalar) throws(StoredValueConverter.Misfit) -> StoredValue {
        let arena = Arena()
        do {
            return try converter.convert(scalar, arena).value ?? .null
        } catch {
            if type == .date, case .text(let text) = scalar, Self.isShapedLikeDay(text) {
                throw StoredValueConverter.Misfit(description: "there is no such day: \(text)")
            }
            throw StoredValueConverter.Misfit(description: error.reason)
        }
    }
}
