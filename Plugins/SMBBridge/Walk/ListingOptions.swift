import BridgeKit

/// The selection of files, which all kinds of sections have.
struct ListingOptions {
    let patterns: PatternSet
    let kinds: FolderWalk.Kinds
    let maximumFiles: Int

    /// - Parameter name: The key that holds the patterns.
    init(_ options: BridgeOptions, patterns name: String, kinds: FolderWalk.Kinds, reserved: Set<String>) throws {
        patterns = try PatternSet(
            options.strings(name), excluding: options.strings("exclude"), depth: options.integer("depth"),
            isCaseSensitive: options.bool("case_sensitive") ?? false)
        self.kinds = kinds
        maximumFiles = options.integer("max_files") ?? 10_000_000
        for name in patterns.captureNames where reserved.contains(name) {
            throw BridgeError(
                .configuration, "the pattern captures {\(name)}, but each record has a field \(name) of its own",
                remedy: "give the capture another name")
        }
    }
}
