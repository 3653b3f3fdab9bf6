/// A bridge to third-party taps: programs that speak the Singer protocol (SCHEMA, RECORD, STATE and ACTIVATE_VERSION
/// messages, a JSON object per line on standard output; the Singer specification, version 0.3.0).
public import BridgeKit
internal import Glibc
public import RecordBatch
internal import SystemCalls

/// Records from any Singer tap run as a program: the bridge for `isolation: external` in a configuration.
///
/// Each fetch is a run of the tap with one stream selected. The tap's pipe is read only on request of the host, so that
/// a tap can't outrun the importer.
public final class SingerBridge: Bridge {
    /// The bridge's name, schemas and capabilities.
    ///
    /// It always runs in a child process, whose limits and end also apply to the tap.
    public static let descriptor = BridgeDescriptor(
        name: "singer", version: "0.1.0",
        summary: "Any Singer tap, run as a program: SCHEMA, RECORD and STATE messages as JSON lines.",
        optionsSchema: TapOptions.schema, entitySchema: TapSection.schema, isolation: .childProcess,
        capabilities: [.check, .discover, .fetch, .incremental, .plan, .replay])

    private let tap: Tap
    /// Read once, by the first caller.
    private let discovered = Mutex<TapCatalog?>(nil)

    /// Validates the options; does not start the tap.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        tap = Tap(options: try TapOptions(options), context: context)
    }

    /// Reads the catalog, which may require a run of the tap.
    public func check() throws -> String? {
        guard let catalog = try catalog() else {
            return "\(tap.name) is at \(try tap.program()); without a catalog only a sync shows more"
        }
        return "\(tap.name) offers \(catalog.streams.count) streams: "
            + catalog.streams.prefix(20).map { catalog.word(for: $0) }.joined(separator: ", ")
    }

    /// Offers an entity for each stream of the catalog.
    public func discover(into writer: RecordBatchWriter) throws {
        guard let catalog = try catalog() else {
            throw BridgeError(
                .unsupported, "\(tap.name) is used without a catalog, so its streams are unknown",
                remedy: "leave out \"catalog: none\" if the tap knows --discover")
        }
        for stream in catalog.streams {
            TapOffer(stream, named: catalog.word(for: stream)).description.write(to: writer)
        }
    }

    /// Runs the tap for one stream.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let section = TapSection(request.section)
        let catalog = try catalog()
        var method = section.replication
        var selected: String?
        var known: TapCatalog.Stream?
        var names: Set<String> = [section.stream]
        if let catalog {
            let stream = try catalog.stream(named: section.stream, of: tap.name)
            known = stream
            names = [stream.name, stream.id]
            method = method ?? stream.replication
            selected = try catalog.selecting(stream, section)
        }
        if request.explains { return ExplainedRun(tap, section, method, stream: known, state: request.token) }
        return try TapSource(
            tap: tap, section: section, names: names, method: method, catalog: selected, state: request.token,
            keyPaths: request.keyPaths, fields: request.fields)
    }

    /// Returns the catalog; nil for a tap without one.
    private func catalog() throws -> TapCatalog? {
        guard tap.options.catalog != .none else { return nil }
        return try discovered.withLock { known in
            // Not counted as a step of the scan that first needs the catalog.
            let catalog = try known ?? tap.context.aside { try TapCatalog(of: tap) }
            known = catalog
            return catalog
        }
    }
}
