@_spi(_Unicode) internal import Swift

extension String {
    /// Normal form C of Unicode (UAX 15): macOS clients write names in form D.
    var normalFormC: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }
}
