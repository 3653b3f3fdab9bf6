/// The header fields of every response, which restrict what a browser does with it.
enum SecurityHeaders {
    static let all: [(name: String, value: String)] = [
        // Content Security Policy, level 3: no script at all, no style inside the page, no frame around it.
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        // With `no-referrer`, a browser would send `Origin: null` with forms.
        ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]
}
