#if PLUGINS
internal import CBridgeProcess

/// A bridge process's memory use, as reported when it crashed.
struct MemoryNote: Equatable {
    /// The size of its data, in bytes.
    let used: Int
    /// Whether an allocation had just failed.
    let wasRefused: Bool

    /// Parses a line that the process left; nil for any other line.
    init?(line: some StringProtocol) {
        guard line.hasPrefix(BMO_MEMORY_NOTE) else { return nil }
        let words = line.dropFirst(BMO_MEMORY_NOTE.count).split(separator: " ")
        guard words.count >= 2, let kilobytes = Int(words[0]), 0...(1 << 40) ~= kilobytes else { return nil }
        used = kilobytes << 10
        wasRefused = words.last == "refused"
    }
}

/// Determines whether a process ended because it reached its memory limit.
enum MemoryShortage {
    /// Phrases that programs print when an allocation fails, in lower case.
    private static let words = [
        "out of memory", "bad_alloc", "cannot allocate memory", "could not allocate memory", "memoryerror",
        "memory allocation of", "memory exhausted",
    ]

    /// Returns the reason as text; nil without evidence of a memory shortage.
    static func reason(_ limit: Int, _ errors: ChildOutput) -> String? {
        let lastMessage = errors.lastLine.map { "its last output: \($0)" }
        guard let note = errors.memory, note.used >= limit / 8 * 7 || note.wasRefused else {
            let said = lastMessage?.lowercased() ?? ""
            return words.contains { said.contains($0) } ? lastMessage : nil
        }
        let reason =
            note.wasRefused && note.used < limit / 8 * 7
            ? "memory was refused to it just before, with \(note.used >> 20) MiB of data in use"
            : "it had \(note.used >> 20) MiB of data then"
        return lastMessage.map { "\(reason); \($0)" } ?? reason
    }
}
#endif
