import Foundation
package import PKIX

/// What keeps the sending or the receiving agent from its work.
package enum AgentError: Error, Sendable {
    /// The directory cannot be read.
    case unreadableFolder(path: String)
    /// The file, or what is in it, cannot be read.
    case unreadable(file: String, because: any Error)
    /// A file that is no mail has more bytes than keys and certificates have.
    case tooBigForKeys(file: String)
    /// A file asks for more iterations of key derivation than are allowed; `more` could be.
    case tooManyIterations(file: String, allowed: Int, more: Int)
    /// No certificate among the files of an import belongs to the private key in this one.
    case unpairedKey(file: String)
    /// The certificate of an identity names no address, and nothing else says whose it is.
    case unnamedIdentity(Certificate)
    /// Nothing in the files could be stored; what is wrong with the last of it, if anything is.
    case nothingToImport(Problem?)
}

extension AgentError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .unreadableFolder(let path): "\(path): cannot read the directory"
        case .unreadable(let file, let error): "\(MailSources.name(of: file)): \(error)"
        case .tooBigForKeys(let file): "\(MailSources.name(of: file)): too big for keys or certificates"
        case .tooManyIterations(let file, let allowed, _):
            "\(MailSources.name(of: file)): asks for more than \(allowed) \(PKCS12.iterationLimit)"
        case .unpairedKey(let file):
            "\(MailSources.name(of: file)): no certificate among the files belongs to this private key"
        case .unnamedIdentity(let certificate): "\(certificate.subject): the certificate names no address"
        case .nothingToImport(let problem): problem?.text ?? "nothing to import"
        }
    }
}
