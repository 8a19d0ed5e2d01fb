package import Foundation
package import LibCrypto

/// The key of a store in memory, for one user and a limited time. Decides how to answer a program's request; `KeyAgent`
/// handles the sockets.
package struct KeptKey: Sendable {
    /// A request of another program of the user, sent as one byte.
    package enum Request: UInt8, Sendable {
        /// To wipe the key.
        case forget = 0x66
        /// To send the key.
        case key = 0x6B
    }

    /// The answer to a request.
    package enum Answer: Equatable, Sendable {
        /// The program gets no key, and the key stays in memory.
        case refused
        /// The program gets no key, because the key is wiped: a program requested this, or the time is over.
        case gone
        /// The program gets the key.
        case key
    }

    package let key: LockedBytes
    /// The user to whom the key belongs.
    package let user: uid_t
    /// When the key is wiped. The clock also advances while the machine sleeps.
    package let end: ContinuousClock.Instant

    package init(_ key: LockedBytes, of user: uid_t, until end: ContinuousClock.Instant) {
        self.key = key
        self.user = user
        self.end = end
    }

    /// Whether the time of the key is over.
    package func hasEnded(at time: ContinuousClock.Instant) -> Bool { time >= end }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - byte: the request; nil if the program sent none.
    ///   - peer: the user of the requesting program, as the system reports it; nil if the system does not.
    package func answer(_ byte: UInt8?, from peer: uid_t?, at time: ContinuousClock.Instant) -> Answer {
        guard !hasEnded(at: time) else { return .gone }
        guard peer == user else { return .refused }
        return switch byte.flatMap(Request.init) {
        case .forget: .gone
        case .key: .key
        case nil: .refused
        }
    }
}
