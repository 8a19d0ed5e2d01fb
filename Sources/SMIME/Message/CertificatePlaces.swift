import PKIX

/// Finds the certificates of a list that CMS refers to, without searching the list.
struct CertificatePlaces: Sendable {
    private let places: [EntityIdentifier: [Int]]

    init(_ certificates: [Certificate]) {
        var places: [EntityIdentifier: [Int]] = [:]
        for (index, certificate) in certificates.enumerated() {
            places[EntityIdentifier(certificate), default: []].append(index)
            if let identifier = certificate.subjectKeyIdentifier {
                places[.subjectKeyIdentifier(identifier), default: []].append(index)
            }
        }
        self.places = places
    }

    /// The places of the certificates that `identifiers` name, in the order of the list, each once.
    func matching(_ identifiers: [EntityIdentifier]) -> [Int] {
        Set(identifiers.flatMap { places[$0] ?? [] }).sorted()
    }
}
