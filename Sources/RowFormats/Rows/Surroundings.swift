/// What an XML document has outside its records, such as the number of all.
package struct Surroundings: Sendable {
    /// An element outside the records.
    package struct Element: Sendable {
        /// The local names of the elements from the root to this one, without the root's.
        package let names: [String]
        package let attributes: [(name: String, value: String)]
        /// The text, if the element has no elements of its own.
        package var text = ""
        package var hasElements = false
    }

    /// The root's local name.
    package var root = ""
    /// The local names from the root to a record, without the root's; empty if there is none.
    package var records: [String] = []
    package var elements: [Element] = []

    /// The number of elements that are kept, and the bytes of one text.
    static let most = 300, textBytes = 1000
}
