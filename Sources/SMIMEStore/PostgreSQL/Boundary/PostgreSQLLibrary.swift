import CPostgreSQL
import Foundation
import LibCrypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// libpq, PostgreSQL's client library. It is loaded when a store on a server is used for the first time.
///
/// If libpq were linked, every command would load it along with twenty other libraries. The functions are named as in C
/// without `PQ`; see their documentation.
/// Source: https://www.postgresql.org/docs/current/libpq.html
struct PostgreSQLLibrary: Sendable {
    #if canImport(Darwin)
    static let name = "libpq.5.dylib"
    #else
    static let name = "libpq.so.5"
    #endif

    private static let loaded = Result { try PostgreSQLLibrary() }

    /// The loaded library.
    ///
    /// - Throws: `SQLError` of the kind `.cannotOpen`, with the message of the dynamic loader.
    static var shared: PostgreSQLLibrary { get throws { try loaded.get() } }

    let parse: PQconninfoParseFunction
    let freeOptions: PQconninfoFreeFunction
    let freeMemory: PQfreememFunction
    let connect: PQconnectdbParamsFunction
    let finish: PQfinishFunction
    let status: PQstatusFunction
    let transactionStatus: PQtransactionStatusFunction
    let parameterStatus: PQparameterStatusFunction
    let errorMessage: PQerrorMessageFunction
    let setNoticeProcessor: PQsetNoticeProcessorFunction
    let exec: PQexecFunction
    let enterPipelineMode: PQenterPipelineModeFunction
    let exitPipelineMode: PQexitPipelineModeFunction
    let pipelineSync: PQpipelineSyncFunction
    let sendQuery: PQsendQueryParamsFunction
    let sendPrepare: PQsendPrepareFunction
    let sendPrepared: PQsendQueryPreparedFunction
    let getResult: PQgetResultFunction
    let clear: PQclearFunction
    let resultStatus: PQresultStatusFunction
    let errorField: PQresultErrorFieldFunction
    let changedRows: PQcmdTuplesFunction
    let rowCount: PQntuplesFunction
    let columnCount: PQnfieldsFunction
    let columnName: PQfnameFunction
    let columnType: PQftypeFunction
    let value: PQgetvalueFunction
    let length: PQgetlengthFunction
    let isNull: PQgetisnullFunction

    private init() throws {
        // libcrypto is started first. Otherwise libpq would start it with the configuration file in OPENSSL_CONF.
        Libcrypto.start()
        guard let library = dlopen(Self.name, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? Self.name
            throw SQLError(.cannotOpen, "a store on PostgreSQL needs libpq (Debian: apt install libpq5): \(reason)")
        }
        func symbol(_ name: String) throws -> UnsafeMutableRawPointer {
            guard let symbol = dlsym(library, name) else {
                throw SQLError(.cannotOpen, "libpq 14 or later is needed: \(Self.name) has no \(name)")
            }
            return symbol
        }
        parse = unsafeBitCast(try symbol("PQconninfoParse"), to: PQconninfoParseFunction.self)
        freeOptions = unsafeBitCast(try symbol("PQconninfoFree"), to: PQconninfoFreeFunction.self)
        freeMemory = unsafeBitCast(try symbol("PQfreemem"), to: PQfreememFunction.self)
        connect = unsafeBitCast(try symbol("PQconnectdbParams"), to: PQconnectdbParamsFunction.self)
        finish = unsafeBitCast(try symbol("PQfinish"), to: PQfinishFunction.self)
        status = unsafeBitCast(try symbol("PQstatus"), to: PQstatusFunction.self)
        transactionStatus = unsafeBitCast(try symbol("PQtransactionStatus"), to: PQtransactionStatusFunction.self)
        parameterStatus = unsafeBitCast(try symbol("PQparameterStatus"), to: PQparameterStatusFunction.self)
        errorMessage = unsafeBitCast(try symbol("PQerrorMessage"), to: PQerrorMessageFunction.self)
        setNoticeProcessor = unsafeBitCast(try symbol("PQsetNoticeProcessor"), to: PQsetNoticeProcessorFunction.self)
        exec = unsafeBitCast(try symbol("PQexec"), to: PQexecFunction.self)
        enterPipelineMode = unsafeBitCast(try symbol("PQenterPipelineMode"), to: PQenterPipelineModeFunction.self)
        exitPipelineMode = unsafeBitCast(try symbol("PQexitPipelineMode"), to: PQexitPipelineModeFunction.self)
        pipelineSync = unsafeBitCast(try symbol("PQpipelineSync"), to: PQpipelineSyncFunction.self)
        sendQuery = unsafeBitCast(try symbol("PQsendQueryParams"), to: PQsendQueryParamsFunction.self)
        sendPrepare = unsafeBitCast(try symbol("PQsendPrepare"), to: PQsendPrepareFunction.self)
        sendPrepared = unsafeBitCast(try symbol("PQsendQueryPrepared"), to: PQsendQueryPreparedFunction.self)
        getResult = unsafeBitCast(try symbol("PQgetResult"), to: PQgetResultFunction.self)
        clear = unsafeBitCast(try symbol("PQclear"), to: PQclearFunction.self)
        resultStatus = unsafeBitCast(try symbol("PQresultStatus"), to: PQresultStatusFunction.self)
        errorField = unsafeBitCast(try symbol("PQresultErrorField"), to: PQresultErrorFieldFunction.self)
        changedRows = unsafeBitCast(try symbol("PQcmdTuples"), to: PQcmdTuplesFunction.self)
        rowCount = unsafeBitCast(try symbol("PQntuples"), to: PQntuplesFunction.self)
        columnCount = unsafeBitCast(try symbol("PQnfields"), to: PQnfieldsFunction.self)
        columnName = unsafeBitCast(try symbol("PQfname"), to: PQfnameFunction.self)
        columnType = unsafeBitCast(try symbol("PQftype"), to: PQftypeFunction.self)
        value = unsafeBitCast(try symbol("PQgetvalue"), to: PQgetvalueFunction.self)
        length = unsafeBitCast(try symbol("PQgetlength"), to: PQgetlengthFunction.self)
        isNull = unsafeBitCast(try symbol("PQgetisnull"), to: PQgetisnullFunction.self)
    }
}

extension PostgreSQLLibrary {
    /// A connection with `options`; nil if memory is exhausted. The caller must finish the connection, even if connecting
    /// failed.
    ///
    /// libpq: `PQconnectdbParams`
    func connection(_ options: [String: String]) -> OpaquePointer? {
        let names = options.keys.sorted()
        let keywords = names.map { strdup($0) } + [nil]
        let values = names.map { strdup(options[$0] ?? "") } + [nil]
        defer { (keywords + values).forEach { free($0) } }
        return connect(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
    }

    /// The options in `url`; nil if `url` is not a valid URL.
    ///
    /// libpq: `PQconninfoParse`
    func options(in url: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        guard let first = parse(url, &message) else {
            // The message of libpq is not used: it may quote the URL with the password.
            freeMemory(message)
            return nil
        }
        defer { freeOptions(first) }
        var given: [String: String] = [:]
        var option = first
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return given
    }
}
