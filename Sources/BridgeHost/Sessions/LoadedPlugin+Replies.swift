internal import CBridge

extension LoadedPlugin {
    /// Calls the plugin's `describe`.
    func describe() -> BridgeReply {
        var output = bmo_buffer()
        return reply(table.describe?(table.context, &output), output)
    }

    /// Returns the reply for a call's status and outputs.
    func reply(_ status: bmo_status?, _ output: bmo_buffer, _ second: bmo_buffer = bmo_buffer()) -> BridgeReply {
        let first = ForeignBytes(output, from: self)
        let second = ForeignBytes(second, from: self)
        return status == BMO_OK ? .done(first, second) : .failed(second ?? first)
    }
}
