import PKIX

extension DistinguishedName {
    /// The common name; the whole name if there is no common name. Tables and sentences have no room for the whole name.
    var shortName: String { commonName ?? "\(self)" }
}
