internal import CPQ
internal import Mapping
internal import Model

/// The rows of a statement, in binary format.
final class QueryResult: @unchecked Sendable {
    // Sendable because nothing changes a result: libpq allows any thread to read it.
    private let handle: OpaquePointer
    /// The number of rows.
    let count: Int

    /// Takes ownership of a `PGresult`.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        count = Int(PQntuples(handle))
    }

    deinit { PQclear(handle) }

    /// The number of rows that a statement without a result inserted, updated or deleted.
    var changed: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The bytes of a value, valid as long as the result; nil for NULL.
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(handle, Int32(row), Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(handle, Int32(row), Int32(column)),
            count: Int(PQgetlength(handle, Int32(row), Int32(column))))
    }

    func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    func bigint(_ row: Int, _ column: Int) -> Int64? { bytes(row, column).flatMap { Int64(bigEndian: $0) } }

    func boolean(_ row: Int, _ column: Int) -> Bool { bytes(row, column)?.first == 1 }

    /// Returns consecutive columns of a row.
    func values(_ row: Int, from column: Int = 0, _ codecs: [ValueCodec]) -> [StoredValue] {
        codecs.enumerated().map { $1.decode(bytes(row, column + $0)) }
    }
}
