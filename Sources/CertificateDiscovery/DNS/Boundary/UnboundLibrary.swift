import CUnbound
import Foundation
import LibCrypto

/// libunbound, a resolver that validates DNSSEC. The library is loaded on first use.
///
/// `init` shows which C function each property is. libunbound(3) describes the functions.
struct UnboundLibrary: Sendable {
    #if canImport(Darwin)
    private static let names = ["libunbound.8.dylib", "libunbound.dylib"]
    #else
    private static let names = ["libunbound.so.8"]
    #endif

    private static let loaded = Result { () throws(DiscoveryOutage) in try UnboundLibrary() }

    /// The loaded library.
    ///
    /// - Throws: `DiscoveryOutage` if the library is not installed or lacks a function.
    static var shared: UnboundLibrary { get throws(DiscoveryOutage) { try loaded.get() } }

    let create: ub_ctx_create_function
    let delete: ub_ctx_delete_function
    let setOption: ub_ctx_set_option_function
    let readResolvers: ub_ctx_resolvconf_function
    let addResolver: ub_ctx_set_fwd_function
    let addAnchors: ub_ctx_add_ta_file_function
    let useThread: ub_ctx_async_function
    let resolve: ub_resolve_async_function
    let descriptor: ub_fd_function
    let process: ub_process_function
    let freeResult: ub_resolve_free_function
    let errorText: ub_strerror_function

    private init() throws(DiscoveryOutage) {
        // If libcrypto is not started here, libunbound would start it with the configuration that OPENSSL_CONF names.
        Libcrypto.start()
        guard let library = Self.names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw .fault("libunbound is needed (Debian: apt install libunbound8)")
        }
        func symbol(_ name: String) throws(DiscoveryOutage) -> UnsafeMutableRawPointer {
            guard let symbol = dlsym(library, name) else { throw .fault("libunbound has no \(name)") }
            return symbol
        }
        create = unsafeBitCast(try symbol("ub_ctx_create"), to: ub_ctx_create_function.self)
        delete = unsafeBitCast(try symbol("ub_ctx_delete"), to: ub_ctx_delete_function.self)
        setOption = unsafeBitCast(try symbol("ub_ctx_set_option"), to: ub_ctx_set_option_function.self)
        readResolvers = unsafeBitCast(try symbol("ub_ctx_resolvconf"), to: ub_ctx_resolvconf_function.self)
        addResolver = unsafeBitCast(try symbol("ub_ctx_set_fwd"), to: ub_ctx_set_fwd_function.self)
        addAnchors = unsafeBitCast(try symbol("ub_ctx_add_ta_file"), to: ub_ctx_add_ta_file_function.self)
        useThread = unsafeBitCast(try symbol("ub_ctx_async"), to: ub_ctx_async_function.self)
        resolve = unsafeBitCast(try symbol("ub_resolve_async"), to: ub_resolve_async_function.self)
        descriptor = unsafeBitCast(try symbol("ub_fd"), to: ub_fd_function.self)
        process = unsafeBitCast(try symbol("ub_process"), to: ub_process_function.self)
        freeResult = unsafeBitCast(try symbol("ub_resolve_free"), to: ub_resolve_free_function.self)
        errorText = unsafeBitCast(try symbol("ub_strerror"), to: ub_strerror_function.self)
    }
}
