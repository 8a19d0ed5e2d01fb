/// The servers of a mail account on a device.
package enum MailServers: Sendable {
    /// A server and its port. If `port` is nil, the device tries the usual ports.
    package struct Server: Sendable {
        let host: HostName
        let port: UInt16?

        /// Reads `mail.example.org` or `mail.example.org:993`; nil if `text` has another form.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard let first = parts.first, let host = HostName(String(first)), parts.count <= 2 else { return nil }
            self.host = host
            guard parts.count == 2 else {
                port = nil
                return
            }
            guard let port = UInt16(parts[1]), port > 0 else { return nil }
            self.port = port
        }
    }

    case imap(incoming: Server, outgoing: Server)
    /// One Exchange ActiveSync server, for receiving and sending.
    case exchange(Server)
}
