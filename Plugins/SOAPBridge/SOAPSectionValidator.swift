internal import BridgeKit

/// Finds references to missing attributes in a section; reading the section reports all other errors.
struct SOAPSectionValidator {
    let request: FetchRequest

    func faults() -> [SectionFault] {
        let variables = VariableValidator(names: request.names, parent: request.parent)
        func inTexts(_ options: BridgeOptions?, _ member: String, _ place: String, isWrite: Bool) -> [SectionFault] {
            options?.withValue(member) { value in
                value.map { variables.faults(in: $0, option: place + member, isWrite: isWrite) }
            } ?? []
        }
        var faults = inTexts(request.section, "input", "", isWrite: false)
        faults += inTexts(request.section, "soap_headers", "", isWrite: false)
        let write = request.section.object("write")
        for operation in [WriteRequest.Operation.create, .update, .delete].map(\.rawValue) {
            guard let options = write?.object(operation) else { continue }
            faults += inTexts(options, "input", "write.\(operation).", isWrite: true)
            guard let names = request.names else { continue }
            let attributes = options.object("attributes")
            faults += (attributes?.names ?? []).compactMap { element in
                EntityNames.fault(
                    attributes?.string(element) ?? "", among: names.fields,
                    option: "write.\(operation).attributes.\(element)")
            }
            let place = "write.\(operation).key"
            if let keys = options.object("key") {
                faults += keys.names.compactMap { name in
                    EntityNames.fault(name, among: names.key, option: "\(place).\(name)", words: "\"\(name)\"")
                }
            } else if options.has("key"), names.key.count > 1 {
                faults.append(
                    SectionFault(
                        key: place, message: "\(place): one element for a key of \(names.key.count) parts",
                        remedy: "name one for each: {"
                            + names.key.map { "\($0): ELEMENT" }.joined(separator: ", ") + "}"))
            }
        }
        return faults
    }
}
