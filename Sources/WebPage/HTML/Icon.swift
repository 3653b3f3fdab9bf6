/// The site's icon in a browser's tab.
package enum Icon {
    /// The picture as SVG.
    package static let text = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0a58ca"/>\
        <circle cx="5.5" cy="7" r="1.8" fill="#fff"/><circle cx="10.5" cy="7" r="1.8" fill="#fff"/>\
        <rect x="4" y="11" width="8" height="1.4" rx=".7" fill="#fff"/></svg>

        """
}
