#if !SHORT
import InternetMessage
import SMIMEAgent
import SMIMEGateway
import ByteStreams

extension Target {
    /// A message's requests to the sending policy: X-SMIME fields, subject tags, Bcc.
    static let policy = Target(name: "policy") { bytes in
        _ = ProtectionRequest(parsing: String(decoding: bytes, as: UTF8.self))
        guard let controls = try? MessageControls(of: MemorySource(bytes), tags: .standard) else { return }
        let header = controls.message.header
        for name in ["X-SMIME", "Bcc", "Resent-Bcc"] {
            require(header.all(name).isEmpty, "\(name) is taken out")
        }
        guard let again = try? MIMEReader.message(in: controls.source) else { return }
        require(again.partRanges == controls.message.partRanges, "the structure is that of the edited message")
        _ = try? controls.visibleRecipients()
    }
}

extension Entity {
    /// The ranges of all bodies, the outermost first.
    fileprivate var partRanges: [Range<Int>] { children.reduce([bodyRange]) { $0 + $1.partRanges } }
}
#endif
