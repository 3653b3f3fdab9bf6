internal import BridgeHTTP
public import BridgeKit
public import RecordBatch

/// A bridge to JSON APIs.
public final class RESTBridge: Bridge {
    /// The bridge's name and capabilities.
    public static let descriptor = BridgeDescriptor(
        name: "rest", version: "0.1.0", summary: "JSON over HTTP: listings in pages, records anywhere in the reply.",
        optionsSchema: RESTSchema.options, entitySchema: RESTSchema.section, isConcurrent: true,
        capabilities: [
            .check, .discover, .fetch, .resume, .incremental, .parent, .filter, .plan, .validate, .create, .update,
            .delete, .replay, .newestFirst, .userInfo, .parameters,
        ])

    private let base: HTTPURL
    private let checkURL: HTTPURL
    private let hasCheckPath: Bool
    private let client: HTTPClient
    private let parameters: BridgeOptions?
    private let context: BridgeContext
    /// The sources to introspect instead of the API itself, set by `bmo introspect` and never by a config.
    private let introspect: BridgeOptions?
    private let startedOver = StartedOverJobs()
    private let sections = KnownSections()

    /// Validates the options without connecting.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        let text = options.string("url") ?? ""
        let http = try HTTPOptions(options)
        guard let base = HTTPURL(text), !base.hasUserInfo else {
            throw Self.refusal(ofURL: text, http)
        }
        guard let checkURL = base.appending(path: options.string("check_path") ?? "") else {
            throw BridgeError(.configuration, "check_path is not a path below url", remedy: "write it as /path")
        }
        self.base = base
        self.context = context
        parameters = options.object("parameters")
        self.checkURL = checkURL
        hasCheckPath = options.has("check_path")
        introspect = options.object("introspect")
        client = try HTTPClient(options: http, context: context)
    }

    private static func refusal(ofURL text: String, _ http: HTTPOptions) -> BridgeError {
        let location = text.isEmpty ? nil : http.redactor.clean(url: text)
        guard !text.isEmpty else {
            return BridgeError(.configuration, "url is missing", remedy: "write it as https://host/path")
        }
        if let url = HTTPURL(text), url.hasUserInfo {
            return BridgeError(
                .configuration, "url contains a user", remedy: "remove it, and put credentials under auth",
                location: location)
        }
        let hasScheme = text.contains("://")
        return BridgeError(
            .configuration,
            hasScheme ? "url is not an http or https URL" : "url begins with neither http:// nor https://",
            remedy: hasScheme
                ? "write it as https://host/path" : "put https:// in front, or http:// if the server has no TLS",
            location: location)
    }

    /// Requests `check_path`, which must succeed.
    ///
    /// Without that option, requests the root, where many APIs have no content.
    public func check() throws -> String? {
        let exchange = client.start(HTTPRequest(url: checkURL.text, headers: [(name: "Accept", value: "*/*")]))
        let response = try exchange.response()
        let isRootWithoutContent = !hasCheckPath && [404, 405].contains(response.status)
        guard response.status < 400 || isRootWithoutContent else { throw try exchange.statusError(asked: "the check") }
        if let refusal = LoginPage.refusal(of: response, asked: checkURL, start: exchange.bodyPrefix(65_536)) {
            throw refusal
        }
        exchange.cancel()
        let server = response.header("server").map { ", server \($0)" } ?? ""
        let hint = isRootWithoutContent ? "; set check_path to an existing path to check more" : ""
        return client.redactor.clean("\(response.location) answers \(response.status)\(server)\(hint)")
    }

    /// Introspects an OpenAPI document, or the sources given by the host, and offers the listings found.
    public func discover(into writer: RecordBatchWriter) throws {
        try RESTIntrospector(client: client, base: base).run(introspect, into: writer)
    }

    /// Starts a scan over a listing.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        if request.validates {
            return ValidationSource(RESTSectionValidator(request: request, base: base, parameters: parameters).faults())
        }
        do {
            var request = request
            var point = request.cursor.flatMap(SlicePoint.init)
            // A resumed scan keeps its windows, unless the section has others now.
            let present = present
            var now = point?.now ?? present
            var slices = try RESTSection.slices(request, parameters: parameters, now: now, present: present)
            if let old = point, old.digest != SlicePoint.digest(of: slices) {
                (point, now, request.cursor) = (nil, present, nil)
                slices = try RESTSection.slices(request, parameters: parameters, now: now, present: present)
            }
            // A cursor of several slices does not fit one of them.
            if point != nil || slices.count > 1 { request.cursor = nil }
            if request.explains {
                let section = try section(request, slices.first)
                return PlanSource(section, base: base, request: request, client: client)
            }
            // Fail on the section's faults before the first slice is requested.
            let first = try source(request, slices.first)
            // One listing up to a time keeps that time when it is resumed, so that its pages belong together.
            guard slices.count > 1 || slices.first?.until != nil else { return first }
            let began = ContinuousClock.now
            return SlicedSource(slices, request, now: now, at: point) { [self] in
                try source($1, $0, began: began)
            }
        } catch let parent as SkippedParent {
            return SkippedSource(parent)
        } catch var error as BridgeError {
            error.message = "\(request.entity): \(error.message)"
            throw error
        }
    }

    /// The present in microseconds since 1970: in a recording and its replays, when the recording began.
    private var present: Int64 { context.exchange.map { $0.start * 1_000_000 } ?? TimeText.now() }

    /// - Parameter began: The beginning of the whole scan, for its time limit.
    private func source(
        _ request: FetchRequest, _ slice: Slice?, began: ContinuousClock.Instant = .now
    ) throws -> any ListingSource {
        let section = try section(request, slice)
        if let export = section.export {
            return try ExportSource(
                client: client, section: section, rule: export, base: base, request: request, log: context,
                began: began, startedOver: startedOver)
        }
        return try RESTSource(
            client: client, section: section, origin: base.origin, request: request, log: context, began: began)
    }

    private func section(_ request: FetchRequest, _ slice: Slice?) throws -> RESTSection {
        try RESTSection(
            request, base: base, parameters: parameters, slice: slice, rules: sections.rules(of: request))
    }

    /// Sends one change, and writes the resulting object if the reply contains it.
    public func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        try RESTObjectWriter(client: client, base: base, request: request, parameters: parameters, log: context)
            .run(into: writer)
    }
}
