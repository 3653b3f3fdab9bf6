internal import BMO
internal import BridgeHost
internal import Model

/// The findings of `bmo doctor` about the server of a bridge.
enum ServerCheck {
    static func finding(_ bridge: BridgeConfiguration, in workspace: Workspace) async -> Finding {
        let subject = "server \(bridge.name)"
        do {
            let connection = try await workspace.connect(to: bridge)
            return try await connection.closing {
                guard connection.plugin.can("check") else {
                    return .skipped(subject, "the plugin \(bridge.plugin) cannot check a connection")
                }
                let words = try await connection.check()
                return .ok(subject, words.map { "reachable: \($0)" } ?? "reachable")
            }
        } catch let failure as BridgeFailure {
            return .error(subject, failure.message, remedy: failure.remedy ?? standardRemedy(bridge))
        } catch {
            return .error(subject, "\(error)", remedy: standardRemedy(bridge))
        }
    }

    private static func standardRemedy(_ bridge: BridgeConfiguration) -> String {
        "check the options of the bridge \(bridge.name), and that this machine reaches the server"
    }
}
