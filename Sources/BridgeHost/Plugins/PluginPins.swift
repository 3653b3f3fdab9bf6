internal import Digests
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The plugins that a project trusts, each identified by its file's SHA-256, as stored in `bmo.lock`.
///
/// The file has a line per plugin, `NAME SHA256`, sorted by name; `#` starts a comment. It belongs in version control:
/// a replaced library is detected before a sync runs any of its code.
public struct PluginPins: Sendable, Equatable {
    /// SHA-256 in 64 hexadecimal digits, by plugin name.
    public private(set) var hashes: [String: String]
    /// The file, for messages.
    public let path: String
    /// Whether plugins may be used that are not pinned or do not match their pin.
    public var allowsOthers: Bool

    /// An error in a lock file.
    public struct Fault: Error, CustomStringConvertible {
        /// The error and its remedy, with the line if there is one.
        public let description: String
    }

    /// Reads the pins of a lock file; there are none if the file does not exist.
    ///
    /// - Throws: ``Fault`` when the file cannot be read or has an invalid line.
    public init(path: String, allowsOthers: Bool = false) throws(Fault) {
        self.path = path
        self.allowsOthers = allowsOthers
        hashes = [:]
        guard access(path, F_OK) == 0 else { return }
        let text: [UInt8]
        do throws(BoundedFile.Failure) {
            text = try BoundedFile.read(path, limit: Self.largest)
        } catch {
            throw Fault(description: "\(path) cannot be read: \(Self.reason(path, error))")
        }
        for (number, line) in String(decoding: text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, parts[1].utf8.count == 64, parts[1].allSatisfy(\.isHexDigit) else {
                throw Fault(
                    description: "\(path):\(number + 1): not a pin; a line is `NAME SHA256`, as `bmo plugins install` "
                        + "writes it")
            }
            hashes[String(parts[0])] = parts[1].lowercased()
        }
    }

    /// The maximum size of a lock file.
    private static let largest = 1 << 20

    private static func reason(_ path: String, _ failure: BoundedFile.Failure) -> String {
        switch failure {
        case .unreadable(EISDIR): return "it is a folder"
        case .silent, .irregular, .unopenable(ENXIO): return "it is not a regular file"
        case .unopenable, .unreadable, .invalidPath: return failure.words
        case .tooLarge:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                return "it is not a regular file"
            }
            guard status.st_size > largest else { return "it changed meanwhile" }
            return "it has \(status.st_size) bytes, more than \(largest)"
        }
    }

    /// Pins a plugin to its file's current digest.
    ///
    /// - Throws: ``Fault`` when the file cannot be read.
    public mutating func pin(_ name: String, file: String) throws(Fault) {
        let hash: String
        do throws(BoundedFile.Failure) {
            hash = try Self.hash(of: file)
        } catch {
            throw Fault(description: "\(file) cannot be read: \(Self.reason(file, error))")
        }
        hashes[name] = hash
    }

    /// The text of the lock file.
    public var text: String {
        "# The bridges that this project uses, by the SHA-256 of their files. Written by `bmo plugins install`.\n"
            + hashes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// Returns the reason why a plugin's file must not be inspected, which would run its code; nil if it may be.
    ///
    /// - Parameter name: The plugin's name, or the name derived from the file's.
    func refusal(of file: String, name: String, origin: SearchPath.Origin) -> String? {
        guard !allowsOthers, origin != .shipped else { return nil }
        guard let pinned = hashes[name] else {
            guard origin == .installed else { return nil }
            return "it is not pinned in \(path): `bmo plugins install \(file)` pins it, --allow-unpinned uses it once"
        }
        guard let hash = try? Self.hash(of: file) else { return "cannot be read" }
        guard hash != pinned else { return nil }
        return "it is not the file that \(path) pins (SHA-256 \(hash.prefix(12))…, pinned \(pinned.prefix(12))…): "
            + "if you changed it, `bmo plugins install \(file)` pins it again; --allow-unpinned uses it once"
    }

    /// Returns the digest that a plugin's file must have when it is loaded, which is later than the inspection.
    ///
    /// Nil if the plugin is not pinned.
    func digest(of name: String, origin: SearchPath.Origin) -> String? {
        allowsOthers || origin == .shipped ? nil : hashes[name]
    }

    /// Returns the plugin name derived from a file's name: `acme` for `/x/libacmeBridge.so`.
    static func name(of file: String) -> String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        guard last.hasPrefix("lib"), last.lowercased().hasSuffix("bridge.so") else { return last }
        return String(last.dropFirst(3).dropLast("Bridge.so".count)).lowercased()
    }

    /// Returns the SHA-256 of a file (FIPS 180-4) in hexadecimal digits.
    static func hash(of path: String) throws(BoundedFile.Failure) -> String {
        let hash = MessageDigest(.sha256)
        try BoundedFile.scan(path) { chunk in
            hash.add(chunk)
            return true
        }
        return hash.hexadecimal()
    }
}
