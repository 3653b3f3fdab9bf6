import BridgeKit
import Glibc
import RecordBatch
internal import TextFormats

/// The states of the files that a scan has read, so that a later scan can skip unchanged ones.
///
/// Eight bytes for a path and eight for its state, in Base64: 22 bytes per file. With five million files on a share,
/// the chance of two equal hashes is below one in a million.
struct FileStates {
    /// The limit that keeps a page with its token below the host's 4 MiB.
    static let maximumCount = 140_000
    /// A recently written file may be written again without a change of its times.
    private static let racySeconds = 3

    /// What a token says.
    fileprivate struct Known {
        /// The states of the files that were read, or were unchanged, by the hash of their path.
        var states: [UInt64: UInt64] = [:]
        /// The states of files that the scan did not see; each is valid only in, or below, one of ``folders``.
        ///
        /// Elsewhere the scan found that the file is not there any more, and its records were deleted.
        var unseen: [UInt64: UInt64] = [:]
        /// The hashes of the folders that were left out.
        var folders: Set<UInt64> = []
    }

    private let question: UInt64
    private let earlier: Known
    private var present: [UInt64: UInt64] = [:]
    private var leftOut: Set<UInt64> = []

    /// Whether an earlier scan returned states for the same request.
    let hasEarlier: Bool

    /// The start of the scan, in seconds since 1970.
    private let began: Int64

    /// - Parameter token: That of an earlier scan; nil for a scan that does not read files, and cannot skip any.
    init(token: String?, question: String, began: Int64) {
        self.began = began
        var number = Fingerprint()
        number.add(question)
        self.question = number.value
        let decoded = token.flatMap { [number] in Known($0, question: number.value) }
        earlier = decoded ?? Known()
        hasEarlier = decoded != nil
    }

    /// Whether the file is unchanged since it was last read; an unchanged file counts as read.
    mutating func isUnchanged(_ match: FolderWalk.Match) -> Bool {
        guard hasEarlier else { return false }
        let path = Self.number(of: match.path)
        let state = match.entry.fingerprint
        guard earlier.states[path] == state || earlier.unseen[path] == state && wasLeftOut(match.path) else {
            return false
        }
        present[path] = state
        return true
    }

    private func wasLeftOut(_ path: [String]) -> Bool {
        path.indices.contains { earlier.folders.contains(Self.number(of: Array(path[..<$0]))) }
    }

    /// Records that a file was read completely, in its listed state.
    mutating func wasRead(_ match: FolderWalk.Match) {
        if let modified = match.entry.modified, modified > (began - Int64(Self.racySeconds)) * 1_000_000 {
            return
        }
        present[Self.number(of: match.path)] = match.entry.fingerprint
    }

    /// Records that the scan left out a folder; the states of the files in it, and below it, are kept.
    mutating func leaveOut(_ folder: [String]) { leftOut.insert(Self.number(of: folder)) }

    /// Returns the token for the next scan; nil if there are too many files.
    ///
    /// - Parameter deletes: Whether the host may delete the records of the files that the scan did not find.
    func token(deletes: Bool) -> String? {
        var known = Known(states: present)
        if !deletes {
            known.states = earlier.states.merging(present) { $1 }
            known.unseen = earlier.unseen.filter { known.states[$0.key] == nil }
            known.folders = earlier.folders
        } else if !leftOut.isEmpty {
            let unseen = earlier.states.merging(earlier.unseen) { own, _ in own }
            known.unseen = unseen.filter { present[$0.key] == nil }
            known.folders = earlier.unseen.isEmpty ? leftOut : leftOut.intersection(earlier.folders)
        }
        let count = known.states.count + known.unseen.count + known.folders.count
        if known.unseen.isEmpty || count > Self.maximumCount { (known.unseen, known.folders) = ([:], []) }
        return known.states.count > Self.maximumCount ? nil : known.encoded(question: question)
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

extension FileStates.Known {
    private static let format = "smb-states2"
    /// The format of earlier versions, which has neither folders nor the states of files in them.
    private static let oldFormat = "smb-states1"

    /// Decodes a token; nil for one of another question.
    fileprivate init?(_ token: String, question: UInt64) {
        let parts = token.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1] == String(question, radix: 16) else { return nil }
        if parts[0] == Self.oldFormat, parts.count == 3, let states = Self.states(parts[2]) {
            self.init(states: states)
        } else if parts[0] == Self.format, parts.count == 5, let states = Self.states(parts[2]),
            let unseen = Self.states(parts[3]), let folders = Self.numbers(parts[4])
        {
            self.init(states: states, unseen: unseen, folders: Set(folders))
        } else {
            return nil
        }
    }

    fileprivate func encoded(question: UInt64) -> String {
        let parts = [
            Self.format, String(question, radix: 16), Self.text(states), Self.text(unseen), Self.text(folders.sorted()),
        ]
        return parts.joined(separator: " ")
    }

    private static func text(_ states: [UInt64: UInt64]) -> String {
        var numbers: [UInt64] = []
        numbers.reserveCapacity(states.count * 2)
        for (path, state) in states.sorted(by: { $0.key < $1.key }) {
            numbers.append(path)
            numbers.append(state)
        }
        return text(numbers)
    }

    private static func text(_ numbers: [UInt64]) -> String {
        numbers.map(\.littleEndian).withUnsafeBytes { Base64.encode($0) }
    }

    private static func states(_ text: Substring) -> [UInt64: UInt64]? {
        guard let numbers = Self.numbers(text), numbers.count.isMultiple(of: 2) else { return nil }
        var states: [UInt64: UInt64] = [:]
        states.reserveCapacity(numbers.count / 2)
        for index in stride(from: 0, to: numbers.count, by: 2) { states[numbers[index]] = numbers[index + 1] }
        return states
    }

    private static func numbers(_ text: Substring) -> [UInt64]? {
        guard let bytes = Base64.decode(String(text)), bytes.count.isMultiple(of: 8) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 8).map { offset in
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
        }
    }
}
