internal import Mapping

extension EntityLayout {
    /// Checks that a command line has a word for each attribute of the key.
    func checkKey(_ words: [String]) throws {
        guard words.count == key.count else {
            let names = key.map { fields[$0].name }.joined(separator: ", ")
            throw CommandFailure(
                "the key of \(name) is \(names): \(key.count) values, not \(words.count)",
                exitCode: CommandFailure.usage)
        }
    }
}
