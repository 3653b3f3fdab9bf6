extension SweepRule {
    /// Returns the missing rows that may be deleted: all of them, or those that both listings lack.
    ///
    /// - Parameters:
    ///   - absent: The rows that the listing lacks.
    ///   - first: The rows that the first of two listings lacked.
    package func confirmed<Row: Hashable>(_ absent: [Row], first: Set<Row>) -> [Row] {
        guard listing == .second else { return absent }
        return absent.filter(first.contains)
    }

    /// Returns the sweep that the deletion limit prevents; nil if it allows the sweep.
    ///
    /// - Parameters:
    ///   - gone: The number of rows to delete.
    ///   - total: The number of rows in the scope.
    ///   - otherOrigin: The origin of the entity's rows if it is another than that of the listing; evaluated only where
    ///     a limit is set. Such rows are never deleted, however few they are.
    package func held(
        _ gone: Int, of total: Int, otherOrigin: @autoclosure () throws -> String?
    ) rethrows -> SweepResult.LimitExceeded? {
        guard gone > 0 else { return nil }
        if deletionLimit != nil, !coversOtherOrigins, let origin = try otherOrigin() {
            return SweepResult.LimitExceeded(gone: gone, total: total, origin: origin)
        }
        return holds(gone, of: total) ? SweepResult.LimitExceeded(gone: gone, total: total) : nil
    }
}
