@_spi(_Unicode) internal import Swift

extension String {
    /// The text in Unicode's normal form C (UAX 15): macOS clients write names in form D.
    var normalFormC: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: _nfc)
        return String(scalars)
    }
}
