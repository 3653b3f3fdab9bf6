internal import BridgeKit
internal import CCurl
internal import SystemCalls

extension HTTPClient {
    /// Records a request, or answers it from a recording or with a planned fault.
    ///
    /// - Returns: Whether it was answered, so that nothing must be sent.
    func rerun(
        _ request: HTTPRequest, _ credential: Credential, on tape: ExchangeTape, _ state: Monitor<ExchangeState>,
        isToken: Bool
    ) throws -> Bool {
        let asked = asked(request, credential)
        guard tape.isReplaying else {
            let take = tape.begin(asked, isToken: isToken)
            if let fault = take.fault {
                state.withLock { play(fault.replayed, of: request, into: &$0) }
                state.signal()
                return true
            }
            state.withLock { $0.recorder = ExchangeRecorder(take, url: request.url) }
            return false
        }
        let replayed = try tape.replay(asked, isToken: isToken)
        state.withLock { play(replayed, of: request, into: &$0) }
        state.signal()
        return true
    }

    private func asked(_ request: HTTPRequest, _ credential: Credential) -> Exchange.Request {
        var fields = (request.sendsOptions ? options.headers : [])
        fields.removeAll { field in request.headers.contains { $0.name.isSameField(as: field.name) } }
        fields += request.headers
        if request.sendsCredentials {
            for field in credential.headers
            where !fields.contains(where: { $0.name.isSameField(as: field.name) }) {
                fields.append((field.name, field.value))
            }
        } else {
            fields.removeAll { !HTTPTransfer.harmlessHeaders.contains($0.name.lowercased()) }
        }
        return Exchange.Request(
            method: request.method, target: redactor.clean(recorded: request.url),
            headers: fields.map { Exchange.Field($0.name, $0.value) }, body: request.body ?? [])
    }

    private func play(_ replayed: ExchangeTape.Replayed, of request: HTTPRequest, into state: inout ExchangeState) {
        state.wasSent = true
        state.isFinished = true
        func failed(_ code: CURLcode, bodyBytes: Int? = nil) -> BridgeError {
            CurlError.make(
                code, words: "\(String(cString: curl_easy_strerror(code))) (a fault of faults.yml)",
                bodyBytes: bodyBytes,
                location: redactor.clean(url: request.url))
        }
        switch replayed.fault {
        case .timeout:
            state.error = failed(CURLE_OPERATION_TIMEDOUT)
            return
        case .reset:
            state.error = failed(CURLE_RECV_ERROR)
            return
        case .slow(let seconds) where seconds >= (request.timing ?? options.timing).whole ?? .infinity:
            state.error = failed(CURLE_OPERATION_TIMEDOUT)
            return
        case .slow, .truncated, .answer, nil: break
        }
        guard case .answer(let status, let headers, let body) = replayed.reply, let number = Int(status) else {
            if case .failure(let code, let message, let isRetryable) = replayed.reply {
                state.error = BridgeError(
                    code, message, location: redactor.clean(url: request.url), isRetryable: isRetryable)
            } else {
                state.error = BridgeError(.internal, "the recorded exchange has no HTTP status", location: request.url)
            }
            return
        }
        let own = headers.filter { !$0.name.hasPrefix("@") }.map { (name: $0.name, value: $0.value) }
        state.response = HTTPResponse(
            status: number, headers: own,
            url: headers.first { $0.name == ExchangeRecorder.finalURL }?.value ?? request.url,
            lostCredentials: headers.contains { $0.name == ExchangeRecorder.lostCredentials },
            sessionHeader: options.sessionHeader, redactor: redactor)
        state.buffer = body
        if replayed.fault == .truncated {
            state.buffer = Array(body.prefix(body.count / 2))
            state.error = failed(CURLE_PARTIAL_FILE, bodyBytes: state.buffer.count)
        } else if body.count > state.bodyLimit {
            state.error = BridgeError(
                .limit, "the reply is larger than \(state.bodyLimit) bytes after decompression",
                remedy: "request smaller pages, or raise max_body_bytes", location: redactor.clean(url: request.url))
        }
    }
}
