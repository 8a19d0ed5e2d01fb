import CLDAP
import Foundation
import LibCrypto

/// libldap, the client library of OpenLDAP. The library is loaded when a directory is queried.
///
/// If libldap were linked, every command would load it and its dependencies. `init` shows which C function each property is.
/// The manual pages of the C library describe the functions, for example ldap_search_ext(3).
struct LDAPLibrary: Sendable {
    /// The library's file names, newest version first.
    #if canImport(Darwin)
    private static let names = ["libldap.2.dylib", "libldap.dylib"]
    #else
    private static let names = ["libldap.so.2", "libldap-2.6.so.0", "libldap-2.5.so.0", "libldap_r-2.4.so.2"]
    #endif

    private static let loaded = Result { () throws(DiscoveryOutage) in try LDAPLibrary() }

    /// The loaded library.
    ///
    /// - Throws: `DiscoveryOutage` if the library is not installed or lacks a function.
    static var shared: LDAPLibrary { get throws(DiscoveryOutage) { try loaded.get() } }

    let initialize: ldap_initialize_function
    let unbind: ldap_unbind_ext_s_function
    let getOption: ldap_get_option_function
    let setOption: ldap_set_option_function
    let startTLS: ldap_start_tls_s_function
    let bind: ldap_sasl_bind_s_function
    let search: ldap_search_ext_function
    let result: ldap_result_function
    let parseResult: ldap_parse_result_function
    let firstEntry: ldap_first_entry_function
    let firstAttribute: ldap_first_attribute_function
    let nextAttribute: ldap_next_attribute_function
    let values: ldap_get_values_len_function
    let freeValues: ldap_value_free_len_function
    let freeMessage: ldap_msgfree_function
    let freeMemory: ldap_memfree_function
    let errorText: ldap_err2string_function
    let freeElement: ber_free_function
    let controlBuffer: ber_sockbuf_ctrl_function

    private init() throws(DiscoveryOutage) {
        // If libldap uses OpenSSL and libcrypto is not started here, libldap would start it with the configuration that
        // OPENSSL_CONF names.
        Libcrypto.start()
        guard let library = Self.names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw .fault("libldap is needed (Debian: apt install libldap-2.5-0, or libldap2)")
        }
        // liblber is a dependency of libldap, so its symbols are found as well.
        func symbol(_ name: String) throws(DiscoveryOutage) -> UnsafeMutableRawPointer {
            guard let symbol = dlsym(library, name) else { throw .fault("libldap has no \(name)") }
            return symbol
        }
        initialize = unsafeBitCast(try symbol("ldap_initialize"), to: ldap_initialize_function.self)
        unbind = unsafeBitCast(try symbol("ldap_unbind_ext_s"), to: ldap_unbind_ext_s_function.self)
        getOption = unsafeBitCast(try symbol("ldap_get_option"), to: ldap_get_option_function.self)
        setOption = unsafeBitCast(try symbol("ldap_set_option"), to: ldap_set_option_function.self)
        startTLS = unsafeBitCast(try symbol("ldap_start_tls_s"), to: ldap_start_tls_s_function.self)
        bind = unsafeBitCast(try symbol("ldap_sasl_bind_s"), to: ldap_sasl_bind_s_function.self)
        search = unsafeBitCast(try symbol("ldap_search_ext"), to: ldap_search_ext_function.self)
        result = unsafeBitCast(try symbol("ldap_result"), to: ldap_result_function.self)
        parseResult = unsafeBitCast(try symbol("ldap_parse_result"), to: ldap_parse_result_function.self)
        firstEntry = unsafeBitCast(try symbol("ldap_first_entry"), to: ldap_first_entry_function.self)
        firstAttribute = unsafeBitCast(try symbol("ldap_first_attribute"), to: ldap_first_attribute_function.self)
        nextAttribute = unsafeBitCast(try symbol("ldap_next_attribute"), to: ldap_next_attribute_function.self)
        values = unsafeBitCast(try symbol("ldap_get_values_len"), to: ldap_get_values_len_function.self)
        freeValues = unsafeBitCast(try symbol("ldap_value_free_len"), to: ldap_value_free_len_function.self)
        freeMessage = unsafeBitCast(try symbol("ldap_msgfree"), to: ldap_msgfree_function.self)
        freeMemory = unsafeBitCast(try symbol("ldap_memfree"), to: ldap_memfree_function.self)
        errorText = unsafeBitCast(try symbol("ldap_err2string"), to: ldap_err2string_function.self)
        freeElement = unsafeBitCast(try symbol("ber_free"), to: ber_free_function.self)
        controlBuffer = unsafeBitCast(try symbol("ber_sockbuf_ctrl"), to: ber_sockbuf_ctrl_function.self)
    }
}
