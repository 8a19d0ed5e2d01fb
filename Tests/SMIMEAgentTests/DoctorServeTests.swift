import Foundation
import SMIMEAgent
import TestSupport
import Testing

/// The checks of doctor for `smime serve`.
@Suite struct DoctorServeTests {
    private static let transport = "smime-out unix - - n - 20 lmtp -o lmtp_send_xforward_command=yes"
    private static let back =
        "127.0.0.1:10026 inet n - n - - smtpd -o content_filter= -o smtpd_relay_restrictions=permit_mynetworks,reject"

    private static func port(_ options: String) -> String {
        "submission inet n - n - - smtpd -o smtpd_sasl_auth_enable=yes -o receive_override_options=no_address_mappings "
            + "-o smtpd_relay_restrictions=permit_sasl_authenticated,reject "
            + "-o smtpd_sender_restrictions=reject_sender_login_mismatch \(options)"
    }

    private func codes(
        _ services: [String],
        _ parameters: [String: String] = [:],
        options: String = ""
    ) -> [String] {
        let parameters = ["mynetworks": "127.0.0.0/8"].merging(parameters) { $1 }
        let configuration = PostfixConfiguration(
            from: nil,
            listeners: ServeListener.all(in: options),
            nextHops: ServeListener.nextHops(in: options)
        ) { arguments in
            guard !arguments.contains("-M") else { return services.joined(separator: "\n") }
            return parameters.map { "\($0) = \($1)" }.joined(separator: "\n")
        }
        let found = Doctor(at: .judged).findings(of: configuration, timeLimit: 540)
        return found.filter { $0.level != .ok }.map(\.code).sorted()
    }

    @Test(arguments: [
        ("SERVE_OPTIONS=\"\n  --listen outgoing=lmtp:127.0.0.1:10025\n\"", ["serve-tcp"]),
        (
            "SERVE_OPTIONS=\"--listen outgoing=lmtp:unix:/run/smime/outgoing \\\n --listen=incoming=milter:[::1]:10025\"",
            ["serve-tcp"]
        ),
        ("SERVE_OPTIONS=--listen=outgoing=smtp:localhost:10025", ["serve-tcp"]),
        ("# --listen outgoing=lmtp:127.0.0.1:10025\nSERVE_OPTIONS='--listen outgoing=lmtp:fd:outgoing'", []),
        ("SERVE_OPTIONS='--next-hop outgoing=smtp:127.0.0.1:10026 --metrics 127.0.0.1:9464 --listen'", []),
        ("SERVE_OPTIONS='--listen neither=lmtp:127.0.0.1:10025 --listen outgoing'", []),
    ])
    func `The options of the service name what every user of the host can reach`(
        _ options: String,
        _ expected: [String]
    ) {
        #expect(Doctor(at: .judged).findings(of: ServeListener.all(in: options)).map(\.code) == expected)
    }

    @Test func `A port that leads to the service by a unix socket is well, and so is the one for its results`() {
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        #expect(codes([port, Self.transport, Self.back]).isEmpty)
        // If the transport has another name, it is recognized by the options of the service.
        let renamed = [port, Self.transport, Self.back].map { $0.replacing("smime-out", with: "crypto") }
        #expect(codes(renamed, options: "--listen outgoing=lmtp:unix:/run/smime/outgoing").isEmpty)
    }

    @Test func `A TCP port of this host is warned of, whichever way Postfix writes it`() {
        for address in ["[127.0.0.1]:10025", "inet:127.0.0.1:10025", "localhost:10025"] {
            let port = Self.port("-o content_filter=smime-out:\(address)")
            #expect(codes([port, Self.transport, Self.back]) == ["mta-serve-tcp"], "\(address)")
        }
        let milter = Self.port("-o smtpd_milters=inet:localhost:10025")
        #expect(codes([milter], options: "--listen outgoing=milter:unix:/run/smime/outgoing") == ["mta-filter"])
        #expect(codes([milter], options: "--listen outgoing=milter:127.0.0.1:10025").isEmpty)
    }

