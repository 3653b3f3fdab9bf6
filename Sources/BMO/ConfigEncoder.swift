package import Model
package import RecordBatch

/// Writes a part of the configuration as a batch of one object, with its secrets resolved.
package struct ConfigEncoder {
    /// The directory of relative secret files.
    private let directory: String
    /// The resolved secret values, which no message may show.
    package private(set) var secrets: [String] = []

    /// Supplies stand-ins for secrets; nil reads the secrets.
    private let session: ExchangeSession?

    /// Whether to write stand-ins for all secrets, for tests.
    private let needsNoSecrets: Bool

    package init(directory: String, session: ExchangeSession? = nil, needsNoSecrets: Bool = false) {
        self.directory = directory
        self.session = session
        self.needsNoSecrets = needsNoSecrets
    }

    /// Encodes an object of the configuration.
    ///
    /// - Throws: `SecretError` when a variable or file is missing.
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
        case .decimal(let value): writer.decimal(value)
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
                ?? (needsNoSecrets ? "stand-in for \(reference)" : nil)
                ?? reference.resolve(relativeTo: directory, environment: SecretVault.environment)
            if !Self.isPlainURL(secret) { secrets.append(secret) }
            writer.text(secret)
        }
    }

    /// Returns whether a value is only a server's address.
    ///
    /// With that redacted, no message could say which server failed.
    package static func isPlainURL(_ text: String) -> Bool {
        guard let scheme = text.firstRange(of: "://"),
            ["http", "https", "smb"].contains(text[..<scheme.lowerBound].lowercased())
        else { return false }
        return !text.contains("@") && !text.contains("?") && !text.contains("#")
    }
}
