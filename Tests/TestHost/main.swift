import BridgeHost

BridgeHost.serveIfAsked()
