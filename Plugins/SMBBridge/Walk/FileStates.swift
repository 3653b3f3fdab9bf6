import BridgeKit
import Glibc
import RecordBatch
internal import TextFormats

/// The states of the files that a scan has read, so that a later scan can skip unchanged ones.
///
/// Eight bytes for a path and eight for its state, in Base64: 22 bytes per file. With five million files on a share,
/// the chance of two equal hashes is below one in a million.
struct FileStates {
    private static let format = "smb-states1"
    /// The limit that keeps a page with its token below the host's 4 MiB.
    static let maximumCount = 140_000
    /// A recently written file may be written again without a change of its times.
    private static let racySeconds = 3

    private let question: UInt64
    private let earlier: [UInt64: UInt64]
    private var present: [UInt64: UInt64] = [:]
    private var sawAll = true

    /// Whether an earlier scan returned states for the same request.
    let hasEarlier: Bool

    /// The start of the scan, in seconds since 1970.
    private let began: Int64

    init(token: String?, question: String, began: Int64) {
        self.began = began
        var number = Fingerprint()
        number.add(question)
        self.question = number.value
        let decoded = token.flatMap { [number] in Self.decode($0, question: number.value) }
        earlier = decoded ?? [:]
        hasEarlier = decoded != nil
    }

    /// Whether the file is unchanged since it was last read; an unchanged file counts as read.
    mutating func isUnchanged(_ match: FolderWalk.Match) -> Bool {
        guard hasEarlier else { return false }
        let path = Self.number(of: match.path)
        guard let state = earlier[path], state == match.entry.fingerprint else { return false }
        present[path] = state
        return true
    }

    /// Records that a file was read completely, in its listed state.
    mutating func wasRead(_ match: FolderWalk.Match) {
        if let modified = match.entry.modified, modified > (began - Int64(Self.racySeconds)) * 1_000_000 {
            return
        }
        present[Self.number(of: match.path)] = match.entry.fingerprint
    }

    /// Records that the scan skipped something that an earlier scan may have read, whose states are kept.
    mutating func wasPartial() { sawAll = false }

    /// Whether no file changed, appeared or disappeared since the earlier scan.
    var isAllUnchanged: Bool { hasEarlier && sawAll && present == earlier }

    /// The token for the next scan; nil if there are too many files.
    var token: String? {
        let states = sawAll ? present : earlier.merging(present) { $1 }
        guard states.count <= Self.maximumCount else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(states.count * 16)
        for (path, state) in states.sorted(by: { $0.key < $1.key }) {
            withUnsafeBytes(of: path.littleEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: state.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return "\(Self.format) \(String(question, radix: 16)) " + bytes.withUnsafeBytes { Base64.encode($0) }
    }

    private static func decode(_ token: String, question: UInt64) -> [UInt64: UInt64]? {
        let parts = token.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == format, parts[1] == String(question, radix: 16),
            let bytes = Base64.decode(String(parts[2])), bytes.count % 16 == 0
        else { return nil }
        var states: [UInt64: UInt64] = [:]
        states.reserveCapacity(bytes.count / 16)
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 16) {
                let path = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let state = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
                states[path] = state
            }
        }
        return states
    }

    private static func number(of path: [String]) -> UInt64 {
        var number = Fingerprint()
        for name in path {
            number.add(name)
            number.separate()
        }
        return number.value
    }
}
