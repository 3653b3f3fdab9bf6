import Foundation

/// A page of docs/tutorial, as the steps that a reader takes.
///
/// A block with `title="FILE"` is a file to save, one with `title="FILE (excerpt)"` a part of a file. A block of the language
/// `console` has commands after `$ ` (continued after `> `), each followed by what it prints: `...` on a line stands for any lines, `…`
/// within a line for any text. A command without output below it may print nothing.
struct TutorialPage {
    enum Step {
        case file(String, content: String)
        case excerpt(of: String, content: String)
        case command(String, output: [String])
    }

    let steps: [Step]

    /// - Throws: ``Fault`` for a block that tells neither a file nor commands: nothing would test it.
    init(_ markdown: String) throws {
        steps = try markdown.matches(of: /(?m)^```(\w+)(?: title="([^"]+)")?\n((?s).*?)^```$/).flatMap { block in
            let (language, content) = (String(block.1), String(block.3))
            guard let title = block.2 else {
                guard language == "console" else { throw Fault("a block of \(language) without a title: \(content)") }
                return try Self.commands(content)
            }
            let excerpt = " (excerpt)"
            return title.hasSuffix(excerpt)
                ? [.excerpt(of: String(title.dropLast(excerpt.count)), content: content)]
                : [.file(String(title), content: content)]
        }
    }

    private static func commands(_ content: String) throws -> [Step] {
        var commands: [(text: String, output: [String])] = []
        for line in content.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("$ ") {
                commands.append((String(line.dropFirst(2)), []))
            } else if commands.isEmpty {
                throw Fault("output before the first command: \(line)")
            } else if line.hasPrefix("> "), commands[commands.count - 1].output.isEmpty {
                commands[commands.count - 1].text += "\n" + line.dropFirst(2)
            } else {
                commands[commands.count - 1].output.append(String(line))
            }
        }
        return commands.map { .command($0.text, output: $0.output) }
    }

    /// Whether a command printed what the page shows.
    static func matches(_ printed: String, _ shown: [String]) -> Bool {
        var pattern = ""
        for line in shown {
            if line == "..." {
                pattern += "(?:[^\n]*\n)*"
            } else {
                let parts = line.split(separator: "…", omittingEmptySubsequences: false)
                pattern +=
                    parts.map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: "[^\n]*") + "\n"
            }
        }
        let text = printed.isEmpty || printed.hasSuffix("\n") ? printed : printed + "\n"
        return text.range(of: "^" + pattern + "$", options: .regularExpression) == text.startIndex..<text.endIndex
    }

    /// What is wrong with a page.
    struct Fault: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
