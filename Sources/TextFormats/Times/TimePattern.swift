/// A pattern of strptime and strftime, such as `%d.%m.%Y`, and what it determines of a time.
///
/// strptime reads with any pattern: it skips what it does not use, such as the week of `%V`, and leaves fields that the
/// pattern lacks as they were.
package struct TimePattern: Sendable {
    /// Why times cannot be read with a pattern.
    package struct Fault: Sendable {
        /// What the pattern has or lacks: `has no year`.
        package let reason: String
        package let remedy: String
    }

    /// A conversion with its `%` and its modifiers, or the text between two of them.
    private struct Piece {
        let text: String
        /// The letter of a conversion; nil for text.
        let conversion: Unicode.Scalar?
    }

    /// The names that a zone of `%Z` may have: no other name has the same offset everywhere.
    package static let namesOfUTC = ["UTC", "GMT", "UT", "Z"]

    /// The conversions that stand for several, in the C locale.
    private static let composites: [Unicode.Scalar: [Unicode.Scalar]] = [
        "F": ["Y", "m", "d"], "D": ["m", "d", "y"], "x": ["m", "d", "y"], "R": ["H", "M"], "T": ["H", "M", "S"],
        "X": ["H", "M", "S"], "r": ["I", "M", "S", "p"], "c": ["a", "b", "e", "H", "M", "S", "Y"],
    ]

    /// The conversions that strptime of glibc reads in the C locale, and those that it reads with the modifiers E and O.
    private static let readable = Set("ABCDFGHIMRSTUVWXYZabcdeghjklmnprstuwxyz%".unicodeScalars)
    private static let readableWith: [Unicode.Scalar: Set<Unicode.Scalar>] = [
        "E": Set("CXYcx".unicodeScalars), "O": Set("BHIMSUVWbdehmwy".unicodeScalars),
    ]

    /// The pattern as given.
    package let text: String
    private let pieces: [Piece]
    private let conversions: Set<Unicode.Scalar>

    package init(_ text: String) {
        let pieces = Self.pieces(of: text)
        self.text = text
        self.pieces = pieces
        conversions = Set(pieces.compactMap(\.conversion).flatMap { Self.composites[$0] ?? [$0] })
    }

    /// Why times cannot be read with the pattern, or why it does not determine a date or the hour; nil if it does.
    ///
    /// Without a month or a day, the first is meant: `%Y-%m` is the first day of the month. A pattern may be used to write
    /// times nevertheless.
    package var fault: Fault? { conversionFault ?? dateFault ?? timeFault ?? endFault }

    /// Whether the date is a day of the year: of `%j`, or of a week (`%U`, `%W`) and a weekday.
    package var isDayOfYear: Bool {
        guard !has("s"), !(hasMonth && hasDay) else { return false }
        return has("j") || has("U", "W") && hasWeekday
    }

    /// Whether the only zone is the name of `%Z`, which strptime skips: only the names of UTC can be read.
    package var isLimitedToUTC: Bool { has("Z") && !has("z") }

    /// The patterns to read with, one after the other: those with the names of UTC if only these can be read.
    package var alternatives: [String] {
        guard isLimitedToUTC else { return [text] }
        let names = Self.namesOfUTC + Self.namesOfUTC.map { $0.lowercased() }
        // A space stands for any white space, or none.
        return names.map { replacing("Z", with: " \($0)") }
    }

    /// Returns the pattern with a text in place of a conversion.
    package func replacing(_ conversion: Unicode.Scalar, with text: String) -> String {
        pieces.map { $0.conversion == conversion ? text : $0.text }.joined()
    }

    private var hasYear: Bool { has("Y", "y") }
    private var hasMonth: Bool { has("m", "b", "B", "h") }
    private var hasDay: Bool { has("d", "e") }
    private var hasWeekday: Bool { has("a", "A", "u", "w") }

    /// Whether the pattern has one of these conversions.
    private func has(_ letters: Unicode.Scalar...) -> Bool { !conversions.isDisjoint(with: letters) }

    /// The first conversion that strptime does not know, with which no text is read.
    private var conversionFault: Fault? {
        guard let piece = pieces.first(where: { $0.conversion != nil && !Self.isReadable($0) }),
            let letter = piece.conversion
        else { return nil }
        switch letter {
        case "f", "L", "N", "q", "Q":
            return Fault(
                reason: "has \(piece.text), which cannot be read: the C library has no fractions of seconds",
                remedy: "remove \"format\" if the times are in ISO 8601, such as 2026-11-21 07:08:08.123, or take the "
                    + "fraction off with \"extract\" first, or use the type text")
        case "P":
            return Fault(reason: "has \(piece.text), which cannot be read", remedy: "use %p, which takes am and AM")
        default:
            return Fault(
                reason: "has \(piece.text), which cannot be read",
                remedy: "use the conversions of strptime, such as %Y-%m-%d %H:%M:%S, or the type text")
        }
    }

    private static func isReadable(_ piece: Piece) -> Bool {
        guard let letter = piece.conversion else { return false }
        // Flags and a width matter only where times are written.
        let modifiers = piece.text.unicodeScalars.dropFirst().dropLast()
        let rest = modifiers.drop { "-_0^#".unicodeScalars.contains($0) }
            .drop { "0123456789".unicodeScalars.contains($0) }
        guard let modifier = rest.first else { return readable.contains(letter) }
        return rest.count == 1 && readableWith[modifier]?.contains(letter) == true
    }

    /// A `%` with nothing to convert behind it.
    private var endFault: Fault? {
        guard let last = pieces.last, last.conversion == nil, last.text.hasPrefix("%") else { return nil }
        return Fault(
            reason: "ends in \(last.text), without a conversion", remedy: "remove it, or write %% for the character")
    }

    private var dateFault: Fault? {
        if has("s") || hasYear && (hasMonth && hasDay || isDayOfYear) { return nil }
        if has("G", "g", "V") {
            return Fault(
                reason: "does not determine a date: %G, %g and %V are skipped",
                remedy: "use %Y with %m and %d, or with %j, or the type text")
        }
        if !hasYear { return Fault(reason: "has no year", remedy: "add %Y, or use the type text") }
        if hasDay { return Fault(reason: "has a day without a month", remedy: "add %m") }
        if hasWeekday || has("U", "W") {
            return Fault(
                reason: "does not determine a day: it has only a week or a weekday",
                remedy: "add %m and %d, or %j, or use the type text")
        }
        return nil
    }

    private var timeFault: Fault? {
        if has("s"), has("z") {
            return Fault(
                reason: "has %z beside %s, which is in UTC already",
                remedy: "take the number with \"extract\", and use \"unit\" in place of \"format\"")
        }
        let hasHalf = has("p")
        let hasHour12 = has("I", "l")
        if hasHalf, !hasHour12 {
            return Fault(reason: "has %p without %I: %p applies only to %I", remedy: "use %I for the hour")
        }
        if hasHour12, !hasHalf, !has("H", "k", "s") {
            return Fault(reason: "has %I without %p, morning or afternoon", remedy: "add %p, or use %H for the hour")
        }
        return nil
    }

    private static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            let literal = rest.prefix { $0 != "%" }
            if !literal.isEmpty { pieces.append(Piece(text: String(literal), conversion: nil)) }
            rest = rest[literal.endIndex...]
            guard !rest.isEmpty else { break }
            let letter = rest.dropFirst().drop { "-_0^#+123456789EO".unicodeScalars.contains($0) }
            let after = letter.dropFirst()
            pieces.append(Piece(text: String(rest[..<after.startIndex]), conversion: letter.first))
            rest = after
        }
        return pieces
    }
}
