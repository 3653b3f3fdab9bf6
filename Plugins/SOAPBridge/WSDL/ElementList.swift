/// The elements of a model group, each name once: a type may have thousands.
struct ElementList {
    private(set) var elements: [SchemaElement] = []
    private var places: [QName: Int] = [:]

    /// Adds elements that follow those before: a name that comes twice repeats.
    mutating func append(_ part: [SchemaElement]) {
        for element in part {
            if let place = add(element) { elements[place].isRepeated = true }
        }
    }

    /// Adds elements that exclude those before.
    mutating func merge(_ part: [SchemaElement]) {
        for element in part {
            if let place = add(element) {
                elements[place].isRepeated = elements[place].isRepeated || element.isRepeated
            }
        }
    }

    /// Where the element is already, if it is.
    private mutating func add(_ element: SchemaElement) -> Int? {
        if let place = places[element.name] { return place }
        places[element.name] = elements.count
        elements.append(element)
        return nil
    }
}
