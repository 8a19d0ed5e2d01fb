// swift-tools-version: 6.2
import PackageDescription

// On Linux the program loads libidn2 with dlopen when it needs it.
#if os(macOS)
let linkedIDN2: String? = "libidn2"
#else
let linkedIDN2: String? = nil
#endif

// A user who turns all traits off and uses only the product SMIME fetches only swift-asn1.
let store = TargetDependencyCondition.when(traits: ["Store"])
let server = TargetDependencyCondition.when(traits: ["Server"])
let commandLine = TargetDependencyCondition.when(traits: ["CommandLine"])

let package = Package(
    name: "smime",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "SMIME", targets: ["SMIME"]),
        .library(name: "SMIMEGateway", targets: ["SMIMEGateway"]),
        .library(name: "SMIMEStore", targets: ["SMIMEStore", "SMIMEAgent"]),
        .executable(name: "smime", targets: ["SMIMECLI"]),
    ],
    traits: [
        .trait(
            name: "Store",
            description: "The products SMIMEStore and SMIMEGateway, which keep certificates and keys in a store"
        ),
        .trait(name: "Server", description: "The resident gateway", enabledTraits: ["Store"]),
        .trait(name: "CommandLine", description: "The command smime", enabledTraits: ["Store", "Server"]),
        .default(enabledTraits: ["Store", "Server", "CommandLine"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: linkedIDN2, providers: [.apt(["libidn2-dev"]), .brew(["libidn2"])]),
        .systemLibrary(name: "CLDAP"),
        .systemLibrary(name: "CPostgreSQL"),
        .systemLibrary(name: "CSpawn"),
        .systemLibrary(name: "CUnbound"),
        // Only this module returns spans that it makes from pointers, so only this module declares their lifetimes, as the
        // standard library and swift-collections do.
        .target(name: "ByteStreams", swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
        .target(name: "LibCrypto", dependencies: ["ByteStreams", "COpenSSL", "CSpawn"]),
        .target(
            name: "PKIX",
            dependencies: ["ByteStreams", "LibCrypto", .product(name: "SwiftASN1", package: "swift-asn1")]
        ),
        .target(
            name: "CMSSyntax",
            dependencies: [
                "ByteStreams", "CZlib", "LibCrypto", "PKIX", .product(name: "SwiftASN1", package: "swift-asn1"),
            ]
        ),
        .target(name: "InternetMessage", dependencies: ["ByteStreams", "CIDN2"]),
        .target(name: "SMIME", dependencies: ["ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX"]),
        .target(
            name: "SMIMEStore",
            dependencies: [
                "ByteStreams", "CPostgreSQL", "InternetMessage", "LibCrypto", "PKIX", "SMIME",
                .product(name: "GRDB", package: "GRDB.swift", condition: store),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: store),
            ]
        ),
        .target(name: "CertificateDiscovery", dependencies: ["CLDAP", "CUnbound", "LibCrypto", "PKIX"]),
        .target(
            name: "SMIMEAgent",
            dependencies: [
                "ByteStreams", "CMSSyntax", "CertificateDiscovery", "InternetMessage", "LibCrypto", "PKIX", "SMIME",
                "SMIMEStore",
            ]
        ),
        .target(
            name: "SMIMEGateway",
            dependencies: [
                "ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEAgent", "SMIMEStore",
            ]
        ),
        .target(
            name: "SMIMEServer",
            dependencies: [
                "ByteStreams", "InternetMessage", "LibCrypto", "SMIME", "SMIMEAgent", "SMIMEGateway", "SMIMEStore",
                .product(name: "Logging", package: "swift-log", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: server),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: server),
            ]
        ),
        .executableTarget(
            name: "SMIMECLI",
            dependencies: [
                "ByteStreams", "CMSSyntax", "CertificateDiscovery", "InternetMessage", "LibCrypto", "PKIX", "SMIME",
                "SMIMEAgent", "SMIMEGateway", "SMIMEServer", "SMIMEStore",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: commandLine),
            ]
        ),
        .target(
            name: "TestSupport",
            dependencies: ["InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEStore"],
            path: "Tests/TestSupport"
        ),
        .executableTarget(
            name: "RegistryBench",
            dependencies: ["InternetMessage", "SMIMEStore"],
            path: "Tests/RegistryBench"
        ),
        .executableTarget(
            name: "MailBench",
            dependencies: ["ByteStreams", "CMSSyntax", "LibCrypto", "PKIX", "SMIME"],
            path: "Tests/MailBench"
        ),
        .executableTarget(
            name: "GatewayBench",
            dependencies: [
                "ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEAgent",
                "SMIMEGateway", "SMIMEStore",
            ],
            path: "Tests/GatewayBench"
        ),
        .testTarget(name: "ByteStreamsTests", dependencies: ["ByteStreams", "TestSupport"]),
        .testTarget(name: "LibCryptoTests", dependencies: ["ByteStreams", "LibCrypto", "TestSupport"]),
        .testTarget(name: "PKIXTests", dependencies: ["ByteStreams", "LibCrypto", "PKIX", "TestSupport"]),
        .testTarget(
            name: "CMSSyntaxTests",
            dependencies: ["ByteStreams", "CMSSyntax", "LibCrypto", "PKIX", "TestSupport"]
        ),
        .testTarget(name: "InternetMessageTests", dependencies: ["ByteStreams", "InternetMessage", "TestSupport"]),
        .testTarget(
            name: "SMIMETests",
            dependencies: ["ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "TestSupport"]
        ),
        .testTarget(
            name: "SMIMEStoreTests",
            dependencies: [
                "ByteStreams", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEStore", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: store),
            ]
        ),
        .testTarget(
            name: "SMIMEAgentTests",
            dependencies: [
                "ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEAgent",
                "SMIMEStore", "TestSupport",
            ]
        ),
        .testTarget(
            name: "SMIMEGatewayTests",
            dependencies: [
                "ByteStreams", "CMSSyntax", "CertificateDiscovery", "InternetMessage", "LibCrypto", "PKIX", "SMIME",
                "SMIMEAgent", "SMIMEGateway", "SMIMEStore", "TestSupport",
            ]
        ),
        .testTarget(
            name: "SMIMEServerTests",
            dependencies: [
                "ByteStreams", "InternetMessage", "LibCrypto", "SMIME", "SMIMEAgent", "SMIMEGateway", "SMIMEServer",
                "SMIMEStore", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: server),
                .product(name: "NIOPosix", package: "swift-nio", condition: server),
            ]
        ),
        .testTarget(name: "CertificateDiscoveryTests", dependencies: ["CertificateDiscovery", "PKIX", "TestSupport"]),
        // These tests call libcrypto directly to forge input that the modules of this package refuse to write.
        .testTarget(
            name: "HostileTests",
            dependencies: [
                "ByteStreams", "CMSSyntax", "COpenSSL", "CertificateDiscovery", "InternetMessage", "LibCrypto",
                "PKIX", "SMIME", "SMIMECLI", "SMIMEStore", "TestSupport",
            ],
            exclude: ["README.md"]
        ),
        .testTarget(
            name: "SMIMECLITests",
            dependencies: [
                "ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMECLI",
                "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: commandLine),
            ],
            exclude: ["Transcripts"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzz targets are built for libFuzzer, dependencies included, and only by scripts/fuzz. SMIME_FUZZ=short leaves out
// `policy`, and with it the store and GRDB, which take half of the time to build.
if let fuzz = Context.environment["SMIME_FUZZ"] {
    let isShort = fuzz == "short"
    // Only the server's protocol code is fuzzed. It has few dependencies to build.
    for target in package.targets where target.name == "SMIMEServer" {
        target.sources = ["Milter", "SMTP"]
        target.dependencies = [
            "ByteStreams", "InternetMessage", .product(name: "NIOCore", package: "swift-nio", condition: server),
        ]
    }
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "ByteStreams", "CMSSyntax", "InternetMessage", "LibCrypto", "PKIX", "SMIME", "SMIMEServer",
                .product(name: "NIOCore", package: "swift-nio", condition: server),
            ] + (isShort ? [] : ["SMIMEAgent", "SMIMEGateway", "SMIMEStore"]),
            path: "Tests/Fuzz",
            // libFuzzer contains the main function.
            swiftSettings: [.unsafeFlags(["-parse-as-library"])] + (isShort ? [.define("SHORT")] : [])
        )
    )
}

// The same rules for every Swift target: imports are internal unless a file says otherwise, and a member is visible only
// in files that import its module. Warnings are errors only in our own builds (scripts/lib.sh sets SMIME_STRICT).
let isStrict = Context.environment["SMIME_STRICT"] != nil
for target in package.targets where target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("ExistentialAny"),
        ]
    if isStrict { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
