internal import BridgeJSON
internal import BridgeKit

/// A parameter that the host gives for one request alone; see `FetchRequest.parameters`.
struct GivenParameter: Sendable {
    /// Where a body has it.
    let path: [String]
    /// A text, a number or a bool.
    let value: JSONTree

    static func all(of parameters: BridgeOptions?, below path: [String]) -> [GivenParameter] {
        (parameters?.names ?? []).compactMap { name in
            let value = parameters?.withValue(name) { $0.map(JSONTree.init) }
            return value.map { GivenParameter(path: path + [name], value: $0) }
        }
    }

    /// Returns the parameters for a query.
    static func pairs(of parameters: BridgeOptions?) -> [(name: String, value: String)] {
        (parameters?.names ?? []).compactMap { name in parameters?.string(name).map { (name: name, value: $0) } }
    }
}
