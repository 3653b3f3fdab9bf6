internal import BridgeHTTP
internal import RowFormats

/// Replies whose records are the rows of a table.
extension RESTSource {
    /// Returns how the lines of a packed file are read; nil for lines that are not packed.
    func packedLines(_ exchange: HTTPExchange) throws -> TableRule? {
        Packing(try exchange.bodyStart()) == .none ? nil : .lines
    }

    func rows(of file: ReplyFile, _ response: HTTPResponse, _ table: TableRule) throws -> TableReader {
        try TableReader(
            file, response, table, name: HTTPURL(response.url)?.path ?? "the reply",
            fields: section.recordFields(response), keys: section.keyPaths, read: section.readFields,
            limits: client.rowLimits, asked: asked)
    }
}

extension HTTPClient {
    /// The limits for rows: the text of one may have a third of the memory that a record may take.
    var rowLimits: RowLimits { RowLimits(record: max(maxRecordBytes / 3, 65_536), body: givenMaxBodyBytes) }
}

extension ReplyFile {
    convenience init(
        _ exchange: HTTPExchange, _ response: HTTPResponse, isMarked: Bool = false, expecting mark: ByteMark? = nil
    ) {
        let isCoded = response.header("content-encoding") != nil
        self.init(
            exchange, length: isCoded ? nil : response.header("content-length").flatMap { Int64($0) },
            isMarked: isMarked, expecting: mark)
    }
}
