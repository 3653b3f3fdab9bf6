internal import BMO
internal import Mapping
internal import Model

/// The model as a picture and as a table.
enum ModelPage {
    static func make(_ context: PageContext) -> HTMLPage {
        let bridges = context.workspace.configuration.bridges.map(\.name)
        return HTMLPage("Model") {
            PagePart.quiet(
                "Each box is a table, outlined in the colour of its bridge; • marks the key, → a reference. Lines lead to "
                    + "the entities that are referred to.")
            HTML("div", .class("scroll"), .role("region"), .label("Picture of the model"), .focusable) {
                ModelPicture(context.model).svg(bridges: bridges)
            }
            table(context)
        }
    }

    private static func table(_ context: PageContext) -> HTML {
        PagePart.table(
            "Entities", ["entity", "bridge", "key", "refers to", "lists"],
            context.model.entities.map { layout in
                [
                    PagePart.link(WebLink("entity", layout.name), layout.name),
                    HTML(text: context.model.model.entity(named: layout.name)?.bridge ?? ""),
                    HTML(text: layout.keyFields.map(\.name).joined(separator: ", ")),
                    HTML(
                        text: layout.toOne.map { "\($0.name): \(context.model.entities[$0.target].name)" }.joined(
                            separator: ", ")),
                    HTML(
                        text: layout.toMany.map { "\($0.name): \(context.model.entities[$0.target].name)" }.joined(
                            separator: ", ")),
                ]
            })
    }
}
