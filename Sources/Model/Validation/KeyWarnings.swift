/// Warns of writable objects whose keys are not kept as the remote has them: a request with another text may find no object,
/// or another one.
struct KeyWarnings {
    let diagnostics: [Diagnostic]

    init(_ configuration: Configuration) {
        let model = configuration.model
        diagnostics = model.entities.filter(model.isWritable).flatMap { entity in
            entity.attributes.filter { entity.key.contains($0.name) }.compactMap { attribute in
                guard let transformer = attribute.transformers.lazy.compactMap(\.losingSpelling).first else {
                    return nil
                }
                return Diagnostic(
                    location: attribute.location, severity: .warning,
                    message:
                        "the key \(quoted(attribute.name)) of entity \(quoted(entity.name)) is not kept as the remote "
                        + "has it (\(quoted(transformer.rawValue))): an edit may reach no object, or another one",
                    remedy: "leave out the transform, unless the remote takes all spellings of a key for one")
            }
        }
    }
}

extension Transformer {
    /// The name of a step that makes one local text of several remote ones; nil for other steps.
    fileprivate var losingSpelling: TransformerName? {
        switch self {
        case .trim: .trim
        case .lowercase: .lowercase
        case .uppercase: .uppercase
        default: nil
        }
    }
}
