/// The parts of a request that identify the client.
struct Credential: Sendable, Equatable {
    /// Header fields; a request's own fields of the same name take precedence.
    var headers: [Field] = []
    /// A query parameter.
    var query: Field?

    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    static let none = Credential()
}
