/// A file whose content does not follow its format: it belongs in quarantine.
package struct FileFault: Error, Equatable {
    /// The fault, as a sentence without a subject.
    package let reason: String
    package var remedy: String?

    package init(reason: String, remedy: String? = nil) {
        self.reason = reason
        self.remedy = remedy
    }
}
