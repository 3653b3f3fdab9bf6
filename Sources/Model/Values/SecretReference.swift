internal import TextFormats

/// A reference to a secret in an environment variable or a file.
///
/// The secret itself is never stored.
public enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    /// The value of an environment variable.
    case env(String)
    /// The content of a file without a byte order mark and one trailing newline.
    ///
    /// A relative path starts at the configuration's folder.
    case file(String)

    /// The maximum size of a secret's file, in bytes.
    static let maxFileSize = 64 * 1024

    /// The reference as `{env: NAME}` or `{file: PATH}`, never the value.
    public var description: String {
        switch self {
        case .env(let name): "{env: \(name)}"
        case .file(let path): "{file: \(path)}"
        }
    }

    /// Reads the secret.
    ///
    /// Blocks while reading a file.
    ///
    /// - Parameters:
    ///   - directory: The configuration's folder.
    ///   - environment: The variables by name.
    /// - Returns: The secret, never empty.
    /// - Throws: ``SecretError`` if the variable or file is missing, empty, unreadable, too large or not UTF-8.
    public func resolve(
        relativeTo directory: String, environment: [String: String]
    ) throws(SecretError) -> String {
        switch self {
        case .env(let name):
            guard let value = environment[name] else {
                throw SecretError(
                    .missing, self, "the environment variable \(name) is not set", "set it, or use {file: PATH}")
            }
            guard !value.isEmpty else {
                throw SecretError(.empty, self, "the environment variable \(name) is empty", "set it to the secret")
            }
            return value
        case .file(let path):
            let absolute = FilePath.absolute(path, relativeTo: directory)
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try FilePath.read(absolute, limit: Self.maxFileSize)
            } catch {
                let code: SecretError.Code = error.code == .missing ? .missing : .unreadable
                throw SecretError(code, self, "the secret's file \(absolute) \(error.reason)", error.remedy)
            }
            guard var value = String(validUTF8: bytes) else {
                throw SecretError(
                    .unreadable, self, "the secret's file \(absolute) is not UTF-8", "save it as UTF-8 text")
            }
            // The byte order mark of an editor.
            if value.unicodeScalars.first == "\u{FEFF}" { value.unicodeScalars.removeFirst() }
            if value.unicodeScalars.last == "\n" { value.unicodeScalars.removeLast() }
            if value.unicodeScalars.last == "\r" { value.unicodeScalars.removeLast() }
            guard !value.isEmpty else {
                throw SecretError(.empty, self, "the secret's file \(absolute) is empty", "write the secret into it")
            }
            return value
        }
    }
}
