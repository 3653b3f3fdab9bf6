internal import CBridgeProcess

/// What a bridge's process said of its memory when it crashed.
struct MemoryNote: Equatable {
    /// What it had for its data, in bytes.
    let used: Int
    /// Whether memory was refused to it just before.
    let wasRefused: Bool

    /// Reads a line that the process left; nil for one that is no such note.
    init?(line: some StringProtocol) {
        guard line.hasPrefix(BMO_MEMORY_NOTE) else { return nil }
        let words = line.dropFirst(BMO_MEMORY_NOTE.count).split(separator: " ")
        guard words.count >= 2, let kilobytes = Int(words[0]), 0...(1 << 40) ~= kilobytes else { return nil }
        used = kilobytes << 10
        wasRefused = words.last == "refused"
    }
}

/// Why a process that ended is taken to have wanted more memory than it may have.
enum MemoryShortage {
    /// What programs say when memory is refused to them, in lower case.
    private static let words = [
        "out of memory", "bad_alloc", "cannot allocate memory", "could not allocate memory", "memoryerror",
        "memory allocation of", "memory exhausted",
    ]

    /// The reason in words; nil where nothing speaks for it.
    static func reason(_ limit: Int, _ errors: ChildOutput) -> String? {
        let lastWords = errors.lastLine.map { "its last words: \($0)" }
        guard let note = errors.memory, note.used >= limit / 8 * 7 || note.wasRefused else {
            let said = lastWords?.lowercased() ?? ""
            return words.contains { said.contains($0) } ? lastWords : nil
        }
        let reason =
            note.wasRefused && note.used < limit / 8 * 7
            ? "memory was refused to it just before, with \(note.used >> 20) MiB of data in use"
            : "it had \(note.used >> 20) MiB of data then"
        return lastWords.map { "\(reason); \($0)" } ?? reason
    }
}
