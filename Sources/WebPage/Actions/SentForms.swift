internal import Mapping
internal import SystemCalls
internal import WebServer

/// The forms that were sent: a second click sends the same form again, which must not create another object.
///
/// Only forms with a mark count; a page makes another mark each time. A form that was changed is another one, and so is
/// that of another session.
final class SentForms: Sendable {
    /// What the page of the first outcome says after the same form was sent again.
    static let notice = Notice(
        .good,
        "This form was sent more than once, and created this object once. Open the form again to create another one.")
    /// The number of forms that are remembered.
    private static let maxCount = 100

    private typealias Work = Task<PageAction.Outcome, any Error>

    private struct Sent {
        let form: Int
        let work: Work
    }

    private let sent = Mutex<[Sent]>([])

    /// Performs what a form requests, or waits for what the same form requested before.
    ///
    /// A form whose action failed may be sent again.
    ///
    /// - Returns: The outcome, and whether it is that of an earlier request.
    /// - Throws: What `action` throws.
    func outcome(
        of form: FormFields, _ action: @escaping @Sendable () async throws -> PageAction.Outcome
    ) async throws -> (outcome: PageAction.Outcome, isRepeated: Bool) {
        guard form[FormMark.field]?.isEmpty == false else { return (try await action(), false) }
        let id = Self.id(of: form)
        let (work, isRepeated) = sent.withLock { sent -> (Work, Bool) in
            if let known = sent.first(where: { $0.form == id }) { return (known.work, true) }
            // With the second click, the browser gives up the first request, whose task is then cancelled.
            let work = Work { try await action() }
            if sent.count >= Self.maxCount { sent.removeFirst() }
            sent.append(Sent(form: id, work: work))
            return (work, false)
        }
        do {
            return (try await work.value, isRepeated)
        } catch {
            sent.withLock { sent in sent.removeAll { $0.work == work } }
            throw error
        }
    }

    private static func id(of form: FormFields) -> Int {
        var hasher = Hasher()
        for field in form.fields {
            hasher.combine(ExactText(field.name))
            hasher.combine(ExactText(field.value))
        }
        return hasher.finalize()
    }
}
