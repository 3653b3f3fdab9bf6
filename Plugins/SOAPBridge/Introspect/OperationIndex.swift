/// The places of a port's operations by what relates them to an entity: a service may have thousands of both.
struct OperationIndex {
    /// By the subjects of their names, as they are and in the singular.
    private var named: [String: [Int]] = [:]
    private var namedInSingular: [String: [Int]] = [:]
    /// By the types of their arguments, and by those of single objects in their replies.
    private var taking: [TypeID: [Int]] = [:]
    private var replying: [TypeID: [Int]] = [:]

    init(
        _ port: WSDLPort, _ schemas: SchemaSet, _ splits: [String: OperationVerb.Split],
        _ singles: [String: [TypeID: [String]]]
    ) {
        for (place, operation) in port.operations.enumerated() {
            if let split = splits[operation.name] {
                named[split.joined, default: []].append(place)
                namedInSingular[split.singular, default: []].append(place)
            }
            for type in Set(ServiceReader.arguments(of: operation, schemas).map(\.type)) {
                taking[type, default: []].append(place)
            }
            for type in singles[operation.name, default: [:]].keys { replying[type, default: []].append(place) }
        }
    }

    /// Returns the places of the operations that one of the subjects or the type relates to an entity, in order.
    func places(of type: TypeID, _ subjects: [String], singulars: [String]) -> [Int] {
        var found = Set(taking[type] ?? []).union(replying[type] ?? [])
        for subject in subjects { found.formUnion(named[subject] ?? []) }
        for singular in singulars { found.formUnion(namedInSingular[singular] ?? []) }
        return found.sorted()
    }
}
