/// The senders from whom a port of Postfix accepts mail, according to the port's restrictions.
///
/// Source: postconf(5), `smtpd_relay_restrictions`; SMTPD_ACCESS_README
struct PostfixSenders {
    /// Which users or hosts of ours may send mail to other hosts through the port, as the subject of a sentence; nil if none
    /// may.
    let relaySenders: String?
    /// Whether any host may send mail to this host's domains through the port.
    let acceptsAnyClient: Bool

    /// - Returns: nil if the restrictions of `port` are unknown.
    init?(of port: PostfixConfiguration.Service, in configuration: PostfixConfiguration) {
        let lists = PostfixConfiguration.restrictions.map { name in
            (configuration.value(name, of: port) ?? "").split { ", \t".contains($0) }.map(String.init)
        }
        let words = lists.flatMap(\.self)
        guard !words.isEmpty else { return nil }
        // A list that ends with a plain `reject` accepts mail only from the clients that it permits.
        acceptsAnyClient = !lists.contains { $0.last == "reject" }
        let hasLogins = configuration.value("smtpd_sasl_auth_enable", of: port) == "yes"
        let relays = lists[1] + lists[2]
        if relays.contains("permit_sasl_authenticated"), hasLogins {
            relaySenders = "users who log in"
        } else if relays.contains("permit_mynetworks"), configuration.parameters["mynetworks"] != "" {
            relaySenders = "hosts in mynetworks, programs of this host among them,"
        } else {
            relaySenders = nil
        }
    }
}
