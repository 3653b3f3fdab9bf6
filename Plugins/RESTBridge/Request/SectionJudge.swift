internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Finds what is wrong with an entity's section, all of it at once and without a request.
struct SectionJudge {
    let request: FetchRequest
    let base: HTTPURL
    let parameters: BridgeOptions?

    /// Each member is judged by itself, then the whole.
    func faults() -> [SectionFault] {
        let section = request.section
        var faults: [SectionFault] = []
        for name in section.names where name != "write" {
            // What a member means may follow from these.
            let part = Self.part(
                of: section, ["parameters", "preset", name] + (name == "paging" ? ["graphql", "body"] : []))
            if let fault = fault(named: name, { try judge(part) }) { faults.append(fault) }
        }
        for operation in [WriteRequest.Operation.create, .update, .delete]
        where section.object("write")?.has(operation.rawValue) == true {
            let fault = fault(named: "write.\(operation.rawValue)") {
                _ = try WriteRule(WriteRequest(operation, entity: request.entity, section: section))
            }
            if let fault { faults.append(fault) }
        }
        faults += unknownNames(besides: faults)
        // What several members make wrong together shows only where each is right.
        if faults.isEmpty, let fault = fault(named: "", { try judge(section) }) { faults.append(fault) }
        // A faulty path of the records is one for writes as well.
        var seen: Set<String> = []
        return faults.filter { seen.insert($0.message).inserted }
    }

    private func judge(_ section: BridgeOptions) throws {
        var request = request
        request.section = section
        request.cursor = nil
        _ = try RESTSection(request, base: base, parameters: parameters)
    }

    private func fault(named name: String, _ body: () throws -> Void) -> SectionFault? {
        do {
            try body()
            return nil
        } catch let error as BridgeError {
            // Messages begin with the option that they are about.
            let words = error.message.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            let key = !name.isEmpty && words.hasPrefix(name) ? String(words) : name
            return SectionFault(key: key.isEmpty ? nil : key, message: error.message, remedy: error.remedy)
        } catch {
            return SectionFault(key: name.isEmpty ? nil : name, message: "\(error)")
        }
    }

    private static func part(of section: BridgeOptions, _ names: [String]) -> BridgeOptions {
        BridgeOptions { writer in
            for name in Set(names).sorted() where section.has(name) {
                section.withValue(name) { value in
                    guard let value else { return }
                    writer.key(name)
                    writer.copy(value)
                }
            }
        }
    }
}
