internal import Logging
internal import RecordBatch

/// A line of `--log json`.
struct LogLine {
    let time: String
    let level: Logger.Level
    let message: String
    let facts: Logger.Metadata

    /// The facts that most lines share, in the order in which a line has them.
    private static let first = ["run", "entity", "page", "bridge", "request"]
    /// The members of every line; a fact with such a name is called `text`.
    private static let own: Set = ["time", "level", "message"]

    /// The line as a JSON object, without a line end.
    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("time", time)
            writer.member("level", level.rawValue)
            writer.member("message", message)
            let others = facts.keys.filter { !Self.first.contains($0) }.sorted()
            for name in Self.first + others {
                guard let value = facts[name] else { continue }
                writer.key(Self.own.contains(name) ? "text" : name)
                Self.write(value, to: writer)
            }
        }
    }

    private static func write(_ value: Logger.MetadataValue, to writer: RecordBatchWriter) {
        switch value {
        case .string(let text): writer.text(text)
        case .stringConvertible(let value as Int): writer.int64(Int64(value))
        case .stringConvertible(let value as Int64): writer.int64(value)
        case .stringConvertible(let value as Double): writer.double(value)
        case .stringConvertible(let value): writer.text("\(value)")
        case .array(let values): writer.array { for value in values { write(value, to: writer) } }
        case .dictionary(let members):
            writer.object {
                for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    write(value, to: writer)
                }
            }
        }
    }
}
