internal import Model

/// Translates an `AsyncRetriever` into the section's `export`.
///
/// The request that creates the job is in the section already: it is translated like that of a listing, with its cursor.
struct ExportTranslator {
    let draft: EntityDraft
    let text: SliceText
    let bridges: BridgeList

    private typealias Members = [(key: String, value: ConfigValue)]

    private static let requestMembers = ["path", "method", "query", "headers", "body", "body_format"]
    /// The longest time that the bridge waits for a job, in minutes.
    private static let maxMinutes: Int64 = 10_080

    func apply(_ retriever: ConfigValue, _ scope: Scope) {
        do {
            var create = taken(retriever["creation_requester"], usual: "POST")
            let job = JobReply()
            let status = try status(retriever, job, scope, &create)
            let files = try files(retriever, job, scope)
            if let id = job.id, id != "$.id" { create.append(("id", .string(id))) }
            try format(retriever, scope)
            draft.set(
                "export", ["create": .object(create), "status": .object(status), "files": .object(files)])
        } catch {
            draft.obstacle("its export: \(reason(error))")
        }
        decoder(retriever["decoder"])
        filter(retriever["record_selector"]?["record_filter"], scope)
        for (member, words) in [
            ("delete_requester", "deletes the job afterwards; bmo leaves it to the API"),
            ("abort_requester", "aborts a job that takes too long; bmo leaves it to the API"),
        ] where retriever[member]?.isTruthy == true {
            draft.sectionNote("not carried: \(member): Airbyte \(words)")
        }
        for member in ["creation_requester", "polling_requester", "download_requester"] {
            guard let handler = retriever[member]?["error_handler"], handler.isTruthy else { continue }
            draft.doubt("\(member): error_handler: bmo's own treatment of errors applies", ofValues: true)
        }
    }

    /// Takes the members of one request out of the section, so that the next one can be translated there.
    private func taken(_ requester: ConfigValue?, usual: String) -> Members {
        var members: Members = draft.settings.filter { Self.requestMembers.contains($0.name) }.map {
            ($0.name, $0.value)
        }
        draft.settings.removeAll { Self.requestMembers.contains($0.name) }
        members.removeAll { $0.key == "method" }
        let method = requester?["http_method"]?.printed ?? "GET"
        if method != usual { members.append(("method", .string(method))) }
        return members
    }

    /// The whole address of a requester, which may be an expression.
    private func address(_ requester: ConfigValue, _ scope: Scope) throws -> Template {
        let base = Functions.trimmed((requester["url"] ?? requester["url_base"])?.printed ?? "")
        let path = Functions.trimmed(requester["path"]?.printed ?? "")
        return try Template(
            base.isEmpty || path.isEmpty || path == "/" ? base + path.drop { $0 == "/" } : base + "/" + path, scope)
    }

    /// Translates a later request of the job into the section.
    private func request(_ requester: ConfigValue, _ what: String, _ job: JobReply, _ scope: Scope) throws {
        if let name = requester["class_name"]?.string { throw Untranslatable("its \(what) \(name) is custom Python") }
        let address = try RequestAddress(requester, scope, scope.inputs)
        guard bridges.isBridge(text.bridge, at: address, requester["authenticator"], scope) else {
            throw Untranslatable("its \(what) has another address or authentication than its creation_requester")
        }
        var text = text
        text.job = job
        Requester(draft: draft, text: text).apply(requester, address: address, scope)
    }

    // MARK: The Job's State

    private func status(_ retriever: ConfigValue, _ job: JobReply, _ scope: Scope, _ create: inout Members) throws
        -> Members
    {
        guard let requester = retriever["polling_requester"] else {
            throw Untranslatable("it has no polling_requester")
        }
        let scope = scope.with(requester)
        var status: Members = []
        if case .path(let names)? = try address(requester, scope).expression, let members = JobReply.members(names) {
            create.append(("status_url", .string(try JobReply.place(members))))
            for member in ["request_parameters", "request_headers", "request_body_json", "request_body_data"]
            where requester[member]?.isTruthy == true {
                throw Untranslatable("its polling_requester adds \(member) to a URL that the API names")
            }
        } else {
            try request(requester, "polling_requester", job, scope)
            let hasBody = draft.setting("body") != nil
            status = taken(requester, usual: hasBody ? "POST" : "GET")
        }
        status.append(("state", .string(try place(retriever["status_extractor"], scope))))
        let mapping = retriever["status_mapping"]
        func states(_ names: String...) -> [String] {
            names.flatMap { (mapping?[$0]?.array ?? []).map(\.printed) }
        }
        let done = states("completed")
        guard !done.isEmpty else {
            throw Untranslatable("its status_mapping names no state of a job that is completed")
        }
        status.append(("done", .array(done.map { .string($0) })))
        let failed = states("failed", "timeout").filter { !done.contains($0) }
        var seen: Set<String> = []
        let once = failed.filter { seen.insert($0).inserted }
        if !once.isEmpty { status.append(("failed", .array(once.map { .string($0) }))) }
        if let limit = retriever["polling_job_timeout"], limit.isTruthy {
            guard let minutes = Int64(try Template(limit.printed, scope).known?.printed ?? ""), minutes > 0 else {
                throw Untranslatable("its polling_job_timeout \(limit.printed) is not a number")
            }
            status.append(("time_limit", .int(min(minutes, Self.maxMinutes) * 60)))
        }
        return status
    }

