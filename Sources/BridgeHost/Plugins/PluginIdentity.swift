/// A plugin's identity, as the plugin states it.
struct PluginIdentity: Sendable, Equatable {
    var name: String
    var version: String
    var abiMajor: UInt16
    var abiMinor: UInt16
    var kit: String
    var compiler: String
}
