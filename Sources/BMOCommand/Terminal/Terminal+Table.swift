internal import Foundation

extension Terminal {
    /// Formats a table with aligned columns that fits the terminal if stdout is one.
    ///
    /// - Parameters:
    ///   - rightAligned: The numeric columns.
    ///   - dispensable: The columns to drop on a narrow terminal, in order, starting with those that contain only
    ///     zeros.
    static func table(
        _ header: [String], _ rows: [[String]], rightAligned: Set<Int> = [], dispensable: [Int] = []
    ) -> String {
        let lines = ([header] + rows).map { row in row.map { cell(printable($0)) } }
        var widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        var shown = Array(header.indices)
        if let limit = width(of: STDOUT_FILENO) {
            let empty = dispensable.filter { column in rows.allSatisfy { ["", "0"].contains($0[column]) } }
            for column in empty + dispensable where total(shown, widths) > limit { shown.removeAll { $0 == column } }
            narrow(&widths, shown.filter { !rightAligned.contains($0) }, by: total(shown, widths) - limit)
        }
        return lines.enumerated().map { number, line in
            let cells = shown.map { column -> String in
                let text = shortened(line[column], to: widths[column])
                let padding = String(repeating: " ", count: widths[column] - text.count)
                let colour = number == 0 ? nil : colour(of: line[column], under: header[column])
                let painted = painted(text, colour, on: STDOUT_FILENO)
                return rightAligned.contains(column) ? padding + painted : painted + padding
            }
            return cells.joined(separator: "  ").trimmingTrailingSpaces
        }
        .joined(separator: "\n")
    }

    private static func total(_ columns: [Int], _ widths: [Int]) -> Int {
        columns.reduce(0) { $0 + widths[$1] } + 2 * max(0, columns.count - 1)
    }

    /// Narrows the widest text columns, leaving each at least eight characters.
    private static func narrow(_ widths: inout [Int], _ columns: [Int], by excess: Int) {
        for _ in 0..<max(0, excess) {
            guard let widest = columns.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 else { return }
            widths[widest] -= 1
        }
    }

    /// Highlights errors and warnings.
    private static func colour(of text: String, under header: String) -> Colour? {
        if header == "quarantined" { return ["", "0"].contains(text) ? nil : .yellow }
        guard ["outcome", "state"].contains(header) else { return nil }
        let word = text.prefix { $0.isLetter }
        if ["failed", "refused", "conflict"].contains(word) { return .red }
        return ["interrupted", "unknown"].contains(word) ? .yellow : nil
    }

    /// Formats a cell as one line of at most 60 characters.
    private static func cell(_ text: String) -> String {
        shortened(text.replacingOccurrences(of: "\n", with: " "), to: 60)
    }

    private static func shortened(_ text: String, to width: Int) -> String {
        text.count > width ? text.prefix(max(0, width - 1)) + "…" : text
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
