import PKIX

/// A key provider of the caller. Converts the errors that it throws to the error of the public interface.
struct CallersKeys: KeyProvider {
    private let keys: any KeyProvider

    init(_ keys: any KeyProvider) { self.keys = keys }

    func identity(for recipients: [EntityIdentifier]) async throws(SMIMEError) -> Identity? {
        do { return try await keys.identity(for: recipients) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func certificates(for signers: [EntityIdentifier]) async throws(SMIMEError) -> [Certificate] {
        do { return try await keys.certificates(for: signers) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func trust(for certificates: [Certificate]) async throws(SMIMEError) -> TrustStore {
        do { return try await keys.trust(for: certificates) } catch { throw SMIMEError(thrownByCaller: error) }
    }

    func exceptions() async throws(SMIMEError) -> VerdictExceptions {
        do { return try await keys.exceptions() } catch { throw SMIMEError(thrownByCaller: error) }
    }
}
