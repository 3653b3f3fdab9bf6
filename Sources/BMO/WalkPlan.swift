internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// What all walks of a sync have in common.
struct SyncContext: Sendable {
    let workspace: Workspace
    let store: SQLiteStore
    let connections: Connections
    let thread: ImportThread
    let gate: PageGate
    let options: Workspace.SyncOptions
    let report: @Sendable (SyncEvent) -> Void
    /// Is told of each page of a request; nil in a sync.
    var observer: PageObserver?

    /// Whether only a part of a listing is wanted: what is not in it says nothing.
    var isPartial: Bool { !options.conditions.isEmpty }
}

/// How an entity is walked through one bridge: its own, or that of a further source.
struct WalkPlan: Sendable {
    let entity: Entity
    /// The entity's index in the compiled model.
    let index: Int
    /// The further source; nil for the entity's own bridge.
    let source: EntitySource?
    /// The index of the mapping's plan in the compiled model.
    let mapping: Int
    /// The bridge's section of the config, with secrets.
    let section: RecordBatch
    /// What the walk asks for and what becomes of it, as a short text: secrets are named and not told.
    ///
    /// A resume point and a cursor are good for just this: after a change of the url or of the mapping, others count.
    let request: String
    /// The field of `incremental: {field}`.
    let watched: WatchedField?
    /// Where the records come from, as far as the bridge's `url` tells.
    let origin: String?
    let attributes: [Attribute]
    let policy: DeletePolicy
    /// The members of a record that the mapping reads; nil is all.
    let readMembers: [String]?

    /// - Throws: ``SecretError``.
    init(_ entity: Entity, _ index: Int, source: EntitySource?, in workspace: Workspace) throws {
        let model = workspace.model
        self.entity = entity
        self.index = index
        self.source = source
        readMembers = model.plans[model.plan(of: index, source: source?.name) ?? index].readMembers
        mapping = model.plan(of: index, source: source?.name) ?? index
        var encoder = ConfigEncoder(directory: workspace.configuration.directory)
        section = try encoder.batch(source?.section ?? entity.section)
        attributes = source?.attributes ?? model.model.attributes(of: entity)
        policy = model.model.root(of: entity).deletes
        let incremental = source == nil ? entity.incremental : source?.incremental
        if case .field(let name, _)? = incremental {
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
            case .field(let name, _): "since \(name)"
            case nil: "all"
            }
        for text in [
            bridge?.plugin ?? "", Self.options(of: bridge, in: workspace.configuration),
            (source?.section ?? entity.section).json, kind,
            MappingFingerprint.text(of: model.model),
        ] {
            fingerprint.add(text)
            fingerprint.separate()
        }
        request = String(fingerprint.value, radix: 16)
    }

    /// The options, in which the configuration's folder has no name: a configuration that moves asks for nothing else.
    private static func options(of bridge: BridgeConfiguration?, in configuration: Configuration) -> String {
        let text = bridge?.options.json ?? ""
        let folder = configuration.directory
        return folder.utf8.count > 1 ? text.replacing("\"\(folder)", with: "\".") : text
    }

    /// Where the bridge's `url` leads to, without credentials and query; nil where that is none, or a secret.
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
    var parent: ParentWalk? { source == nil ? entity.parent : source?.parent }
    var incremental: Incremental? { source == nil ? entity.incremental : source?.incremental }
    var fullEvery: Duration? { source == nil ? entity.fullEvery : source?.fullEvery }
    /// Whether the walk is the entity's own listing: what that lacks may be gone.
    var isListing: Bool { source == nil }

    func scope(parent: ParentObject?) -> WalkScope {
        WalkScope(entity: entity.name, source: source?.name ?? "", parent: parent?.text ?? "")
    }

    /// What the pages of a request are of: no place of a walk is theirs, and nothing is missed in them.
    ///
    /// - Parameter acknowledged: The newest edit that the remote had taken when it was asked; see ``WalkTarget``.
    func target(ofRequestAfter acknowledged: Int64) -> WalkTarget {
        WalkTarget(
            scope: WalkScope(entity: entity.name, source: "request"), entity: index, isListing: false,
            acknowledged: acknowledged)
    }

    /// The field of an entity's layout that a remote field becomes unchanged; nil when none does.
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

/// An object whose children are asked for.
struct ParentObject: Sendable {
    /// The index of the relationship that leads to it; nil where it is the object itself.
    let relationship: Int?
    let key: [StoredValue]
    /// The key as a JSON array.
    let text: String
    /// Its values by local names: a batch of one object.
    let values: RecordBatch

    init(_ values: [StoredValue], _ layout: EntityLayout, relationship: Int?) throws {
        self.relationship = relationship
        key = layout.key.map { values[$0] }
        text = SQLiteStore.text(ofKey: key)
        let writer = RecordBatchWriter()
        writer.object {
            for (field, value) in zip(layout.fields, values) {
                writer.key(field.name)
                switch value {
                case .null: writer.null()
                case .integer(let value) where field.type == .boolean: writer.bool(value != 0)
                case .integer(let value): writer.int64(value)
                case .real(let value): writer.double(value)
                case .text(let value): writer.text(value)
                case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
                }
            }
        }
        self.values = try writer.finish()
    }
}
