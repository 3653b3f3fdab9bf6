internal import CLibCrypto
internal import Glibc

/// The plugins that a project trusts, each by the SHA-256 of its file: what `bmo.lock` holds.
///
/// A line per plugin, `NAME SHA256`, sorted by name; `#` begins a comment. The file is made for version control: a
/// library that was exchanged is noticed before any of its code runs in a sync.
public struct PluginPins: Sendable, Equatable {
    /// SHA-256 in 64 hexadecimal digits, by plugin name.
    public private(set) var hashes: [String: String]
    /// The file, for messages.
    public let path: String
    /// Lets a plugin be used that is not pinned, or is not what the pin says.
    public var allowsOthers: Bool

    /// Pins in words.
    public struct Fault: Error, CustomStringConvertible {
        /// What is wrong with which line, and what to do.
        public let description: String
    }

    /// No pins, or those of a lock file that is there.
    ///
    /// - Throws: ``Fault`` for a file that cannot be read or has a line that is no pin.
    public init(path: String, allowsOthers: Bool = false) throws(Fault) {
        self.path = path
        self.allowsOthers = allowsOthers
        hashes = [:]
        guard access(path, F_OK) == 0 else { return }
        guard let text = FileContent.read(path, limit: 1 << 20) else {
            throw Fault(description: "\(path) cannot be read: \(String(cString: strerror(errno)))")
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

    /// Pins a plugin's file as it is.
    ///
    /// - Throws: ``Fault`` when the file cannot be read.
    public mutating func pin(_ name: String, file: String) throws(Fault) {
        guard let hash = Self.hash(of: file) else {
            throw Fault(description: "\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        hashes[name] = hash
    }

    /// The text of the lock file.
    public var text: String {
        "# The bridges that this project uses, by the SHA-256 of their files. Written by `bmo plugins install`.\n"
            + hashes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// Why the file of a plugin must not even be looked at, which would run its code; nil when it may.
    ///
    /// - Parameter name: The plugin's name, or what the file's name says of it.
    func refusal(of file: String, name: String, origin: SearchPath.Origin) -> String? {
        guard !allowsOthers, origin != .shipped else { return nil }
        guard let pinned = hashes[name] else {
            guard origin == .installed else { return nil }
            return "it is not pinned in \(path): `bmo plugins install \(file)` pins it, --allow-unpinned uses it once"
        }
        guard let hash = Self.hash(of: file) else { return "cannot be read" }
        guard hash != pinned else { return nil }
        return "it is not the file that \(path) pins (SHA-256 \(hash.prefix(12))…, pinned \(pinned.prefix(12))…): "
            + "if you changed it, `bmo plugins install \(file)` pins it anew; --allow-unpinned uses it once"
    }

    /// The name that a plugin's file should have: of `/x/libacmeBridge.so` it is `acme`.
    static func name(of file: String) -> String {
        let last = file.split(separator: "/").last.map(String.init) ?? file
        guard last.hasPrefix("lib"), last.lowercased().hasSuffix("bridge.so") else { return last }
        return String(last.dropFirst(3).dropLast("Bridge.so".count)).lowercased()
    }

    /// The SHA-256 of a file (FIPS 180-4) in hexadecimal digits; nil when it cannot be read.
    static func hash(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else { return nil }
            EVP_DigestUpdate(context, chunk, count)
        }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { return nil }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Reads small files.
enum FileContent {
    /// The bytes of a file of at most `limit`; nil when it cannot be read or is longer.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var total = 0
        while total < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress.map { $0 + total }, $0.count - total)
            }
            if count == 0 { break }
            guard count > 0 else { return nil }
            total += count
        }
        return total > limit ? nil : Array(bytes[..<total])
    }
}
