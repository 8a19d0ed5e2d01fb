/// Source: postconf(5) `content_filter`, `smtpd_milters`; MILTER_README
extension PostfixWiring {
    /// The service or milter through which a port passes its mail to smime.
    struct Route {
        /// The name of the service in master.cf that runs or connects to smime, or the address of a milter.
        let name: String
        let direction: Direction?
        /// The address of `smime serve` in the form that `ServeListener.address(_:)` returns; nil for `smime filter`.
        let address: String?
        let isMilter: Bool
    }

    /// How the mail of `port` reaches smime; nil if it does not.
    func route(of port: Service) -> Route? {
        if let filter = contentFilter(of: port), let service = services.first(where: { $0.name == filter.transport }) {
            if service.filter != nil {
                return Route(name: service.name, direction: service.direction, address: nil, isMilter: false)
            }
            let address = ServeListener.address(filter.nextHop)
            if ["lmtp", "smtp"].contains(service.program), isServe(address, named: service.name) {
                let direction = direction(of: address, named: service.name)
                return Route(name: service.name, direction: direction, address: address, isMilter: false)
            }
        }
        let milters = milters(of: port).map(ServeListener.address)
        return milters.first { isServe($0, named: "") }.map {
            Route(name: $0, direction: direction(of: $0, named: $0), address: $0, isMilter: true)
        }
    }

    /// The addresses of a port's milters, without the settings in braces that may follow each address.
    func milters(of port: Service) -> [String] {
        let list = value("smtpd_milters", of: port) ?? ""
        return list.split { ", {}\t".contains($0) }.map(String.init).filter { $0.contains(":") }
    }

    /// The services in master.cf that pass mail to `smime serve`.
    var serveTransports: [Service] {
        let names = Set(
            services.compactMap { route(of: $0).flatMap { $0.address != nil && !$0.isMilter ? $0.name : nil } }
        )
        return services.filter { names.contains($0.name) && $0.program != "smtpd" }
    }

    /// Whether `smime serve` sends its results to this port. Such a port accepts mail from this host only, and passes mail to
    /// no filter.
    func isReturn(_ port: Service) -> Bool {
        let isLocal = ["127.", "[::1]", "localhost"].contains { port.name.hasPrefix($0) }
        return isLocal && port.override("content_filter") == "" && route(of: port) == nil
            && services.contains { route(of: $0)?.address != nil }
    }

    /// Whether `address` belongs to `smime serve`: one of the listeners in the service's options, or else an address or
    /// service with `smime` in its name. The names decide if the options are elsewhere or cannot be read.
    private func isServe(_ address: String, named name: String) -> Bool {
        listeners.contains { $0.address == address } || name.hasPrefix("smime") || address.contains("smime")
    }

    private func direction(of address: String, named name: String) -> Direction? {
        if let listener = listeners.first(where: { $0.address == address }) { return listener.direction }
        let texts = [name, address]
        if texts.contains(where: { $0.contains("out") }) { return .outgoing }
        return texts.contains { $0.contains("smime-in") || $0.contains("incoming") } ? .incoming : nil
    }
}
