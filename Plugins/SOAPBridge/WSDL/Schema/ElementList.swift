/// The elements of a model group, each name once, indexed because a type may have thousands.
struct ElementList {
    private(set) var elements: [SchemaElement] = []
    private var places: [QName: Int] = [:]

    /// Adds elements that follow the existing ones; an element whose name exists becomes repeated.
    mutating func append(_ part: [SchemaElement]) {
        for element in part {
            if let place = add(element) { elements[place].isRepeated = true }
        }
    }

    /// Adds alternatives to the existing elements.
    mutating func merge(_ part: [SchemaElement]) {
        for element in part {
            if let place = add(element) {
                elements[place].isRepeated = elements[place].isRepeated || element.isRepeated
            }
        }
    }

    /// Returns the element's index if its name exists; otherwise adds it and returns nil.
    private mutating func add(_ element: SchemaElement) -> Int? {
        if let place = places[element.name] { return place }
        places[element.name] = elements.count
        elements.append(element)
        return nil
    }
}
