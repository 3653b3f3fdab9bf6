internal import BridgeHost

/// The findings of `bmo doctor` about the plugins.
enum PluginCheck {
    static func findings(host: BridgeHost) async -> [Finding] {
        let plugins = await host.plugins()
        let usable = plugins.filter { $0.refusal == nil }
        guard !plugins.isEmpty else {
            return [
                .error(
                    "plugins", "no bridge was found beside the program, in ../lib/bmo/bridges or in BMO_PLUGIN_PATH",
                    remedy: "install bmo again, or set BMO_PLUGIN_PATH to the folder of a bridge")
            ]
        }
        let names = usable.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
        let summary: [Finding] = usable.isEmpty ? [] : [.ok("plugins", names)]
        return summary
            + plugins.compactMap { plugin in
                plugin.refusal.map { refusal in
                    .warning(
                        "plugin \(plugin.name)", "\(plugin.path): \(refusal)",
                        remedy: "install what it lacks, or remove the file if no configuration uses it")
                }
            }
    }
}
