extension DoctorPostfixCheck {
    /// Checks that each port has the filter for its direction. Mail of this host's users that passes only the incoming
    /// filter, or no filter, is sent unencrypted, even if a rule requires encryption.
    mutating func checkDirection(of port: PostfixWiring.Service) {
        guard let senders = PostfixSenders(of: port, in: wiring) else { return }
        let route = wiring.route(of: port)
        let filter = route?.name
        switch route?.direction {
        case .incoming where !senders.acceptsAnyClient:
            addDirection(
                "\(port.name): only our own users send there, and \(filter ?? "") is the incoming filter: nothing is signed or encrypted, whatever a rule requires",
                hint: "give it the outgoing one: \(contentFilter(.outgoing))"
            )
        case .outgoing where senders.acceptsAnyClient:
            addDirection(
                "\(port.name): other hosts send there, and \(filter ?? "") is the outgoing filter: their mail is not verified, and may get an account's signature",
                hint:
                    "let only users send there: -o smtpd_relay_restrictions=permit_sasl_authenticated,reject; or give it the incoming filter: \(contentFilter(.incoming))"
            )
        case .outgoing:
            break
        case .incoming, nil:
            guard let own = senders.relaySenders else { return }
            add(
                "mta-relay",
                .warning,
                text:
                    "\(port.name): \(own) may send mail to other hosts there, and none of this mail is signed or encrypted, whatever a rule requires",
                remedies: [
                    .advice(
                        "let them send through a port with the outgoing filter; at \(port.name) accept only mail for this host's domains: -o smtpd_relay_restrictions=reject_unauth_destination"
                    )
                ]
            )
        }
    }

    /// A filter that is called without a direction fails with a usage error for every mail.
    mutating func checkDirectionGiven(_ service: PostfixWiring.Service) {
        guard service.direction == nil else { return }
        addDirection(
            "\(service.name): smime filter has neither outgoing nor incoming as its argument",
            hint: "write outgoing or incoming after filter"
        )
    }

    private func contentFilter(_ direction: PostfixWiring.Direction) -> String {
        let port = wiring.ports.first {
            wiring.route(of: $0).map { $0.direction == direction && !$0.isMilter } ?? false
        }
        if let value = port.flatMap({ wiring.contentFilter(of: $0) }) {
            return "content_filter=\(value.transport):\(value.nextHop)"
        }
        let service = wiring.services.first { $0.direction == direction }
        return "content_filter=\(service?.name ?? (direction == .outgoing ? "smime-out" : "smime-in")):filter"
    }

    private mutating func addDirection(_ text: String, hint: String) {
        add("mta-direction", .error, text: text, remedies: [.advice(hint)])
    }
}
