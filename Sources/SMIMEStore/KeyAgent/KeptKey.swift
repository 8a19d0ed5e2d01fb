package import Foundation
package import LibCrypto

/// The key of a store in memory, for one user and a limited time. Decides which answer a program gets; sockets are `KeyAgent`'s.
package struct KeptKey: Sendable {
    /// What another program of the user asks, in one byte.
    package enum Request: UInt8, Sendable {
        /// To forget the key.
        case forget = 0x66
        /// The key.
        case key = 0x6B
    }

    /// What it gets.
    package enum Answer: Equatable, Sendable {
        /// Nothing, and the key stays.
        case refused
        /// No key: it was to be forgotten, or its time is over, and it is wiped.
        case gone
        /// The key.
        case key
    }

    package let key: LockedBytes
    /// Whose it is.
    package let user: uid_t
    /// When it is wiped. The clock also runs while the machine sleeps.
    package let end: ContinuousClock.Instant

    package init(_ key: LockedBytes, of user: uid_t, until end: ContinuousClock.Instant) {
        self.key = key
        self.user = user
        self.end = end
    }

    /// Whether its time is over.
    package func hasEnded(at time: ContinuousClock.Instant) -> Bool { time >= end }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - byte: the request; nil if none came.
    ///   - peer: the user of the program that asks, as the system says it; nil if it does not.
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
