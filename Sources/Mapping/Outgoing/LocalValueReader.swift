package import Model
package import RecordBatch

/// Reads what a person or a program gives as the value of an attribute: the local value itself, no transformer in between.
package struct LocalValueReader: Sendable {
    private let type: AttributeType
    private let converter: ValueConverter

    /// A reader of an attribute's type.
    package init(_ type: AttributeType) {
        self.type = type
        converter = ValueConverter(Attribute(name: "", type: type))
    }

    /// The local value of a text, such as a word of a command line; of the type json it is JSON.
    package func read(_ text: String) throws(StoredValueConverter.Misfit) -> StoredValue {
        guard type == .json else { return try convert(.text(text)) }
        guard (try? JSONParser.batch(text)) != nil else {
            throw StoredValueConverter.Misfit(description: "the text \"\(text)\" is no JSON")
        }
        return .text(text)
    }

    /// The local value of a value of JSON.
    package func read(_ value: BatchValue) throws(StoredValueConverter.Misfit) -> StoredValue {
        if type == .json { return value.tag == .null ? .null : .text(value.json) }
        return try convert(RemoteScalar(value))
    }

    /// Whether a text is written as a day, `2026-02-30`, whether there is one or not.
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
