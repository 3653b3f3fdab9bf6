internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The secrets of a netrc file, for removing them from text; libcurl reads the file itself.
///
/// Source: libcurl's documentation of CURLOPT_NETRC.
enum NetrcFile {
    private static let longest = 1 << 20

    /// Returns the passwords of all machines in the file.
    ///
    /// - Parameter path: The file; nil for `.netrc` in the home folder.
    static func passwords(at path: String?) -> [String] {
        guard let path = path ?? getenv("HOME").map({ String(cString: $0) + "/.netrc" }) else { return [] }
        var bytes: [UInt8] = []
        // After an error, the passwords read so far are still removed.
        try? BoundedFile.scan(path) { chunk in
            bytes += chunk.prefix(longest - bytes.count)
            return bytes.count < longest
        }
        return passwords(in: bytes)
    }

    /// Returns the words after `password` and `account`; a quoted word may hold spaces, and a backslash before any
    /// character.
    static func passwords(in text: some Sequence<UInt8>) -> [String] {
        var found: [String] = []
        var words = words(of: text).makeIterator()
        while let word = words.next() {
            guard ["machine", "login", "password", "account"].contains(word), let value = words.next() else { continue }
            if word == "password" || word == "account" { found.append(value) }
        }
        return found
    }

    private static func words(of text: some Sequence<UInt8>) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        for byte in text {
            switch byte {
            case _ where isEscaped:
                word.append(byte)
                isEscaped = false
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\"") where isQuoted || word.isEmpty: isQuoted.toggle()
            case 0...0x20 where !isQuoted: end()
            default: word.append(byte)
            }
        }
        end()
        return words
    }
}
