import ArgumentParser
package import SMIMEServer

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension SocketName: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension NetworkRange: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension LogDestination: ExpressibleByArgument {}
