extension ConfigurationReader {
    /// Reads `history: {keep: 90d}`.
    mutating func history(_ member: Member) -> HistoryRetention {
        guard let section = section(member.value, HistoryKeys.shape, "\"history\""),
            let keep = section[HistoryKeys.keep]
        else { return .usual }
        let words = (keep.value.scalarText ?? "").split(separator: " ")
        if words == ["forever"] { return .forever }
        if words.count == 2, words[1] == "runs" || words[1] == "run", let count = Int(words[0]), count > 0 {
            return .runs(count)
        }
        if words.count == 1, let seconds = Self.seconds(words[0]), seconds > 0 { return .seconds(seconds) }
        error(
            at: keep.value.mark, "\"keep\" of \"history\" is neither a time span nor a number of runs",
            "write a number and s, m, h, d or w, such as 90d; or 100 runs; or forever")
        return .usual
    }
}
