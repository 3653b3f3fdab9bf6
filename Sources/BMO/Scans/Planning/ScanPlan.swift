internal import BridgeContract
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// The plan of an entity's scan through one bridge: its own, or a further source's.
struct ScanPlan: Sendable {
    let entity: Entity
    /// The entity's index in the compiled model.
    let index: Int
    /// The further source; nil for the entity's own bridge.
    let source: EntitySource?
    /// The index of the mapping's plan in the compiled model.
    let mapping: Int
    /// The bridge's section of the configuration, with secrets.
    let section: RecordBatch
    /// A fingerprint of the scan's request and mapping; secrets are included by name only.
    ///
    /// A resume point and a cursor are valid only for the same fingerprint, which changes with the URL or the mapping.
    let request: String
    /// The fingerprint that a new cursor keeps.
    ///
    /// It leaves the mapping out for rows without a key: they cannot be updated, so all would be appended again.
    let cursorRequest: String
    /// The identity of the list of known members: another section or URL may return other ones.
    let memberListing: MemberListing
    /// The field of `incremental: {field}`.
    let watched: WatchedField?
    /// The source of the records, as far as known from the bridge's `url`.
    let origin: String?
    let attributes: [Attribute]
    let policy: DeletePolicy
    /// The members of a record that the mapping reads; nil for all.
    let readMembers: [String]?
    /// The paths of the values that the mapping reads; nil for any.
    let fieldPaths: [[String]]?
    /// The dot paths of the key's attributes; empty where one of them has none.
    let keyPaths: [String]
    /// The paths that the mapping reads of the objects around a record.
    let surroundings: [String]

    /// Creates the plan of an entity's own scan, or of a further source's.
    ///
    /// - Throws: ``SecretError``.
    init(_ entity: Entity, _ index: Int, source: EntitySource?, in workspace: Workspace) throws {
        let model = workspace.model
        self.entity = entity
        self.index = index
        self.source = source
        readMembers = model.plans[model.plan(of: index, source: source?.name) ?? index].readMembers
        mapping = model.plan(of: index, source: source?.name) ?? index
        fieldPaths = model.readPaths(of: mapping)
        surroundings = model.plans[mapping].surroundings
        var encoder = ConfigEncoder(
            directory: workspace.configuration.directory, session: workspace.session,
            needsNoSecrets: workspace.needsNoSecrets)
        section = try encoder.batch(source?.section ?? entity.section)
        attributes = source?.attributes ?? model.model.attributes(of: entity)
        keyPaths = model.keyPaths(of: index, in: attributes)
        policy = model.model.root(of: entity).deletes
        let incremental = source == nil ? entity.incremental : source?.incremental
        if case .field(let name, _, _)? = incremental {
            watched = WatchedField(name, among: attributes, in: model.entities[index])
        } else {
            watched = nil
        }
        let bridge = workspace.configuration.bridge(named: source?.bridge ?? entity.bridge)
        origin = Self.origin(of: bridge)
        var fingerprint = Fingerprint()
        let kind =
            switch incremental {
            case .token: "token"
            case .field(let name, _, .any): "since \(name)"
            case .field(let name, _, .newestFirst): "newest \(name) first"
            case nil: "all"
            }
        func add(_ texts: [String]) {
            for text in texts {
                fingerprint.add(text)
                fingerprint.separate()
            }
        }
        add([
            bridge?.plugin ?? "", Self.options(of: bridge, in: workspace.configuration),
            (source?.section ?? entity.section).json,
        ])
        // The members that a remote sends do not depend on the mapping.
        memberListing = MemberListing(
            entity: entity.name, source: source?.name ?? "", request: String(fingerprint.value, radix: 16))
        add([kind])
        var unmapped = fingerprint
        // The watermark is a value of this attribute.
        if case .field(let name, _, _)? = incremental, let watched = attributes.first(where: { $0.name == name }) {
            unmapped.add("\(watched.source) \(watched.type.rawValue) \(watched.transformers)")
        }
        add([workspace.fingerprints.text(for: entity)])
        request = String(fingerprint.value, radix: 16)
        cursorRequest = entity.uniquing == .none ? String(unmapped.value, radix: 16) : request
    }

    /// Returns whether a cursor is that of a scan with the same request.
    func isOwn(_ cursor: ScanCursor) -> Bool { [request, cursorRequest].contains(cursor.ownRequest) }

    /// Returns the options without the name of the configuration's folder, so that moving a configuration does not
    /// change the fingerprint.
    private static func options(of bridge: BridgeConfiguration?, in configuration: Configuration) -> String {
        let text = bridge?.options.json ?? ""
        let folder = configuration.directory
        return folder.utf8.count > 1 ? text.replacing("\"\(folder)", with: "\".") : text
    }

    /// Returns the bridge's `url` without credentials and query; nil where it is missing, not a URL, or a secret.
    private static func origin(of bridge: BridgeConfiguration?) -> String? {
        guard case .string(let url)? = bridge?.options["url"], let scheme = url.firstRange(of: "://") else {
            return nil
        }
        let rest = url[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let host = rest.prefix { $0 != "/" }
        let path = rest[host.endIndex...]
        let place = host.lastIndex(of: "@").map { host[host.index(after: $0)...] } ?? host
        return String(url[..<scheme.upperBound] + place + path)
    }

    var bridge: String { source?.bridge ?? entity.bridge }
    var parent: ParentScan? { source == nil ? entity.parent : source?.parent }
    var incremental: Incremental? { source == nil ? entity.incremental : source?.incremental }
    var fullEvery: Duration? { source == nil ? entity.fullEvery : source?.fullEvery }
    /// The further source's own value, or that of its bridge.
    var retryFor: Duration? { source == nil ? entity.retryFor : source?.retryFor }
    /// Whether the section divides the listing into several, which may have the same objects.
    var isDivided: Bool {
        let section = source?.section ?? entity.section
        return ["each", "split", "since"].contains { section[$0] != nil }
    }
    /// Whether the scan is the entity's own listing: objects that it lacks may be deleted.
    var isListing: Bool { source == nil }

    func scope(parent: ParentObject?) -> ScanScope {
        ScanScope(entity: entity.name, source: source?.name ?? "", parent: parent?.text ?? "")
    }

    /// Returns the scope of a scan over a part of a listing: its position is never kept, and lists are still merged in
    /// it.
    func scope(ofPartFor parent: ParentObject?) -> ScanScope {
        ScanScope(entity: entity.name, source: "part", parent: parent?.text ?? "")
    }

    /// Returns the target of a request's pages, which keep no position and delete nothing.
    ///
    /// - Parameter acknowledged: The newest edit that the remote had accepted when it was queried; see ``ScanTarget``.
    func target(ofRequestAfter acknowledged: Int64) -> ScanTarget {
        ScanTarget(
            scope: ScanScope(entity: entity.name, source: "request"), entity: index, isListing: false,
            acknowledged: acknowledged)
    }

    /// Returns the field of an entity's layout that has a remote field's unchanged value; nil where none has.
    func field(ofRemote path: String, in layout: EntityLayout) -> Int? {
        let attribute = attributes.first { attribute in
            guard attribute.transformers.isEmpty, case .path(let own) = attribute.source else { return false }
            return own.components.joined(separator: ".") == path || own.description == path
        }
        return attribute.flatMap { attribute in
            layout.fields.firstIndex { $0.name == attribute.name && $0.relationship == nil }
        }
    }
}
