internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Finds all faults of an entity's section at once, without a request.
struct RESTSectionValidator {
    let request: FetchRequest
    let base: HTTPURL
    let parameters: BridgeOptions?

    /// Returns the faults of each member, then those of the whole section.
    func faults() -> [SectionFault] {
        let section = request.section
        var faults: [SectionFault] = []
        // The first fault ends the reading of a section, so each member is read apart from the others. Members can only
        // conflict if each of them is valid.
        let whole = fault(named: "") { try validate(section) }
        // A fault of the path would hide that of the paging.
        let hasGoodPath = (try? PathTemplate(section.string("path") ?? "", option: "path")) != nil
        for name in section.names where name != "write" && whole != nil {
            // The meaning of a member may depend on these.
            let others =
                name == "paging"
                ? ["graphql", "body"] + (hasGoodPath ? ["path"] : []) : name == "path" ? ["paging"] : []
            let part = Self.part(
                of: section,
                ["parameters", "preset", "each", "since", "split", "fields", "format", name] + others
                    + (["encoding", "records"].contains(name) ? ["export"] : []))
            if let fault = fault(named: name, { try validate(part) }) { faults.append(fault) }
        }
        for operation in [WriteRequest.Operation.create, .update, .delete]
        where section.object("write")?.has(operation.rawValue) == true {
            let fault = fault(named: "write.\(operation.rawValue)") {
                _ = try RESTWriteRule(WriteRequest(operation, entity: request.entity, section: section))
            }
            if let fault { faults.append(fault) }
        }
        faults += unknownNames(besides: faults)
        if faults.isEmpty { faults += nestedWarnings() }
        if !faults.contains(where: { !$0.isWarning }), let whole { faults.append(whole) }
        // A faulty path of the records is also reported for writes.
        var seen: Set<String> = []
        return faults.filter { seen.insert($0.message).inserted }
    }

    private func validate(_ section: BridgeOptions) throws {
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
            // Messages begin with the option's name.
            let words = error.message.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            // A member may be at fault only together with another one, which the message begins with then.
            let isOther = words.split(separator: ".").first.map { request.section.has(String($0)) } ?? false
            let key = !name.isEmpty && (words.hasPrefix(name) || isOther) ? String(words) : name
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
