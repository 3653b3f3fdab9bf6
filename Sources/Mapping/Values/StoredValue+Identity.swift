extension StoredValue {
    /// The value as it identifies an object, in a key or in a reference: of a decimal, the text that all equal numbers
    /// share (`2.5` for `2.50`); any other value as it is.
    ///
    /// Some databases compare decimals as numbers, and others as texts. With one text for each number, they agree.
    public var identity: StoredValue {
        guard case .decimal(let text) = self, let number = DecimalText(text) else { return self }
        return .decimal(number.canonical)
    }

    /// The value that a decimal is compared with: of a number or its text, the decimal in the text that all equal numbers
    /// share; any other value as it is.
    package var asDecimal: StoredValue {
        let number: DecimalText? =
            switch form {
            case .integer(let value): DecimalText(String(value))
            case .real(let value): DecimalText("\(value)")
            case .text(let text): DecimalText(text)
            case .null, .bytes: nil
            }
        guard let number else { return self }
        return .decimal(number.canonical)
    }
}
