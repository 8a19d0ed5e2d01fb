import Foundation

/// The exit statuses; those from 64 on are from sysexits(3). A thrown status ends the process without a message.
enum ExitStatus: Int32, Error, Comparable {
    case success = 0
    /// The answer is no: for example, a signature is not valid, or a certificate expires soon.
    case negative = 1
    /// doctor: mail is stopped, or will be stopped.
    case outage = 2
    case usage = 64
    /// The input is malformed or of the wrong kind.
    case badData = 65
    /// An input file cannot be opened, or the store does not exist.
    case noInput = 66
    /// An unknown account, or a recipient without a usable certificate.
    case noUser = 67
    /// A host is unknown. This status, `systemError`, `systemFile` and `protocolError` are only passed on from the program that
    /// `smime sendmail` calls.
    case noHost = 68
    /// A service that is needed for the answer cannot be reached.
    case unavailable = 69
    /// An error in smime itself.
    case software = 70
    case systemError = 71
    case systemFile = 72
    case cannotCreate = 73
    case inputOutput = 74
    case tryAgain = 75
    case protocolError = 76
    /// A wrong passphrase, a locked key, no key for this mail, missing permissions, or no confirmation by the user.
    case noPermission = 77
    /// The configuration or the store is unusable.
    case configuration = 78

    static func < (a: ExitStatus, b: ExitStatus) -> Bool { a.rawValue < b.rawValue }
}
