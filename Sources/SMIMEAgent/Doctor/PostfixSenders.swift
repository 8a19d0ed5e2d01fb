/// The senders from whom a port of Postfix takes mail, according to its restrictions.
///
/// Source: postconf(5), `smtpd_relay_restrictions`; SMTPD_ACCESS_README
struct PostfixSenders {
    /// The reason that our own users and programs may send to other hosts there; nil if they may not.
    let ownMail: String?
    /// Any host may send to our domains there.
    let takesStrangers: Bool

    /// - Returns: nil where nothing is known of the restrictions of `port`.
    init?(of port: PostfixWiring.Service, in wiring: PostfixWiring) {
        let lists = PostfixWiring.restrictions.map { name in
            (wiring.value(name, of: port) ?? "").split { ", \t".contains($0) }.map(String.init)
        }
        let words = lists.flatMap(\.self)
        guard !words.isEmpty else { return nil }
        // A list that ends with a plain `reject` only accepts the senders that it permits.
        takesStrangers = !lists.contains { $0.last == "reject" }
        let hasLogins = wiring.value("smtpd_sasl_auth_enable", of: port) == "yes"
        let relays = lists[1] + lists[2]
        if relays.contains("permit_sasl_authenticated"), hasLogins {
            ownMail = "users who log in"
        } else if relays.contains("permit_mynetworks"), wiring.parameters["mynetworks"] != "" {
            ownMail = "hosts in mynetworks, programs of this host among them,"
        } else {
            ownMail = nil
        }
    }
}
