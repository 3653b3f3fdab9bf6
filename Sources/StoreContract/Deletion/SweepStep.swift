/// What the last page of a scan does about the rows that its listing lacks.
package enum SweepStep: Equatable {
    /// The scan does not sweep, or the store does not log the rows that it lists.
    case none
    /// The scan skipped objects that cannot be identified, so nothing is deleted.
    case isUncertain
    /// The first of two listings lacks this many rows, which the second has to confirm.
    case waitsForSecondListing(Int)
    /// The sweep waits for the scans of the other parents.
    case waitsForParents
    /// The missing rows are deleted, unless the deletion limit prevents it.
    case sweeps

    /// Decides.
    ///
    /// - Parameters:
    ///   - end: The end of the scan.
    ///   - hasUnknown: Whether the scan skipped objects that cannot be identified; nil if the store did not log the rows.
    ///   - missing: Notes the rows that the first of two listings lacks, and returns their number.
    package init(_ end: ScanEnd, hasUnknown: Bool?, noteMissing missing: () throws -> Int) rethrows {
        guard let rule = end.sweep, let hasUnknown else {
            self = .none
            return
        }
        if hasUnknown {
            self = .isUncertain
        } else if rule.listing == .first, case let count = try missing(), count > 0 {
            self = .waitsForSecondListing(count)
        } else {
            self = end.defersSweep ? .waitsForParents : .sweeps
        }
    }

    /// Returns whether the cursor for the next scan is saved at once.
    ///
    /// - Parameters:
    ///   - end: The end of the scan.
    ///   - isSettled: Whether the step leaves no missing row behind: none waits for other parents, and the deletion limit
    ///     prevented no deletion.
    package func savesCursor(of end: ScanEnd, isSettled: Bool) -> Bool {
        switch self {
        case .none: true
        // If the token or the parent's state were saved, the missing rows would not be listed again.
        case .isUncertain: end.cursor?.token == nil && end.cursor?.parentState == nil
        case .waitsForSecondListing: false
        case .waitsForParents, .sweeps: isSettled
        }
    }
}
