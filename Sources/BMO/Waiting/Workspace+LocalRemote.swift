internal import Foundation
internal import Model

extension Workspace {
    /// Returns whether a bridge's remote is on this machine, by the host in its options: loopback needs no network.
    func isLocal(_ bridge: String) -> Bool {
        guard let options = configuration.bridge(named: bridge)?.options else { return false }
        for name in ["url", "wsdl", "host", "server"] {
            let text: String? =
                switch options[name] {
                case .string(let text): text
                case .secret(let reference):
                    try? reference.resolve(relativeTo: configuration.directory, environment: SecretVault.environment)
                default: nil
                }
            if let text { return Self.isLoopback(URL(string: text)?.host ?? text) }
        }
        return false
    }

    static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased().trimmingCharacters(in: ["[", "]"])
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || parts.first == "127" && parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}
