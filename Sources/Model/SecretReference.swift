/// Where a secret is: an environment variable or a file; the secret itself is never kept.
public enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    /// The value of an environment variable.
    case env(String)
    /// The content of a file without one trailing newline; a relative path starts at the configuration's folder.
    case file(String)

    /// The largest file that is taken for a secret, in bytes.
    static let largestFile = 64 * 1024

    /// `{env: NAME}` or `{file: PATH}`, never the value.
    public var description: String {
        switch self {
        case .env(let name): "{env: \(name)}"
        case .file(let path): "{file: \(path)}"
        }
    }

    /// Reads the secret.
    ///
    /// Blocks for as long as reading its file takes.
    ///
    /// - Parameters:
    ///   - directory: the configuration's folder.
    ///   - environment: the variables by name.
    /// - Returns: the secret, never empty.
    /// - Throws: ``SecretError`` when the variable or file is missing, empty, unreadable, too large or not UTF-8.
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
                bytes = try FilePath.read(absolute, limit: Self.largestFile)
            } catch {
                let code: SecretError.Code = error.code == .missing ? .missing : .unreadable
                throw SecretError(code, self, "the secret's file \(absolute) \(error.reason)", error.remedy)
            }
            guard var value = String(validating: bytes, as: UTF8.self) else {
                throw SecretError(
                    .unreadable, self, "the secret's file \(absolute) is not UTF-8", "save it as UTF-8 text")
            }
            if value.unicodeScalars.last == "\n" { value.unicodeScalars.removeLast() }
            if value.unicodeScalars.last == "\r" { value.unicodeScalars.removeLast() }
            guard !value.isEmpty else {
                throw SecretError(.empty, self, "the secret's file \(absolute) is empty", "write the secret into it")
            }
            return value
        }
    }
}

/// A secret that cannot be read: the variable or the file, never a value.
public struct SecretError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Sendable {
        /// No such variable or file.
        case missing
        /// There, but with nothing in it.
        case empty
        /// There, but it cannot be read as a text of at most 64 KiB.
        case unreadable
    }

    /// What kind of failure it is.
    public var code: Code
    /// Which secret.
    public var reference: SecretReference
    /// What failed, on which thing.
    public var message: String
    /// What to do.
    public var remedy: String

    init(_ code: Code, _ reference: SecretReference, _ message: String, _ remedy: String) {
        self.code = code
        self.reference = reference
        self.message = message
        self.remedy = remedy
    }

    /// Message and remedy on one line.
    public var description: String { "\(message); \(remedy)" }
}
