import LibCrypto
import Synchronization

/// The cost that is allowed for building and checking chains, so that a sender of hundreds of authorities cannot keep the
/// program busy. Also keeps libcrypto's objects of the revocation lists that are parsed meanwhile.
///
/// One unit is at most about 50 µs of one processor (measured in 2026): the slow elliptic curves take that long for each of
/// their units, RSA and DSA less than half as long.
final class WorkBudget: Sendable {
    /// The budget of one validator: enough for 500 pairs of certificates with keys of usual size that are not cached, at most
    /// about half a second.
    private static let allowance = 5000
    /// The cost for libcrypto of parsing two certificates.
    static let reading = 4
    /// The maximum total size, in bytes, of the lists whose libcrypto objects are cached. The objects are several times
    /// larger than the lists. A single list may exceed this size.
    private static let maximumSize = 16 << 20

    private struct CachedLists {
        var objects: [Fingerprint: Handle<X509_CRL>] = [:]
        /// The bytes of all lists together.
        var size = 0
    }

    private let remaining: Mutex<Int>
    private let cached = Mutex(CachedLists())

    convenience init() { self.init(remaining: Self.allowance) }

    private init(remaining: Int) { self.remaining = Mutex(remaining) }

    /// Whether the budget is exhausted.
    var isSpent: Bool { remaining.withLock { $0 <= 0 } }

    /// Takes a tenth of the remaining budget, for work whose result may not be needed.
    func share() -> WorkBudget {
        WorkBudget(
            remaining: remaining.withLock { remaining in
                let part = max(0, remaining / 10)
                remaining -= part
                return part
            }
        )
    }

    /// Adds the unused part of `share` to this budget again.
    func reclaimUnused(of share: WorkBudget) {
        let rest = share.remaining.withLock { max(0, $0) }
        remaining.withLock { $0 += rest }
    }

    func spend(_ units: Int) { remaining.withLock { $0 -= units } }

    /// Spends `units`. Returns whether any budget is left afterwards; if `units` is 0, nothing is spent and the result is
    /// true.
    func trySpend(_ units: Int) -> Bool {
        guard units > 0 else { return true }
        spend(units)
        return !isSpent
    }

    /// Keeps libcrypto's object of `list` until the judgements end, so that the list is parsed only once.
    func keepObject(of list: CertificateList) {
        guard let object = try? list.object() else { return }
        cached.withLock { cached in
            guard cached.objects[list.fingerprint] == nil,
                cached.size == 0 || cached.size + list.der.count <= Self.maximumSize
            else { return }
            cached.objects[list.fingerprint] = object
            cached.size += list.der.count
        }
    }
}
