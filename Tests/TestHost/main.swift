import BridgeHost
import Logging

// Under this name it is a program that forgot to serve.
if CommandLine.arguments.first?.hasSuffix("/ForgetfulHost") == true {
    print("the program's own main")
    _ = BridgeHost(logger: Logger(label: "forgetful"))
    print("goes on")
} else {
    BridgeHost.serveIfAsked()
}
