extension ConfigurationReader {
    /// Reads `isolation: external, command: [tap-name], tap_config: {...}`, where the plugin's options are keys of the
    /// bridge.
    ///
    /// The program runs in the configuration's folder.
    mutating func readExternal(
        _ bridge: Member, _ members: [Member], _ what: String, into result: inout BridgeConfiguration
    ) {
        guard plugins == nil || plugins?[BridgeKeys.externalPlugin] != nil else {
            error(
                at: bridge.key.mark,
                "\(what) needs the plugin \"\(BridgeKeys.externalPlugin)\", which is not installed",
                "it comes with bmo: look for libSingerBridge.so beside it")
            return
        }
        result.plugin = BridgeKeys.externalPlugin
        var pairs = members.filter { BridgeKeys.externalOptions.contains($0.name) }
            .map { YAMLNode.Pair(key: $0.key, value: $0.value) }
        let folder = members.first { $0.name == "folder" }
        let mark = bridge.key.mark
        pairs.removeAll { $0.key.scalarText == "folder" }
        let path = FilePath.absolute(folder?.value.scalarText ?? ".", relativeTo: directory)
        func scalar(_ text: String) -> YAMLNode {
            YAMLNode(content: .scalar(text, plain: false), mark: folder?.value.mark ?? mark)
        }
        pairs.append(YAMLNode.Pair(key: scalar("folder"), value: scalar(path)))
        let node = YAMLNode(
            content: .mapping(pairs), mark: mark, count: bridge.value.count + 2, height: bridge.value.height)
        result.options = part(
            node, plugin: result.plugin, schema: plugins?[result.plugin]?.options, what, at: mark, isOptions: true,
            missing: nil)
    }
}
