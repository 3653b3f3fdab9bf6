internal import BMO
internal import Model

/// The configuration as it is used, and the faults of the file as it is now; never a value of an option, which may be a
/// secret.
enum ConfigurationPage {
    static func make(_ context: PageContext) async throws -> HTMLPage {
        let faults = await faults(context.workspace)
        let configuration = context.workspace.configuration
        return HTMLPage("Configuration") {
            HTML("p") {
                "File "
                HTML("code") { configuration.file }
                ", as bmo serve uses it. It follows changes to the file within a few seconds; while the file has faults, it "
                "goes on with what it read before."
            }
            HTML("h2") { "Faults of the file now" }
            if faults.isEmpty { HTML("p", .class("good")) { "None, as far as bmo can tell without the bridges." } }
            for fault in faults {
                PagePart.notice(fault.severity == .error ? .bad : .warn) {
                    HTML("p") {
                        HTML("code") { "\(fault.location)" }
                        ": \(fault.message)"
                    }
                    if let remedy = fault.remedy { HTML("p", .class("quiet")) { remedy } }
                }
            }
            HTML("h2") { "Bridges" }
            PagePart.table(
                "Bridges", ["bridge", "plugin", "runs", "line"],
                configuration.bridges.map { bridge in
                    [
                        HTML(text: bridge.name), HTML(text: bridge.plugin),
                        HTML(text: bridge.isolation?.rawValue ?? "by default"), HTML("code") { "\(bridge.location)" },
                    ]
                })
            HTML("h2") { "Entities" }
            PagePart.table(
                "Entities", ["entity", "bridge", "key", "attributes", "writable", "deletes", "line"],
                configuration.model.entities.map { entity in
                    [
                        PagePart.link(WebLink("entity", entity.name), entity.name), HTML(text: entity.bridge),
                        HTML(text: entity.key.joined(separator: ", ")),
                        HTML(text: entity.attributes.map { "\($0.name): \($0.type.rawValue)" }.joined(separator: ", ")),
                        HTML(text: configuration.model.isWritable(entity) ? "yes" : "no"),
                        HTML(text: entity.deletes.mode.rawValue), HTML("code") { "\(entity.location)" },
                    ]
                })
        }
    }

    private static func faults(_ workspace: Workspace) async -> [Diagnostic] {
        do {
            let now = try await Workspace.load(
                path: workspace.configuration.file, host: workspace.host, stores: workspace.stores)
            return now.configuration.warnings
        } catch let errors as ConfigurationErrors {
            return errors.diagnostics
        } catch {
            return [Diagnostic(location: .unknown, message: "The file cannot be read: \(error)")]
        }
    }
}
