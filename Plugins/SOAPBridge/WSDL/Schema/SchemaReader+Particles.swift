internal import BridgeKit

/// Model groups and the elements in them (XSD part 1, sections 3.8 and 3.9).
extension SchemaReader {
    /// Returns the elements of a model group and of the groups nested in it, in order.
    mutating func particles(
        in node: XMLElement, _ user: Declaration, nesting: Int, isOpen: inout Bool
    ) throws -> [SchemaElement] {
        try visit(nesting)
        let isChoice = node.name.local == "choice"
        var found = ElementList()
        for child in node.children where child.name.namespace == Namespace.schema && child["maxOccurs"] != "0" {
            var part: [SchemaElement] = []
            switch child.name.local {
            case "element": part = try elements(child, user)
            case "sequence", "choice", "all":
                part = try particles(in: child, user, nesting: nesting + 1, isOpen: &isOpen)
            case "group":
                guard let name = qualifiedName("ref", of: child, user.schema),
                    let (_, group) = definition(name, .group, from: user)
                else { continue }
                part = try particles(in: group.node, group, nesting: nesting + 1, isOpen: &isOpen)
            case "any":
                isOpen = true
            default: continue
            }
            let isRepeated = SchemaReader.isRepeated(child)
            for index in part.indices {
                part[index].isRepeated = part[index].isRepeated || isRepeated
                part[index].isAlternative = part[index].isAlternative || isChoice
                part[index].isRequired = part[index].isRequired && !isChoice && child["minOccurs"] != "0"
            }
            if isChoice { found.merge(part) } else { found.append(part) }
            guard found.elements.count <= Limits.childrenPerType else {
                throw BridgeError(.limit, "a schema type has more than \(Limits.childrenPerType) elements")
            }
        }
        return found.elements
    }

    /// Returns an element of a group, or the elements that a reference allows.
    private mutating func elements(_ node: XMLElement, _ user: Declaration) throws -> [SchemaElement] {
        if let name = qualifiedName("ref", of: node, user.schema) {
            // `ref="xs:schema"` announces a .NET DataSet, which contains its own schema.
            guard name.namespace != Namespace.schema else {
                return [SchemaElement(name: name, type: set.anyType, isRequired: false)]
            }
            guard let (found, _) = definition(name, .element, from: user) else {
                return [SchemaElement(name: name, type: set.anyType)]
            }
            var group = try substitutionGroup(of: found)
            if group.count > 1 {
                for index in group.indices {
                    group[index].isRequired = false
                    group[index].isAlternative = true
                }
                group.removeAll(where: \.isAbstract)
            }
            return group
        }
        guard let name = node["name"]?.trimmingWhiteSpace else { return [] }
        let schema = schemas[user.schema]
        let isQualified = node["form"].map { $0 == "qualified" } ?? schema.isElementQualified
        var element = SchemaElement(name: QName(isQualified ? schema.targetNamespace : "", name), type: set.anyType)
        element.read(node)
        element.type = try typeOfElement(Declaration(node: node, schema: user.schema))
        return [element]
    }

    private static func isRepeated(_ node: XMLElement) -> Bool {
        guard let text = node["maxOccurs"]?.trimmingWhiteSpace else { return false }
        return text == "unbounded" || text == "*" || (Int(text) ?? 1) > 1
    }
}
