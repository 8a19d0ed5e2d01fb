import CIDN2
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// libidn2, which converts international domain names (IDNA 2008).
///
/// The library is loaded only when the first such name occurs: loading takes longer than encrypting a mail, and few mails
/// contain such names. On macOS the program is linked with the library.
package struct IDNLibrary: Sendable {
    private typealias Lookup =
        @convention(c) (UnsafePointer<UInt8>?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, CInt) -> CInt
    private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// The library's file name, for `dlopen` and for error messages.
    package static let name = "libidn2.so.0"
    /// The library; nil if it cannot be loaded. The next call tries again, because loading may have failed for lack of file
    /// descriptors.
    package static var shared: IDNLibrary? {
        loaded.withLock { library in
            library = library ?? IDNLibrary()
            return library
        }
    }

    private static let loaded = Mutex<IDNLibrary?>(nil)
    private static let missing = Mutex<(@Sendable (String) -> Void)?>(nil)

    private let lookup: Lookup
    private let free: Free

    private init?() {
        #if canImport(Darwin)
        (lookup, free) = (idn2_lookup_u8, idn2_free)
        #else
        guard let library = dlopen(Self.name, RTLD_NOW | RTLD_LOCAL), let lookup = dlsym(library, "idn2_lookup_u8"),
            let free = dlsym(library, "idn2_free")
        else { return nil }
        self.lookup = unsafeBitCast(lookup, to: Lookup.self)
        self.free = unsafeBitCast(free, to: Free.self)
        #endif
    }

    /// Sets a handler that is called with the loader's error if the library cannot be loaded, before a domain name is
    /// considered invalid. The handler can end the program, so that mail does not bypass the rules for its domain.
    package static func whenMissing(_ body: @escaping @Sendable (String) -> Void) { missing.withLock { $0 = body } }

    /// `domain` with A-labels; nil if it is not a domain name of IDNA 2008, or if the library cannot be loaded.
    static func ascii(_ domain: String) -> String? {
        guard let shared else {
            missing.withLock { $0 }?(dlerror().map { String(cString: $0) } ?? name)
            return nil
        }
        return shared.ascii(domain)
    }

    /// `domain` with A-labels; nil if it is not a domain name of IDNA 2008.
    ///
    /// libidn2: `idn2_lookup_u8`
    private func ascii(_ domain: String) -> String? {
        var output: UnsafeMutablePointer<UInt8>?
        let flags = CInt(IDN2_NFC_INPUT.rawValue | IDN2_NO_TR46.rawValue)
        guard lookup(domain, &output, flags) == CInt(IDN2_OK.rawValue), let output else { return nil }
        defer { free(output) }
        return String(cString: output)
    }
}
