internal import Model

/// What is known when an expression is evaluated.
struct Scope {
    let inputs: Inputs
    /// What is left of the work that a manifest may cause.
    var work = WorkLimit()
    /// The component's `$parameters`.
    var parameters: ConfigValue = .object([])
    /// Variables of `{% set %}` and `{% for %}`, and those of a dynamic stream.
    var variables: [String: Expression] = [:]

    func with(_ component: ConfigValue) -> Scope {
        var scope = self
        scope.parameters = component[Parameters.member] ?? .object([])
        return scope
    }
}
