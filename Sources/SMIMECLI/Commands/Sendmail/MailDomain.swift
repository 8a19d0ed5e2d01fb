import Foundation
import SMIMEAgent

/// The domain of mail that users of this host send: the content of /etc/mailname (Debian Policy §11.6), or else the host's
/// full name.
enum MailDomain {
    static var current: HostName {
        let text = try? String(contentsOfFile: "/etc/mailname", encoding: .utf8)
        let name = text?.split(separator: "\n").first.map { $0.trimmingCharacters(in: .whitespaces) }
        return name.flatMap { HostName($0) } ?? HostName()
    }
}
