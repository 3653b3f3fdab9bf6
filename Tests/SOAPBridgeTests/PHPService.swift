import TestSupport

/// A service of PHP's SoapServer: 2,345 products, both versions of SOAP, document/literal and rpc/literal.
enum PHPService {
    static let files = ["server.php": script, "service.wsdl": wsdl]

    static let count = 2_345

    private static let script = TestServers.text("products.php")

    private static let wsdl = TestServers.text("products.wsdl")
}
