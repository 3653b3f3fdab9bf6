/// The reason why this host cannot use a file as a bridge.
struct PluginRefusal: Error, Equatable {
    let reason: String
}
