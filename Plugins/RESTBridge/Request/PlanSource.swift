internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Tells what a fetch would ask for first, and contacts nobody.
final class PlanSource: RecordSource {
    private let section: RESTSection
    private let request: FetchRequest
    private let clean: @Sendable (String) -> String

    /// - Parameter clean: Takes secrets out of a URL.
    init(_ section: RESTSection, request: FetchRequest, clean: @escaping @Sendable (String) -> String) {
        self.section = section
        self.request = request
        self.clean = clean
    }

    func cancel() {}

    func next(into writer: RecordBatchWriter) throws -> Page {
        let pager = try Pager(section.paging, cursor: nil)
        let token = request.token.flatMap(WalkToken.init)
        let (asked, url) = try section.request(
            at: pager.first, after: nil, delta: section.incremental == nil ? nil : token?.delta)
        writer.object {
            writer.member("request", "\(asked.method) \(clean(url.text))")
            writer.member("body", asked.body.map { String(decoding: $0, as: UTF8.self) })
        }
        var page = Page(isPageEnd: true, isEnd: true)
        page.pushed = section.pushed
        page.metadata = ["paging": section.paging.name]
        return page
    }
}
