internal import Foundation
package import Model
package import RecordBatch

/// Writes a part of the configuration as a batch of one object, with its secrets resolved.
package struct ConfigEncoder {
    /// Where relative secret files lie.
    private let directory: String
    /// The values that were secret: what no message may show.
    package private(set) var secrets: [String] = []

    /// What stands for secrets; nil reads them.
    private let session: ExchangeSession?

    package init(directory: String, session: ExchangeSession? = nil) {
        self.directory = directory
        self.session = session
    }

    /// - Throws: `SecretError` when a variable or file is not there.
    package mutating func batch(_ value: ConfigValue) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        if case .object = value { try write(value, to: writer) } else { writer.object {} }
        return try writer.finish()
    }

    private mutating func write(_ value: ConfigValue, to writer: RecordBatchWriter) throws {
        switch value {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .int(let value): writer.int64(value)
        case .double(let value): writer.double(value)
        case .string(let value): writer.text(value)
        case .array(let elements):
            writer.beginArray()
            for element in elements { try write(element, to: writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (key, value) in members {
                writer.key(key)
                try write(value, to: writer)
            }
            writer.endObject()
        case .secret(let reference):
            let secret =
                try session?.standIn(for: reference)
                ?? reference.resolve(relativeTo: directory, environment: ProcessInfo.processInfo.environment)
            if !Self.isPlainURL(secret) { secrets.append(secret) }
            writer.text(secret)
        }
    }

    /// Whether a value is the address of a server and nothing else: struck out, no message could say which server failed.
    package static func isPlainURL(_ text: String) -> Bool {
        guard let scheme = text.firstRange(of: "://"),
            ["http", "https", "smb"].contains(text[..<scheme.lowerBound].lowercased())
        else { return false }
        return !text.contains("@") && !text.contains("?") && !text.contains("#")
    }
}
