internal import RecordBatch

/// What records say about the lists nested in them.
extension Mapper {
    /// Appends what a row's record says about its lists; values that it lacks are left out.
    func noteMetadata(_ values: [Pending], _ mapping: MappingPlan, row: Int, _ page: MixedPage) {
        let first = page.metadata.count
        for (index, value) in mapping.metadata.enumerated() {
            guard let json = values.last(where: { $0.binding == .metadata(index) })?.whole else { continue }
            if page.metadata.count == first || page.metadata.last?.relationship != value.list {
                let name = model.entities[mapping.entity].toMany[value.list].name
                page.metadata.append(
                    MixedPage.ListMetadata(
                        row: row, relationship: value.list, path: (trail + [name]).joined(separator: ".")))
            }
            if json.utf8.count > MixedPage.ListMetadata.maxSize {
                page.metadata[page.metadata.count - 1].omitted.append(value.name)
            } else {
                page.metadata[page.metadata.count - 1].values.append((value.name, json))
            }
        }
    }
}
