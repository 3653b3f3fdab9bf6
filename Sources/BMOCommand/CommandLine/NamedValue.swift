extension String {
    /// Returns the texts before and after the first of a mark; nil without it, or with nothing before it.
    ///
    /// As characters, a mark before a combining one would be another one.
    func parts(at mark: Unicode.Scalar) -> (name: String, value: String)? {
        let scalars = unicodeScalars
        guard let place = scalars.firstIndex(of: mark), place > scalars.startIndex else { return nil }
        return (String(scalars[..<place]), String(scalars[scalars.index(after: place)...]))
    }
}
