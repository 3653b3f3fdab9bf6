import RecordBatch

/// The change of a JSON object in place: members that a write does not set keep their values, at every depth.
struct JSONMerge {
    /// The paths of values that replace the old ones as a whole, also if both are objects.
    let wholes: [[String]]

    /// Writes `new` over `old`; nil stands for a missing value.
    func write(_ new: BatchValue, over old: BatchValue?, to writer: RecordBatchWriter) {
        write(new, over: old, wholes, to: writer)
    }

    private func write(
        _ new: BatchValue, over old: BatchValue?, _ wholes: [[String]], to writer: RecordBatchWriter
    ) {
        guard let old, old.tag == .object, new.tag == .object, !wholes.contains([]) else { return writer.copy(new) }
        let names = old.members.map(\.key)
        writer.object {
            for name in names + new.members.map(\.key).filter({ !names.contains($0) }) {
                writer.key(name)
                if let value = new[name] {
                    let inner = wholes.filter { $0.first == name }.map { Array($0.dropFirst()) }
                    write(value, over: old[name], inner, to: writer)
                } else if let value = old[name] {
                    writer.copy(value)
                }
            }
        }
    }
}
