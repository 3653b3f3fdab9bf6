internal import BridgePaging
internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Describes the first request of a fetch without sending it.
final class PlanSource: RecordSource {
    private let section: RESTSection
    private let base: HTTPURL
    private let request: FetchRequest
    private let client: HTTPClient

    init(_ section: RESTSection, base: HTTPURL, request: FetchRequest, client: HTTPClient) {
        self.section = section
        self.base = base
        self.request = request
        self.client = client
    }

    func cancel() {}

    func next(into writer: RecordBatchWriter) throws -> Page {
        var section = section
        if let export = section.export {
            return try describe(
                export.create.request(section.variables, base: base, shared: section.headers), paging: "export",
                isDelta: false, into: writer)
        }
        let point = request.cursor.map(ResumePoint.init)
        try point?.apply(to: &section)
        let pager = try Pager(section.paging, cursor: point?.position)
        let token = request.token.flatMap(ScanToken.init)
        let asked = try section.request(
            at: pager.first, after: nil, delta: section.incremental == nil ? nil : token?.delta)
        return describe(
            asked, paging: section.paging.name, isDelta: section.incremental != nil && token?.delta != nil, into: writer
        )
    }

    private func describe(
        _ first: (request: HTTPRequest, url: HTTPURL), paging: String, isDelta: Bool, into writer: RecordBatchWriter
    ) -> Page {
        let (asked, url) = first
        writer.object {
            writer.member("request", "\(asked.method) \(client.redactor.clean(url: url.text))")
            writer.member("body", asked.body.map { client.redactor.clean(String(decoding: $0, as: UTF8.self)) })
        }
        var page = Page(isPageEnd: true, isEnd: true)
        // A delta lists only changes, so an absent record is not deleted.
        page.isComplete = !section.isPartial && !section.isBounded && !isDelta
        // The scan of such a listing deletes nothing either.
        if !page.isComplete { page.skipped = [.everything] }
        page.pushed = section.pushed
        page.metadata = ["paging": paging]
        return page
    }
}
