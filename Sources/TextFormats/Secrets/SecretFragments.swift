internal import SystemCalls

/// Finds fragments of known secrets in text for people: a remote may split a secret, and any truncation may cut through
/// one.
///
/// A fragment is a run of at least eight bytes of a secret, of its base64 or of its hexadecimal digits, plain,
/// percent-encoded or escaped up to twice. A run of eight lower-case letters is assumed to be a word, and a run of
/// digits and signs a number or a time; both stay. Secrets of fewer than twelve bytes are found only as a whole: see
/// `SecretFinder`. This is too eager for data that must not change by accident.
final class SecretFragments: Sendable {
    /// The length of the shortest fragment, in bytes.
    static let length = 8
    private static let shortestSecret = 12
    /// The number of bytes of secrets that are indexed, the newest first: each takes about ten windows.
    private static let maxBytes = 32 << 10
    /// The number of bytes of a text that are read at a time.
    private static let block = 64 << 10
    /// Longer than eight characters that are escaped twice.
    private static let overlap = 128

    /// Built for the first text: most runs show none.
    private let windows = Mutex<Set<UInt64>?>(nil)

    /// Returns the disjoint ranges of a text that are fragments, in order.
    ///
    /// - Parameter secrets: The secrets, the newest last; the same with each call.
    func ranges(in text: [UInt8], of secrets: [String]) -> [Range<Int>] {
        let windows = known(secrets)
        guard !windows.isEmpty, text.count >= Self.length else { return [] }
        var isSecret = [Bool](repeating: false, count: text.count)
        for start in stride(from: 0, to: text.count, by: Self.block) {
            var reading = Reading(text, start..<min(text.count, start + Self.block + Self.overlap))
            for _ in 0..<3 {
                for range in reading.hits(windows) {
                    for index in range { isSecret[index] = true }
                }
                guard let inner = reading.decoded() else { break }
                reading = inner
            }
        }
        return Self.runs(of: isSecret)
    }

    private func known(_ secrets: [String]) -> Set<UInt64> {
        windows.withLock { known in
            if let known { return known }
            var all: Set<UInt64> = []
            var room = Self.maxBytes
            for secret in secrets.reversed() where secret.utf8.count >= Self.shortestSecret {
                guard secret.utf8.count <= room else { continue }
                room -= secret.utf8.count
                for form in SecretFinder.forms(of: secret) {
                    Self.eachWindow(of: Array(form.utf8)) { _, window in all.insert(window) }
                }
            }
            known = all
            return all
        }
    }

    /// Calls `body` with the offset of each run of eight bytes that is neither a lower-case word nor a number or a
    /// time.
    private static func eachWindow(of bytes: [UInt8], _ body: (Int, UInt64) -> Void) {
        var window: UInt64 = 0
        // The lengths of the word, and of the number or time, that end here.
        var letters = 0
        var digits = 0
        for (index, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            letters = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte ? letters + 1 : 0
            digits = isOfNumberOrTime(byte) ? digits + 1 : 0
            if index >= length - 1, letters < length, digits < length { body(index - length + 1, window) }
        }
    }

    private static func isOfNumberOrTime(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "+"), UInt8(ascii: "T"), UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    private static func runs(of isSecret: [Bool]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for (index, isPart) in isSecret.enumerated() where isPart {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }

    /// Bytes, and the place of each in the text from which they were decoded.
    private struct Reading {
        var bytes: [UInt8]
        /// The range in the text of each byte.
        var places: [Range<Int>]

        init(_ text: [UInt8], _ range: Range<Int>) {
            bytes = Array(text[range])
            places = range.map { $0..<$0 + 1 }
        }

        func hits(_ windows: Set<UInt64>) -> [Range<Int>] {
            var hits: [Range<Int>] = []
            SecretFragments.eachWindow(of: bytes) { start, window in
                guard windows.contains(window) else { return }
                hits.append(places[start].lowerBound..<places[start + length - 1].upperBound)
            }
            return hits
        }

        /// Returns the reading with each escape decoded; nil if there is none.
        func decoded() -> Reading? {
            // Most texts have no escape, and need no copy then.
            guard let first = bytes.indices.first(where: { SecretFinder.escape(in: bytes, at: $0) != nil }) else {
                return nil
            }
            var inner = Reading([], 0..<0)
            inner.bytes += bytes[..<first]
            inner.places += places[..<first]
            var at = first
            while at < bytes.count {
                guard let unit = SecretFinder.escape(in: bytes, at: at) else {
                    inner.bytes.append(bytes[at])
                    inner.places.append(places[at])
                    at += 1
                    continue
                }
                let place = places[at].lowerBound..<places[unit.end - 1].upperBound
                inner.bytes += unit.bytes
                inner.places += unit.bytes.map { _ in place }
                at = unit.end
            }
            return inner
        }
    }
}
