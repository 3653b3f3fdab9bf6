internal import BridgeHTTP
internal import BridgePaging

/// Positions that the host stores.
extension RESTSource {
    /// Returns a position fit for storage, with an absolute URL, or nil if it holds a secret.
    func storable(_ next: PagePosition) -> PagePosition? {
        var next = next
        if case .url(let text) = next {
            guard let url = HTTPURL(text, relativeTo: pageURL ?? section.url) else { return nil }
            next = .url(client.withoutCredentials(url).text)
        }
        return client.redactor.holdsSecret(url: next.text) ? nil : next
    }

    func resumePoint(_ position: PagePosition, _ page: Int) -> ResumePoint {
        let detected = detection.map {
            AutomaticCursor(members: $0.paging.members, records: $0.records, position: position.text)
        }
        return ResumePoint(page: page, detected: detected, position: position.text)
    }
}