    @Test func `A socket at which nothing listens and a port for results that is missing are errors`() {
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoin")
        let listen = "--listen outgoing=lmtp:unix:/run/smime/outgoing"
        #expect(codes([port, Self.transport, Self.back], options: listen) == ["mta-filter"])
        #expect(codes([port, Self.transport, Self.back], options: "--listen outgoing=lmtp:fd:outgoing").isEmpty)
        let right = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        let hops = "--next-hop outgoing=smtp:127.0.0.1:10026 --next-hop incoming=smtp:localhost:10027"
        #expect(codes([right, Self.transport, Self.back], options: "\(listen) \(hops)") == ["mta-return"])
        let second = Self.back.replacing("10026", with: "10027")
        #expect(codes([right, Self.transport, Self.back, second], options: "\(listen) \(hops)").isEmpty)
    }

    @Test func `Nothing may permit mail before its sender is checked`() {
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        for before in ["permit_mynetworks", "permit_sasl_authenticated", "reject_unknown_sender_domain,permit"] {
            let late = port.replacing("=reject_sender", with: "=\(before),reject_sender")
            #expect(codes([late, Self.transport, Self.back]) == ["mta-senders"], "\(before)")
        }
        let rejecting = port.replacing("=reject_sender", with: "=reject_unknown_sender_domain,reject_sender")
        #expect(codes([rejecting, Self.transport, Self.back]).isEmpty)
    }

    @Test func `The queue id, all recipients at once, and the way out of a chroot are needed`() {
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        let plain = "smime-out unix - - y - 20 lmtp"
        let limits = ["smime-out_destination_recipient_limit": "50"]
        #expect(codes([port, plain, Self.back], limits) == ["mta-filter", "mta-recipient-limit", "mta-xforward"])
    }

    @Test func `A transport that breaks long lines is warned of`() {
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        let limits = ["lmtp_line_length_limit": "998", "smtp_line_length_limit": "998"]
        #expect(codes([port, Self.transport, Self.back], limits) == ["mta-line-length"])
        let unlimited = Self.transport + " -o lmtp_line_length_limit=0"
        #expect(codes([port, unlimited, Self.back], limits).isEmpty)
        #expect(codes([port, Self.transport, Self.back], ["lmtp_line_length_limit": "0"]).isEmpty)
    }

    @Test func `A milter must be the last, and mail must wait without it`() {
        let ours = "unix:/run/smime/outgoing"
        let first = Self.port("-o { smtpd_milters = \(ours), inet:localhost:8891 }")
        #expect(codes([first]) == ["mta-milter-order"])
        let last = Self.port("-o { smtpd_milters = inet:localhost:8891, { \(ours), connect_timeout=5s } }")
        #expect(codes([last]).isEmpty)
        // The service changes mail in place, so aliases are applied only once.
        #expect(codes([last.replacing("-o receive_override_options=no_address_mappings ", with: "")]).isEmpty)
        #expect(codes([last], ["milter_default_action": "accept"]) == ["mta-milter-action"])
    }

    @Test func `A listener for the other direction is reported`() {
        let port = Self.port("-o content_filter=smime-in:unix:/run/smime/incoming")
        let transport = Self.transport.replacing("smime-out", with: "smime-in")
        #expect(codes([port, transport, Self.back]) == ["mta-direction"])
    }

    /// The `out` in `south` is no direction, and the name of the transport counts before that of the host.
    @Test func `The direction is in the words of a name`() {
        let port =
            "smtp inet n - n - - smtpd -o receive_override_options=no_address_mappings "
            + "-o smtpd_relay_restrictions=reject_unauth_destination -o content_filter="
        let transport = Self.transport.replacing("smime-out", with: "gw-in")
        for hop in ["smime.south.example:10026", "smime-out.example:10026"] {
            #expect(codes([port + "gw-in:\(hop)", transport, Self.back]) == ["mta-serve-tcp"], "\(hop)")
        }
        let submission = Self.port("-o content_filter=gw:smime-out.example.in:10025")
        let gateway = Self.transport.replacing("smime-out", with: "gw")
        #expect(codes([submission, gateway, Self.back]) == ["mta-serve-tcp"])
        let named = [Self.port("-o content_filter=smimein:unix:/run/smime/a"), "smimein unix - - n - 20 lmtp"]
        #expect(codes(named + [Self.back]).contains("mta-direction"))
    }

    @Test func `A port of this host that has no filter by mistake is not taken for the one for results`() {
        let stray = Self.back.replacing("-o content_filter= ", with: "")
        let port = Self.port("-o content_filter=smime-out:unix:/run/smime/outgoing")
        #expect(codes([port, Self.transport, stray]) == ["mta-relay", "mta-unfiltered"])
    }
}
