public import BridgeKit
internal import CLibXML2

/// Receives the events of a push parser.
///
/// A thrown error stops the parser and is rethrown by its feeding call.
open class XMLEventSink {
    /// Creates a sink that ignores all events.
    public init() {}

    /// Handles the start of an element.
    open func startElement(_ element: XMLStartElement) throws(BridgeError) {}
    /// Handles the end of the last open element.
    open func endElement() throws(BridgeError) {}
    /// Handles a piece of text in UTF-8; adjacent text may be split into several pieces.
    open func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {}
}

/// libxml2's push parser with its own handlers, for untrusted text.
///
/// A DOCTYPE is refused as soon as it is seen, so that only the five predefined entities exist; nothing is ever
/// fetched. Not thread-safe.
public final class XMLPushParser {
    private let context: xmlParserCtxtPtr
    private let state: State
    private var tags = TagGuard()

    /// The state that the C handlers access.
    private final class State {
        private let sink: XMLEventSink
        private let sinkReference: Unmanaged<XMLEventSink>
        var context: xmlParserCtxtPtr?
        private(set) var failure: BridgeError?
        private var hasFailed = false
        let subject: String

        init(sink: XMLEventSink, subject: String) {
            self.sink = sink
            sinkReference = .passUnretained(sink)
            self.subject = subject
        }

        /// Forwards an event; neither this object nor the sink is retained, which would cost as much as a small event.
        func run(_ body: (XMLEventSink) throws(BridgeError) -> Void) {
            // A few events may follow xmlStopParser.
            guard !hasFailed else { return }
            let failure = sinkReference._withUnsafeGuaranteedRef { sink -> BridgeError? in
                do throws(BridgeError) {
                    try body(sink)
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { fail(failure) }
        }

        func fail(_ error: BridgeError) {
            var error = error
            let line = context.map { xmlSAX2GetLineNumber($0) } ?? 0
            if line > 0, error.code == .malformed || error.code == .limit { error.message += ", at line \(line)" }
            failure = error
            hasFailed = true
            xmlStopParser(context)
        }
    }

    /// The same limit as for a batch; libxml2 2.9 searches further names linearly for each element.
    private static let maxNames = Int32(1 << 18)

    private static let initialized: Void = xmlInitParser()

    /// Creates a parser that reports to `sink`; `subject` names the document in errors ("the reply").
    public init(sink: XMLEventSink, subject: String) throws(BridgeError) {
        _ = Self.initialized
        state = State(sink: sink, subject: subject)
        var handler = Self.handler
        let user = Unmanaged.passUnretained(state).toOpaque()
        guard let context = xmlCreatePushParserCtxt(&handler, user, nil, 0, nil) else {
            throw BridgeError(.limit, "no memory for an XML parser")
        }
        self.context = context
        state.context = context
        // Without NOENT and HUGE, libxml2 does not substitute entities and enforces its own limits. NOERROR and NOWARNING
        // keep it from printing.
        let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
        xmlCtxtUseOptions(context, Int32(options))
    }

    deinit { xmlFreeParserCtxt(context) }

    /// Sets the character set before the first bytes; an unknown name has no effect.
    public func setEncoding(_ name: String) {
        guard let handler = xmlFindCharEncodingHandler(name) else { return }
        xmlCharEncCloseFunc(handler)
        xmlCtxtResetPush(context, nil, 0, nil, name)
    }

    /// Parses the next bytes.
    public func feed(_ bytes: ArraySlice<UInt8>) throws(BridgeError) {
        let failure = bytes.withUnsafeBytes { buffer -> BridgeError? in
            do throws(BridgeError) {
                try feed(buffer)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        guard tags.accepts(bytes) else {
            throw BridgeError(
                .limit,
                "\(state.subject) has an element with more than \(TagGuard.maxAttributes) attributes and namespaces")
        }
        var rest = bytes
        while !rest.isEmpty {
            // The C function takes an Int32.
            let count = min(rest.count, 1 << 17)
            let pointer = rest.baseAddress?.assumingMemoryBound(to: CChar.self)
            try check(xmlParseChunk(context, pointer, Int32(count), 0))
            guard xmlDictSize(context.pointee.dict) <= Self.maxNames else {
                throw BridgeError(
                    .limit,
                    "\(state.subject) has more than \(Self.maxNames) different names of elements and attributes")
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }

    /// Ends the document; an incomplete document is an error.
    public func finish() throws(BridgeError) {
        let open = context.pointee.nameNr > 0 ? context.pointee.name.map { String(cString: $0) } : nil
        do throws(BridgeError) {
            try check(xmlParseChunk(context, nil, 0, 1))
            if context.pointee.wellFormed == 0 { try check(context.pointee.errNo) }
        } catch {
            // libxml2's message for a truncated document is hard to understand.
            guard let open, state.failure == nil else { throw error }
            throw BridgeError(.malformed, "\(state.subject) is not well-formed XML: it ends inside <\(open)>")
        }
    }

    private func check(_ code: Int32) throws(BridgeError) {
        if let failure = state.failure { throw failure }
        guard code != 0 else { return }
        let last = xmlCtxtGetLastError(context)?.pointee
        // Warnings (level 1) and recoverable errors (2), such as a relative namespace name, don't end a document.
        if let last, last.level.rawValue < XML_ERR_FATAL.rawValue, context.pointee.wellFormed != 0 { return }
        var reason = last?.message.map { String(cString: $0) } ?? "error \(code)"
        while reason.last?.isWhitespace == true { reason.removeLast() }
        if code == XML_ERR_DOCUMENT_EMPTY.rawValue { reason = "it does not begin with <" }
        let line = last?.line ?? 0
        throw BridgeError(
            .malformed, "\(state.subject) is not well-formed XML: \(reason)" + (line > 0 ? ", at line \(line)" : ""))
    }

    /// Calls the state behind a handler's user pointer, which the parser keeps alive while libxml2 may call.
    private static func run(_ user: UnsafeMutableRawPointer?, _ body: (XMLEventSink) throws(BridgeError) -> Void) {
        guard let user else { return }
        Unmanaged<State>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.run(body) }
    }

    private static let characters: charactersSAXFunc = { user, text, count in
        guard let text, count > 0 else { return }
        XMLPushParser.run(user) { sink throws(BridgeError) in
            try sink.characters(UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
    }

    private static var handler: xmlSAXHandler {
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.internalSubset = { user, _, _, _ in
            guard let user else { return }
            let state = Unmanaged<State>.fromOpaque(user).takeUnretainedValue()
            guard state.failure == nil else { return }
            state.fail(
                BridgeError(.malformed, "\(state.subject) has a DOCTYPE, which SOAP forbids and bmo does not read"))
        }
        handler.startElementNs = {
            user, name, _, namespace, namespaceCount, namespaces, attributeCount, _, attributes in
            guard let name else { return }
            let element = XMLStartElement(
                name: name, namespacePointer: namespace, namespaceCount: Int(namespaceCount), namespaces: namespaces,
                attributeCount: Int(attributeCount), attributes: attributes)
            XMLPushParser.run(user) { sink throws(BridgeError) in try sink.startElement(element) }
        }
        handler.endElementNs = { user, _, _, _ in
            XMLPushParser.run(user) { sink throws(BridgeError) in try sink.endElement() }
        }
        handler.characters = characters
        // The same function; otherwise libxml2 guesses which white space is significant.
        handler.ignorableWhitespace = characters
        handler.cdataBlock = characters
        return handler
    }
}
