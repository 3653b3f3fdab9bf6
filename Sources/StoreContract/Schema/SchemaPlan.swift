/// The changes that a file needs before its tables fit a model, in words.
public struct SchemaPlan: Sendable, Equatable {
    /// One change.
    public struct Step: Sendable, Equatable, CustomStringConvertible {
        /// The change as an instruction to a person.
        public var description: String
        /// The cost, if known: `3 of 120 values do not fit and become null`.
        public var cost: String?
        /// Whether the change cannot lose data; a sync makes such changes itself.
        public var isLossless: Bool
        /// Whether the file is usable without the change, which removes an unused column or table.
        public var isOptional: Bool
        /// What to do instead, if the store cannot make the change.
        public var remedy: String?

        /// Creates a step.
        package init(
            description: String, cost: String? = nil, isLossless: Bool, isOptional: Bool, remedy: String? = nil
        ) {
            self.description = description
            self.cost = cost
            self.isLossless = isLossless
            self.isOptional = isOptional
            self.remedy = remedy
        }
    }

    /// The changes, in order of execution.
    public var steps: [Step]

    /// Whether nothing has to be changed.
    public var isEmpty: Bool { steps.isEmpty }

    /// The changes that a sync requires but does not make itself.
    public var obstacles: [Step] { steps.filter { !$0.isLossless && !$0.isOptional } }

    /// The reason why the file cannot be used as it is.
    package var refusal: StoreError {
        let words = obstacles.map(\.description)
        let shown = words.prefix(5).joined(separator: "; ") + (words.count > 5 ? "; and \(words.count - 5) more" : "")
        return StoreError(
            .schema, "the database does not fit the config any more: \(shown)",
            remedy: obstacles.lazy.compactMap(\.remedy).first
                ?? "`bmo migrate` shows the plan, and `bmo migrate --apply` applies it, after a backup")
    }

    /// Creates a value.
    package init(
        steps: [Step]
    ) {
        self.steps = steps
    }
}
