internal import RecordBatch

/// The hello of a child process: the plugin's identity and description, or the reason for its refusal.
enum PluginHello {
    /// Encodes the first part of a hello.
    static func batch(_ identity: PluginIdentity) throws(RecordBatchError) -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            for (key, value) in [
                ("name", identity.name), ("version", identity.version), ("kit", identity.kit),
                ("compiler", identity.compiler),
            ] {
                writer.key(key)
                writer.text(value)
            }
            writer.key("abi_major")
            writer.int64(Int64(identity.abiMajor))
            writer.key("abi_minor")
            writer.int64(Int64(identity.abiMinor))
        }
        return try writer.finish()
    }

    /// Encodes a refusal.
    static func batch(refusal: String) throws(RecordBatchError) -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("refusal")
            writer.text(refusal)
        }
        return try writer.finish()
    }

    /// Decodes a hello into a listing.
    static func listing(path: String, _ reply: BridgeReply) -> PluginListing {
        do {
            switch reply {
            case .lost(let failure):
                return PluginListing(path: path, refusal: failure.message)
            case .failed(let bytes):
                let refusal = try bytes.flatMap { try record($0) }?.text("refusal")
                return PluginListing(path: path, refusal: refusal ?? "the inspection gave no reason")
            case .done(let identity, let description):
                guard let identity = try identity.flatMap({ try self.identity($0) }) else {
                    return PluginListing(path: path, refusal: "the inspection gave no identity")
                }
                var listing = PluginListing(path: path, identity: identity)
                do {
                    try describe(&listing, description)
                } catch {
                    listing.refusal = "its description is invalid: \(error.reason)"
                }
                return listing
            }
        } catch {
            return PluginListing(path: path, refusal: "the inspection gave an unreadable answer: \(error)")
        }
    }

    private static func record(_ bytes: ForeignBytes) throws(RecordBatchError) -> OwnedRecord? {
        OwnedRecord(try bytes.batch())
    }

    private static func identity(_ bytes: ForeignBytes) throws(RecordBatchError) -> PluginIdentity? {
        guard let record = try record(bytes), let name = record.text("name"),
            let major = record.integer("abi_major"), let minor = record.integer("abi_minor")
        else { return nil }
        return PluginIdentity(
            name: name, version: record.text("version") ?? "", abiMajor: UInt16(clamping: major),
            abiMinor: UInt16(clamping: minor), kit: record.text("kit") ?? "", compiler: record.text("compiler") ?? "")
    }

    /// Decodes the plugin's own description, which has not been validated yet.
    private static func describe(_ listing: inout PluginListing, _ bytes: ForeignBytes?) throws(PluginRefusal) {
        guard let bytes else { throw PluginRefusal(reason: "it is empty") }
        let batch: RecordBatch
        do {
            batch = try bytes.batch()
        } catch {
            throw PluginRefusal(reason: error.description)
        }
        defer { withExtendedLifetime(batch) {} }
        guard let record = OwnedRecord(batch) else { throw PluginRefusal(reason: "it is not one object") }
        guard record.text("name") == listing.name else {
            throw PluginRefusal(
                reason: "`name` is `\(record.text("name")?.cut(to: 64) ?? "")`, but bmo_bridge_info says "
                    + "`\(listing.name)`")
        }
        listing.summary = try text(record, "summary").onOneLine
        listing.optionsSchema = try text(record, "options_schema")
        listing.entitySchema = try text(record, "entity_schema")
        let isolation = try text(record, "isolation")
        guard let known = PluginListing.Isolation(rawValue: isolation) else {
            throw PluginRefusal(reason: "`isolation` is `\(isolation.cut(to: 64))`, not in_process or child_process")
        }
        listing.isolation = known
        guard let concurrent = record["concurrent"]?.boolean else {
            throw PluginRefusal(reason: "`concurrent` is not a bool")
        }
        listing.isConcurrent = concurrent
        guard let capabilities = record["capabilities"], capabilities.tag == .array else {
            throw PluginRefusal(reason: "`capabilities` is not an array")
        }
        for capability in capabilities.elements {
            guard capability.tag == .text else { throw PluginRefusal(reason: "a capability is not text") }
            listing.capabilities.append(capability.string.onOneLine.cut(to: 64))
        }
    }

    private static func text(_ record: OwnedRecord, _ member: String) throws(PluginRefusal) -> String {
        guard let value = record[member], value.tag == .text else {
            throw PluginRefusal(reason: "`\(member)` is not text")
        }
        return value.string
    }
}
