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
    /// Whether an input that the user has to supply counts as missing where the manifest has a value for that case.
    var assumesDefaults = false

    /// Whether a comparison with the default of a missing member keeps that default: `record.get('a', '') == ''`.
    var keepsDefaults = false

    func with(_ component: ConfigValue) -> Scope {
        var scope = self
        scope.parameters = component[Parameters.member] ?? .object([])
        return scope
    }
}
