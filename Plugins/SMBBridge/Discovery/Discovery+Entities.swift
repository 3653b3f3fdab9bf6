import BridgeKit
import Inference

/// The confidence of a guess, from 0 to 1, with its reasons.
struct Guess {
    var score: Double
    var reasons: [String]

    init(_ score: Double, _ reasons: String...) {
        self.score = score
        self.reasons = reasons
    }

    var confidence: EntityDescription.Confidence {
        EntityDescription.Confidence(
            score >= 0.8 ? .high : score >= 0.5 ? .medium : .low, reasons.joined(separator: "; "))
    }
}

extension Discovery {
    /// Returns the entity for the rows of files with the same columns.
    mutating func offer(_ samples: [Sample], _ all: [Sample], files: String) -> EntityDescription {
        let first = samples[0]
        let (patterns, stem) = patterns(for: samples.map(\.file), beside: all.map(\.file))
        let key = samples.count == 1 ? Self.key(first.fields) : nil
        var offer = EntityDescription(
            name(stem), section: BridgeOptions { writer in first.section.write(patterns, to: writer) })
        offer.proposals = [
            EntityDescription.Proposal(
                "incremental", "token", isOfSection: false,
                confidence: .high("a sync then reads only files that changed"))
        ]
        var guess = Guess(first.confidence - (key == nil ? 0.1 : 0))
        if samples.count > 1 { guess.reasons.append("\(samples.count) files have these columns") }
        guess.reasons += first.notes
        if first.rowCount < 5 { guess.reasons.append("only \(first.rowCount) rows seen") }
        if guess.reasons.isEmpty { guess.reasons.append("\(first.rowCount) rows seen") }
        offer.confidence = guess.confidence
        var keyGuess = Guess(1)
        // A sync identifies the skipped files' rows by their path.
        offer.fields = [EntityDescription.Field("@path", "text", isKey: key == nil)]
        if key == nil {
            offer.fields.append(EntityDescription.Field("@row", "integer", isKey: true))
            keyGuess = Guess(
                0.4, samples.count > 1 ? "rows of several files" : "no column distinguishes the rows",
                "the key is file and row")
        }
        for field in first.fields {
            let values = "in \(field.count) of \(first.rowCount) rows"
            offer.fields.append(
                EntityDescription.Field(
                    field.name, field.type ?? "text", isKey: field.name == key,
                    // CSV has no other way to leave out a number or a date.
                    transform: first.section.kind == "csv" && field.hasGaps && field.type ?? "text" != "text"
                        ? "empty_as_null" : nil,
                    confidence: field.type == "text" ? nil : field.count < 5 ? .medium(values) : .high(values)))
            guard field.name == key else { continue }
            keyGuess = Guess(
                (field.keyRank > 0 ? 0.9 : 0.6) - (first.rowCount < 5 ? 0.3 : 0),
                (field.keyRank > 0 ? "named \(field.name), " : "") + "unique in \(first.rowCount) rows")
        }
        offer.key = keyGuess.confidence
        offer.relationships = [
            EntityDescription.Relationship(
                "file", to: files, path: "@path", confidence: .high("where the row was read"))
        ]
        return offer
    }

    func offerFiles(_ name: String, _ folders: String) -> EntityDescription {
        var offer = EntityDescription(name, section: BridgeOptions { $0.member("files", "**") })
        offer.confidence = .high("\(survey.files.count) files seen" + part)
        offer.key = .high("a folder has each name once")
        offer.fields = [
            ("path", "text"), ("name", "text"), ("folder", "text"), ("extension", "text"), ("size", "integer"),
            ("modified", "timestamp"), ("created", "timestamp"), ("hidden", "boolean"), ("readonly", "boolean"),
        ].map { EntityDescription.Field($0, $1, isKey: $0 == "path") }
        offer.relationships = [parent(folders)]
        return offer
    }

    func offerFolders(_ name: String) -> EntityDescription {
        var offer = EntityDescription(name, section: BridgeOptions { $0.member("folders", "**") })
        offer.confidence = .high("\(survey.folders.count) folders seen" + part)
        offer.key = .high("a folder has each name once")
        offer.fields = [("path", "text"), ("name", "text"), ("folder", "text"), ("modified", "timestamp")]
            .map { EntityDescription.Field($0, $1, isKey: $0 == "path") }
        offer.relationships = [parent(name)]
        return offer
    }

    private var part: String { survey.isPartial ? "; only a part of the share was inspected" : "" }

    private func parent(_ folders: String) -> EntityDescription.Relationship {
        EntityDescription.Relationship(
            "parent", to: folders, path: "folder", confidence: .high("the folder that holds it"))
    }
}
