extension String {
    /// Decodes UTF-8; nil if the bytes are not well formed (Unicode 16, table 3-7).
    ///
    /// The standard library's `init(validating:as:)` needs macOS 15 and iOS 18.
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // A repair replaces bytes that are not well formed, so it always changes the text's bytes.
        let isUnchanged =
            bytes.withContiguousStorageIfAvailable { bytes in
                var text = text
                return text.withUTF8 { $0.elementsEqual(bytes) }
            } ?? text.utf8.elementsEqual(bytes)
        guard isUnchanged else { return nil }
        self = text
    }
}
