internal import Model

/// The bridges of the configuration: one for each combination of address and authentication.
final class BridgeList {
    private(set) var bridges: [BridgeDraft] = []
    private let name: String
    private let names = InputNames()
    private let limits: [(key: String, value: ConfigValue)]

    init(name: String, limits: [(key: String, value: ConfigValue)]) {
        self.name = name
        self.limits = limits
    }

    func bridge(at address: RequestAddress, _ authenticator: ConfigValue?, _ scope: Scope) -> BridgeDraft {
        let draft = made(at: address, authenticator, scope)
        if let found = bridges.first(where: { $0.isLike(draft) }) { return found }
        bridges.append(draft)
        return draft
    }

    /// Whether requests to an address, with an authentication, are those of a bridge.
    func isBridge(
        _ bridge: BridgeDraft, at address: RequestAddress, _ authenticator: ConfigValue?, _ scope: Scope
    ) -> Bool {
        made(at: address, authenticator, scope).isLike(bridge)
    }

    private func made(at address: RequestAddress, _ authenticator: ConfigValue?, _ scope: Scope) -> BridgeDraft {
        let number = bridges.count + 1
        let draft = BridgeDraft(
            name: number == 1 ? name : "\(name)_\(number)", environmentPrefix: LocalNames.identifier(name).uppercased(),
            url: address.base, names: names)
        draft.limits = limits
        for input in address.placeholders {
            draft.note(
                "the url needs the input \(input.path.joined(separator: ".")): run again with --set \(input.path.joined(separator: "."))=VALUE, or change the url here"
            )
        }
        do {
            try AuthenticatorTranslator(bridge: draft, inputs: scope.inputs).apply(authenticator, scope)
        } catch {
            draft.obstacles.append("its authentication: \(reason(error))")
        }
        draft.authenticate(asURL: address.user)
        return draft
    }
}
