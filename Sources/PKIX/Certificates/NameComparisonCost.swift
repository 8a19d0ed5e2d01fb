/// The cost for libcrypto to read the certificates of a path, and to compare the names in each with the name
/// constraints of all certificates above it.
///
/// RFC 5280 §6.1.3 (b), (c)
struct NameComparisonCost {
    /// The first certificate that holds more than is compared; it is not judged.
    let excess: Certificate?
    /// The work, in the units of `WorkBudget`; 0 where it is as usual.
    let units: Int

    init(_ path: [Certificate]) {
        excess = path.first(where: \.isExcessive)
        var units = 0
        var (constraints, bytes) = (0, 0)
        for certificate in path.reversed() {
            let parts = certificate.comparedParts
            // Each name is compared with each constraint, and both are searched for the beginning of the domain.
            let pairs = parts.names * constraints
            units += (parts.names * bytes + parts.nameBytes * constraints + pairs * 50) / Self.bytesPerUnit
            constraints += parts.constraints
            bytes += parts.constraintBytes
            units += certificate.readingCost
        }
        if let leaf = path.first, !leaf.internationalAddresses.isEmpty {
            let addresses = leaf.internationalAddresses.count + leaf.comparedParts.names
            units += addresses * constraints / Self.internationalPairsPerUnit
        }
        self.units = units
    }

    /// How many bytes libcrypto looks at in the time of one unit.
    private static let bytesPerUnit = 100_000
    /// How many international addresses `MailConstraints` compares in the time of one unit.
    private static let internationalPairsPerUnit = 50
}

/// The parts of a certificate that are compared with those of others.
struct ComparedParts: Sendable {
    /// The subject's names, those of its distinguished name among them.
    var names = 0
    var nameBytes = 0
    /// The name constraints.
    var constraints = 0
    var constraintBytes = 0
    /// The names of the distribution points of revocation lists.
    var points = 0

    var count: Int { names + constraints + points }
}

extension Certificate {
    /// The most names, name constraints and names of distribution points together of a certificate that is judged.
    package static let maximumNames = 1000

    /// Whether it holds more than is compared.
    var isExcessive: Bool { comparedParts.count > Self.maximumNames }

    /// The additional cost for libcrypto to read a large certificate, in the units of `WorkBudget`.
    var readingCost: Int { der.count > Self.keptCount ? der.count >> 13 : 0 }
}
