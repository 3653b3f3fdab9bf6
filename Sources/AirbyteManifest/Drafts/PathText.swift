/// The text of a path, which the REST bridge reads as a template.
enum PathText {
    /// Returns a text with a backslash before each of these characters, which a template would read otherwise.
    static func escaped(_ text: some StringProtocol, _ characters: String) -> String {
        text.map { characters.contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
