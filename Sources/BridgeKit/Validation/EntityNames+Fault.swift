public import BridgeContract

extension EntityNames {
    /// Returns the fault of a name that is not one of `names`; nil if it is one.
    ///
    /// - Parameters:
    ///   - name: The name in the section; only the first component of a path with dots counts.
    ///   - names: The valid names, such as ``fields``.
    ///   - option: The option that holds the name, such as `write.if_match`.
    ///   - words: The name as the section spells it, such as `{object.nmae}`; nil for the name in quotes.
    public static func fault(
        _ name: String, among names: [String], option: String, words: String? = nil
    ) -> SectionFault? {
        let first = name.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? name
        guard !names.contains(first) else { return nil }
        return SectionFault(
            key: option,
            message: "\(option): \(words ?? "\"\(name)\"") names no attribute" + NearestName.question(names, to: first),
            remedy: "there are: \(NearestName.list(names, to: first))")
    }
}
