internal import Model

/// Runs the statements of a Jinja text.
enum TemplateRun {
    /// - Throws: ``Untranslatable`` if what a statement does depends on values of a scan.
    static func run(_ nodes: [TemplateReader.Node], _ scope: inout Scope) throws -> [Template.Part] {
        var parts: [Template.Part] = []
        for node in nodes {
            switch node {
            case .text(let text):
                try scope.work.check(.literal(.string(text)))
                parts.append(.text(text))
            case .output(let expression):
                let value = try Evaluator(scope: scope).evaluate(expression)
                try scope.work.check(value)
                parts.append(.expression(value))
            case .set(let name, let expression): try assign(name, expression, &scope)
            case .condition(let branches): parts += try choose(branches, &scope)
            case .loop(let name, let list, let body):
                guard let elements = try Evaluator(scope: scope).evaluate(list).known?.array else {
                    throw Untranslatable("only Python can run a loop over \(list.text)")
                }
                guard elements.count <= 10_000 else { throw Untranslatable("a loop has more than 10,000 iterations") }
                for element in elements {
                    try scope.work.spend(1 + parts.count / 100)
                    scope.variables[name] = .literal(element)
                    parts += try run(body, &scope)
                }
            }
        }
        return parts
    }

    private static func assign(_ name: String, _ expression: Expression, _ scope: inout Scope) throws {
        // `{% set _ = list.append(x) %}` changes the list.
        if case .call(.member(.name(let list), .literal("append")), let arguments) = expression,
            let elements = scope.variables[list]?.known?.array, let argument = arguments.first
        {
            guard let value = try Evaluator(scope: scope).evaluate(argument).known else {
                throw Untranslatable("only Python can make a list of \(argument.text)")
            }
            let longer = Expression.literal(.array(elements + [value]))
            try scope.work.check(longer)
            scope.variables[list] = longer
            return
        }
        let value = try Evaluator(scope: scope).evaluate(expression)
        try scope.work.check(value)
        scope.variables[name] = value
    }

    private static func choose(
        _ branches: [(test: Expression?, nodes: [TemplateReader.Node])], _ scope: inout Scope
    ) throws -> [Template.Part] {
        for branch in branches {
            guard let test = branch.test else { return try run(branch.nodes, &scope) }
            let evaluator = Evaluator(scope: scope)
            let value = try evaluator.evaluate(test)
            guard let isTrue = evaluator.truth(of: value) else {
                throw Untranslatable("only Python can decide by \(value.text)")
            }
            if isTrue { return try run(branch.nodes, &scope) }
        }
        return []
    }
}
