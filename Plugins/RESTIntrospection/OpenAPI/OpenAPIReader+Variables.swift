internal import BridgeJSON
internal import Inference

/// The attributes that give the variables of paths their values.
extension OpenAPIReader {
    /// The attribute that gives a variable of a path its value.
    struct VariableValue {
        /// Its local name.
        let attribute: String
        /// Whether it is the key.
        var isKey = false
        /// Whether the document's names say so.
        var isSure = true
    }

    /// Last words of variables that stand for what identifies an object.
    private static let keyWords: Set<String> = [
        "id", "uuid", "guid", "uid", "gid", "oid", "sid", "key", "pk", "code", "no", "nr", "number", "ref", "reference",
        "identifier", "hash",
    ]
    /// Names that a person gives to an object, in the order in which they are tried for one another.
    private static let names = ["username", "login", "slug", "handle", "name"]

    /// Returns the attribute for a variable in the path of an entity's object; nil if none is named so.
    ///
    /// - Parameters:
    ///   - shape: The variable's shape; nil if the document does not describe it.
    ///   - listing: The listing that has the object.
    func value(
        of variable: String, _ shape: ValueShape?, in offer: EntityOffer, _ listing: Listing
    ) -> VariableValue? {
        let item = listing.found.item
        let key = offer.key.count == 1 ? offer.key.first : nil
        func member(_ accept: (String) -> Bool) -> String? {
            item.properties.first { accept($0.name) && $0.shape.isScalar }?.name
        }
        func found(_ name: String, isSure: Bool = true) -> VariableValue {
            VariableValue(attribute: LocalName.make([name]), isKey: key == [name], isSure: isSure)
        }
        let plain = NameWords.plain(variable)
        if let same = member({ $0 == variable }) ?? member({ NameWords.plain($0) == plain }) { return found(same) }
        // `petName` is the name of a pet, as `name` is.
        let owners = [listing.name, NameWords.singular(subject(of: listing.path))].map(NameWords.plain)
        let owner = owners.filter { !$0.isEmpty && plain.hasPrefix($0) }.max { $0.count < $1.count }
        let rest = owner.map { String(plain.dropFirst($0.count)) }
        let last = NameWords.lower(variable).last ?? plain
        if let rest, rest != "name", let own = member({ NameWords.plain($0) == rest }) { return found(own) }
        if Self.names.contains(last) || Self.names.contains(rest ?? "") {
            for name in Self.names {
                if let own = member({ NameWords.plain($0) == name }) { return found(own, isSure: false) }
            }
            return nil
        }
        guard let key else { return nil }
        let identifies = Self.keyWords.contains(last) || plain.hasSuffix("id") || rest == ""
        let value = VariableValue(attribute: LocalName.make(key), isKey: true)
        if identifies { return value }
        // A number or a UUID can only be that of the key.
        guard let shape, let own = item[key], shape.solid == own.solid else { return nil }
        let isTold = shape.solid == [.integer] || shape.format == "uuid" && own.format == "uuid"
        return isTold ? VariableValue(attribute: value.attribute, isKey: true, isSure: false) : nil
    }
}

extension ValueShape {
    /// Takes the member with the name of a variable, which identifies the object, for an integer if it is a number.
    mutating func assumeInteger(of variable: String) {
        for index in properties.indices where NameWords.plain(properties[index].name) == NameWords.plain(variable) {
            properties[index].shape.assumeInteger()
        }
    }
}
