import LibCrypto
import Synchronization

/// What may be spent on looking for chains, so that those who send hundreds of authorities do not keep us for long; and
/// what was read on the way, so that it is read once.
///
/// One unit is about the work of checking an RSA-2048 signature.
final class WorkBudget: Sendable {
    /// Enough for a thousand pairs of certificates that are not cached, which takes about half a second.
    private static let allowance = 5000
    /// What libcrypto takes to read two certificates.
    static let reading = 4
    /// Lists of no more bytes together stay in libcrypto's form, which is some times as long; a single one may be longer.
    private static let maximumHeld = 16 << 20

    private struct Held {
        var lists: [Fingerprint: Handle<X509_CRL>] = [:]
        var count = 0
    }

    private let remaining: Mutex<Int>
    private let held = Mutex(Held())

    convenience init() { self.init(remaining: Self.allowance) }

    private init(remaining: Int) { self.remaining = Mutex(remaining) }

    /// Whether nothing is left.
    var isSpent: Bool { remaining.withLock { $0 <= 0 } }

    /// A tenth of what is left, for something that may come to nothing.
    func share() -> WorkBudget {
        WorkBudget(
            remaining: remaining.withLock { remaining in
                let part = max(0, remaining / 10)
                remaining -= part
                return part
            }
        )
    }

    /// Returns the unused part of a share.
    func takeBack(_ share: WorkBudget) {
        let rest = share.remaining.withLock { max(0, $0) }
        remaining.withLock { $0 += rest }
    }

    func spend(_ units: Int) { remaining.withLock { $0 -= units } }

    /// Spends `units`, if there are any to spend; whether that much was left.
    func affords(_ units: Int) -> Bool {
        guard units > 0 else { return true }
        spend(units)
        return !isSpent
    }

    /// Keeps libcrypto's form of `list` for as long as there is anything to judge, so that it is made once.
    func hold(_ list: CertificateList) {
        guard let object = try? list.object() else { return }
        held.withLock { held in
            guard held.lists[list.fingerprint] == nil,
                held.count == 0 || held.count + list.der.count <= Self.maximumHeld
            else { return }
            held.lists[list.fingerprint] = object
            held.count += list.der.count
        }
    }
}
