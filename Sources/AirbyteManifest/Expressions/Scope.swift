internal import Model

/// The values that are known when an expression is evaluated.
struct Scope {
    let inputs: Inputs
    /// The limit of the work that the manifest may cause.
    var work = WorkLimit()
    /// The component's `$parameters`.
    var parameters: ConfigValue = .object([])
    /// The variables of `{% set %}`, `{% for %}` and dynamic streams.
    var variables: [String: Expression] = [:]

    func with(_ component: ConfigValue) -> Scope {
        var scope = self
        scope.parameters = component[Parameters.member] ?? .object([])
        return scope
    }
}
