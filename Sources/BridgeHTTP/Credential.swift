/// What a request carries to say who asks.
struct Credential: Sendable, Equatable {
    /// Header fields; a request's own of the same name come first.
    var headers: [Field] = []
    /// A query parameter.
    var query: Field?

    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    static let none = Credential()
}
