import BridgeKit
import RecordBatch

/// A proposed entity, in the form that docs/bridges.md describes under discovery.
struct ShareOffer {
    /// The confidence of a guess, from 0 to 1, with its reasons.
    struct Guess {
        var score: Double
        var reasons: [String]

        init(_ score: Double, _ reasons: String...) {
            self.score = score
            self.reasons = reasons
        }

        func write(to writer: RecordBatchWriter) {
            writer.member("confidence", score >= 0.8 ? "high" : score >= 0.5 ? "medium" : "low")
            writer.member("reason", reasons.joined(separator: "; "))
        }
    }

    struct Field {
        var name: String
        var type: String
        var isKey = false
        /// Whether an empty text counts as missing: CSV has no other way to omit a number or a date.
        var emptyIsNull = false
        var guess: Guess?
    }

    struct Relationship {
        var name: String
        var target: String
        var path: String
        var guess: Guess
    }

    var name: String
    var fields: [Field] = []
    var relationships: [Relationship] = []
    var key = Guess(1)
    var guess = Guess(1)
    /// Whether files are read, so that a later sync can skip unchanged ones.
    var readsFiles = false
    let section: (RecordBatchWriter) -> Void

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", name)
            guess.write(to: writer)
            writer.key("key")
            writer.object { key.write(to: writer) }
            writer.key("fields")
            writer.array {
                for field in fields {
                    writer.object {
                        writer.member("name", field.name)
                        writer.member("type", field.type)
                        writer.member("key", field.isKey)
                        if field.emptyIsNull { writer.member("transform", "empty_as_null") }
                        field.guess?.write(to: writer)
                    }
                }
            }
            writer.key("relationships")
            writer.array {
                for relationship in relationships {
                    writer.object {
                        writer.member("name", relationship.name)
                        writer.member("to", relationship.target)
                        writer.member("from", relationship.path)
                        relationship.guess.write(to: writer)
                    }
                }
            }
            writer.key("section")
            writer.object { section(writer) }
            guard readsFiles else { return }
            writer.key("proposals")
            writer.array {
                writer.object {
                    writer.member("name", "incremental")
                    writer.member("value", "token")
                    writer.member("of_section", false)
                    Guess(0.9, "a sync then reads only files that moved").write(to: writer)
                }
            }
        }
    }
}

extension Discovery {
    /// Returns the entity for the rows of files with the same columns.
    mutating func offer(_ samples: [Sample], _ all: [Sample], files: String) -> ShareOffer {
        let first = samples[0]
        let (patterns, stem) = patterns(for: samples.map(\.file), beside: all.map(\.file))
        let key = samples.count == 1 ? Self.key(first.fields) : nil
        var offer = ShareOffer(name: name(stem)) { first.section.write(patterns, to: $0) }
        offer.readsFiles = true
        offer.guess = ShareOffer.Guess(first.confidence - (key == nil ? 0.1 : 0))
        if samples.count > 1 { offer.guess.reasons.append("\(samples.count) files have these columns") }
        offer.guess.reasons += first.notes
        if first.rowCount < 5 { offer.guess.reasons.append("only \(first.rowCount) rows seen") }
        if offer.guess.reasons.isEmpty { offer.guess.reasons.append("\(first.rowCount) rows seen") }
        // A sync identifies the skipped files' rows by their path.
        offer.fields = [ShareOffer.Field(name: "@path", type: "text", isKey: key == nil)]
        if key == nil {
            offer.fields.append(ShareOffer.Field(name: "@row", type: "integer", isKey: true))
            offer.key = ShareOffer.Guess(
                0.4, samples.count > 1 ? "rows of several files" : "no column tells the rows apart",
                "the key is file and row")
        }
        for field in first.fields {
            let values = "in \(field.count) of \(first.rowCount) rows"
            offer.fields.append(
                ShareOffer.Field(
                    name: field.name, type: field.type ?? "text", isKey: field.name == key,
                    emptyIsNull: first.section.kind == "csv" && field.hasGaps && field.type ?? "text" != "text",
                    guess: field.type == "text" ? nil : ShareOffer.Guess(field.count < 5 ? 0.6 : 0.9, values)))
            guard field.name == key else { continue }
            offer.key = ShareOffer.Guess(
                (field.keyRank > 0 ? 0.9 : 0.6) - (first.rowCount < 5 ? 0.3 : 0),
                (field.keyRank > 0 ? "named \(field.name), " : "") + "unique in \(first.rowCount) rows")
        }
        offer.relationships = [
            ShareOffer.Relationship(
                name: "file", target: files, path: "@path", guess: ShareOffer.Guess(1, "where the row was read"))
        ]
        return offer
    }

    func offerFiles(_ name: String, _ folders: String) -> ShareOffer {
        var offer = ShareOffer(name: name) { $0.member("files", "**") }
        offer.guess = ShareOffer.Guess(1, "\(survey.files.count) files seen" + part)
        offer.key = ShareOffer.Guess(1, "a folder has each name once")
        offer.fields = [
            ("path", "text"), ("name", "text"), ("folder", "text"), ("extension", "text"), ("size", "integer"),
            ("modified", "timestamp"), ("created", "timestamp"), ("hidden", "boolean"), ("readonly", "boolean"),
        ].map { ShareOffer.Field(name: $0, type: $1, isKey: $0 == "path") }
        offer.relationships = [parent(folders)]
        return offer
    }

    func offerFolders(_ name: String) -> ShareOffer {
        var offer = ShareOffer(name: name) { $0.member("folders", "**") }
        offer.guess = ShareOffer.Guess(1, "\(survey.folders.count) folders seen" + part)
        offer.key = ShareOffer.Guess(1, "a folder has each name once")
        offer.fields = [("path", "text"), ("name", "text"), ("folder", "text"), ("modified", "timestamp")]
            .map { ShareOffer.Field(name: $0, type: $1, isKey: $0 == "path") }
        offer.relationships = [parent(name)]
        return offer
    }

    private var part: String { survey.isPartial ? "; only a part of the share was looked at" : "" }

    private func parent(_ folders: String) -> ShareOffer.Relationship {
        ShareOffer.Relationship(
            name: "parent", target: folders, path: "folder", guess: ShareOffer.Guess(1, "the folder that holds it"))
    }
}
