import Foundation

/// The exit statuses, from sysexits(3). A thrown status ends the process without a message.
enum ExitStatus: Int32, Error, Comparable {
    case success = 0
    /// The answer is no: a signature that is not valid, a certificate that expires.
    case negative = 1
    /// doctor: mail is or will be stopped.
    case outage = 2
    case usage = 64
    /// The input is not what it should be.
    case badData = 65
    /// An input file cannot be opened.
    case noInput = 66
    /// Unknown account, or a recipient without a usable certificate.
    case noUser = 67
    /// A service needed for the answer cannot be reached.
    case unavailable = 69
    /// Our own fault.
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case tryAgain = 75
    /// Wrong passphrase, locked key, or permissions.
    case noPermission = 77
    /// Configuration or store unusable.
    case configuration = 78

    static func < (a: ExitStatus, b: ExitStatus) -> Bool { a.rawValue < b.rawValue }
}
