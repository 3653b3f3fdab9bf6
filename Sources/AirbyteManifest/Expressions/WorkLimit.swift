internal import Model

/// Limits the work that all texts of a manifest together may cause: a few lines of Jinja could produce terabytes.
///
/// A class, so that all scopes of a translation share it.
final class WorkLimit {
    /// The maximum size: bytes of a text, or values of a list.
    static let maxSize = 1 << 20

    private var left: Int

    /// - Parameter steps: The number of evaluated expressions, created values, and thousands of bytes of text.
    init(steps: Int = 20_000_000) { left = steps }

    /// - Throws: ``Untranslatable`` once the limit is reached.
    func spend(_ steps: Int = 1) throws {
        left -= min(steps, max(left, 0) + 1)
        guard left >= 0 else { throw Untranslatable("the manifest's expressions need too much work") }
    }

    /// Counts a value that was made.
    ///
    /// - Throws: ``Untranslatable`` for a value that is too large.
    func check(_ expression: Expression) throws {
        var size = 0
        try measure(expression, 0, &size)
        try spend(1 + size / 1000)
    }

    private func measure(_ expression: Expression, _ depth: Int, _ size: inout Int) throws {
        try add(1, depth, &size)
        let depth = depth + 1
        switch expression {
        case .literal(let value): try measure(value, depth, &size)
        case .name, .path, .input: return
        case .member(let first, let second), .binary(_, let first, let second):
            try measure(first, depth, &size)
            try measure(second, depth, &size)
        case .call(let base, let arguments), .filter(let base, _, let arguments):
            try measure(base, depth, &size)
            for argument in arguments { try measure(argument, depth, &size) }
        case .not(let value), .negative(let value): try measure(value, depth, &size)
        case .conditional(let test, let yes, let no):
            for part in [test, yes, no] { try measure(part, depth, &size) }
        case .list(let elements):
            for element in elements { try measure(element, depth, &size) }
        case .dictionary(let pairs):
            for pair in pairs {
                try measure(pair.key, depth, &size)
                try measure(pair.value, depth, &size)
            }
        }
    }

    private func measure(_ value: ConfigValue, _ depth: Int, _ size: inout Int) throws {
        switch value {
        case .string(let text): try add(text.utf8.count, depth, &size)
        case .array(let elements):
            for element in elements { try measure(element, depth + 1, &size) }
        case .object(let members):
            for member in members { try measure(member.value, depth + 1, &size) }
        default: break
        }
        try add(1, depth, &size)
    }

    private func add(_ more: Int, _ depth: Int, _ size: inout Int) throws {
        size += more
        guard size <= Self.maxSize, depth < 2 * ManifestText.maxDepth else {
            throw Untranslatable("a value of the manifest's expressions is too large")
        }
    }
}
