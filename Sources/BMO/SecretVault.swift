internal import BridgeHost
internal import Foundation
internal import Model
internal import SystemCalls

/// The secrets that were removed from this process's environment, where others could read them.
enum SecretVault {
    private static let taken = Mutex<[String: String]>([:])

    /// The variables of this process, including removed ones.
    ///
    /// A variable that was set again since takes precedence.
    static var environment: [String: String] {
        let kept = taken.withLock { $0 }
        return ProcessInfo.processInfo.environment.merging(kept) { current, old in current.isEmpty ? old : current }
    }

    /// Removes variables from the environment, except those that processes need to run.
    static func take(_ names: Set<String>) {
        let environment = ProcessInfo.processInfo.environment
        for name in names where !needed.contains(name.uppercased()) {
            guard let value = environment[name], !value.isEmpty else { continue }
            taken.withLock { $0[name] = value }
            BridgeHost.blank(variable: name)
        }
    }

    /// Variables that libraries of this process read as well, in upper case.
    private static let needed: Set = [
        "PATH", "HOME", "TMPDIR", "LANG", "TZ", "TERM", "USER", "LD_LIBRARY_PATH", "HTTP_PROXY", "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
        "BMO_PLUGIN_PATH", "KRB5CCNAME", "KRB5_CONFIG",
    ]
}

extension Workspace {
    /// The variables of this process, including those that ``takeSecrets()`` removed.
    public static var environment: [String: String] { SecretVault.environment }

    /// Removes the variables that the configuration's `{env: NAME}` name from this process's environment.
    ///
    /// Their values are kept for this process's workspaces and overwritten in place: `/proc/PID/environ` no longer has
    /// them, nor do child processes inherit them. The variables stay, and are empty. This is for a program
    /// whose secrets only bmo uses, such as the command; the library itself does not call it.
    public func takeSecrets() { Self.takeSecrets(configuration.secretVariables) }

    /// Removes the given variables from the environment; see ``takeSecrets()``.
    package static func takeSecrets(_ variables: Set<String>) { SecretVault.take(variables) }
}