    private func place(_ extractor: ConfigValue?, _ scope: Scope) throws -> String {
        RecordsPath.text(try path(extractor, scope))
    }

    private func path(_ extractor: ConfigValue?, _ scope: Scope) throws -> [String] {
        guard let extractor, extractor.type == "DpathExtractor" || extractor["class_name"] == nil else {
            throw Untranslatable("\(extractor?["class_name"]?.string ?? "an extractor") is custom Python")
        }
        return try (extractor["field_path"]?.array ?? []).map { part in
            guard let known = try Template(part.printed, scope.with(extractor)).known else {
                throw Untranslatable("the path \(part.printed) is known only during a sync")
            }
            return known.printed
        }
    }

    // MARK: Its Files

    private func files(_ retriever: ConfigValue, _ job: JobReply, _ scope: Scope) throws -> Members {
        guard let requester = retriever["download_requester"] else {
            throw Untranslatable("it has no download_requester")
        }
        if retriever["download_target_requester"]?.isTruthy == true {
            throw Untranslatable("the links of its files come from a request of their own, download_target_requester")
        }
        if let pages = retriever["download_paginator"], pages.isTruthy, pages.type != "NoPagination" {
            throw Untranslatable("its files have pages (download_paginator)")
        }
        let scope = scope.with(requester)
        guard JobReply.isTarget(try address(requester, scope).expression) else {
            try request(requester, "download_requester", job, scope)
            let members = taken(requester, usual: "GET")
            if let other = members.first(where: { !["path", "headers"].contains($0.key) }) {
                throw Untranslatable("its download_requester sends \(other.key)")
            }
            // The fields of the section's head go with the requests for files.
            for member in members where member.key == "headers" { draft.set("headers", member.value) }
            return members.filter { $0.key == "path" }
        }
        if (requester["http_method"]?.printed ?? "GET") != "GET" {
            throw Untranslatable("its files are requested by \(requester["http_method"]?.printed ?? "")")
        }
        for member in ["request_parameters", "request_headers"] where requester[member]?.isTruthy == true {
            draft.doubt("download_requester: bmo adds no \(member) to the links of files")
        }
        if requester["authenticator"]?.isTruthy == true, requester["authenticator"]?.type != "NoAuth" {
            draft.sectionNote(
                "Airbyte sends credentials with every file's link; bmo does so only to the host of url, and to those under export.files.credentials_for"
            )
        }
        let target = retriever["download_target_extractor"] ?? retriever["urls_extractor"]
        return [("urls", .string(try place(target, scope)))]
    }

    private func format(_ retriever: ConfigValue, _ scope: Scope) throws {
        let extractor = retriever["download_extractor"]
        // Older manifests name neither a decoder nor an extractor of files: they were CSV.
        let isOld = retriever["urls_extractor"] != nil && retriever["download_decoder"] == nil
        if extractor?.type == "ResponseToFileExtractor" || isOld && extractor == nil {
            draft.set("format", "csv")
            draft.set("empty_as_null", true, comment: "as pandas reads it for Airbyte")
            return
        }
        var decoder = retriever["download_decoder"]
        // bmo sees by itself whether a file is packed.
        while let packed = decoder, ["GzipDecoder", "ZipfileDecoder"].contains(packed.type) {
            decoder = packed["decoder"]
        }
        switch decoder?.type {
        case "CsvDecoder": TableDecoder.addCSV(decoder, to: draft)
        case "JsonlDecoder": draft.set("format", "ndjson")
        case nil, "JsonDecoder":
            draft.set("format", "json")
            if let extractor {
                let names = try path(extractor, scope)
                if !names.isEmpty { draft.set("records", .string(RecordsPath.text(names))) }
            }
        case let name?:
            throw Untranslatable("its files are read by \(decoder?["class_name"]?.string ?? name)")
        }
    }

    // MARK: Replies

    private func decoder(_ decoder: ConfigValue?) {
        guard let decoder, decoder != .null, decoder.type != "JsonDecoder" else { return }
        draft.obstacle(
            "its job's replies are read by \(decoder["class_name"]?.string ?? decoder.type ?? ""); the REST bridge reads JSON"
        )
    }

    private func filter(_ filter: ConfigValue?, _ scope: Scope) {
        guard let condition = filter?["condition"]?.string, !condition.isEmpty else { return }
        if (try? Template(condition, scope).known)?.isTruthy == true { return }
        draft.sectionNote("not carried: record_filter \(condition): bmo also imports the records that it excludes")
        draft.doubt("record_filter \(condition) is not applied: bmo imports more records than Airbyte")
    }
}
