/// Keys on a command line that are negative numbers, such as the temporary `-4` of a new object.
///
/// The argument parser would read them as options. A mark makes it treat them as values, in their position among
/// others.
enum NegativeKey {
    private static let mark: Character = "\u{1}"
    private static let commands: Set<String> = ["get", "why", "update", "delete", "resolve"]

    /// Marks each negative number up to `--` in the arguments of commands that take keys.
    static func marked(_ arguments: [String]) -> [String] {
        guard let command = arguments.first, commands.contains(command) else { return arguments }
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { isNegative($0) ? String(mark) + $0 : $0 } + arguments[end...]
    }

    /// Returns a key's word as the user wrote it.
    static func word(_ argument: String) -> String {
        argument.first == mark && isNegative(argument.dropFirst()) ? String(argument.dropFirst()) : argument
    }

    private static func isNegative(_ word: some StringProtocol) -> Bool {
        word.first == "-" && word.dropFirst().first?.isWholeNumber == true
            && word.dropFirst().allSatisfy { $0.isASCII && ($0.isWholeNumber || $0 == ".") }
    }
}
