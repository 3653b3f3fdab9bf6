/// Parses text into rows.
protocol RowParser: AnyObject {
    /// Parses the next piece of text.
    ///
    /// - Throws: ``FileFault`` for a text that does not follow the format.
    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws

    /// Ends the text and writes the remaining rows; returns false if it must be called again.
    func finish(into sink: RowSink) throws -> Bool
}
