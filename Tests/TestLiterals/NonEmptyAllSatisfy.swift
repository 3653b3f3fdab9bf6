extension Sequence {
    /// Returns whether the sequence has elements and each of them satisfies the predicate.
    ///
    /// Unlike `allSatisfy`, which an empty sequence passes, it fails a test whose subject never came.
    package func nonEmptyAllSatisfy(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
        var isEmpty = true
        for element in self {
            guard try predicate(element) else { return false }
            isEmpty = false
        }
        return !isEmpty
    }
}
