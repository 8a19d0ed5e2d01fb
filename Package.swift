// swift-tools-version: 6.2
import PackageDescription

// On Linux libidn2 is loaded when it is needed.
#if os(macOS)
let linkedIDN2: String? = "libidn2"
#else
let linkedIDN2: String? = nil
#endif

let package = Package(
    name: "smime",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "SMIME", targets: ["SMIME"]),
        .library(name: "CMSSyntax", targets: ["CMSSyntax"]),
        .library(name: "LibCrypto", targets: ["LibCrypto"]),
        .library(name: "InternetMessage", targets: ["InternetMessage"]),
        .library(name: "SMIMEStore", targets: ["SMIMEStore"]),
        .library(name: "SMIMEGateway", targets: ["SMIMEGateway"]),
        .library(name: "PKIX", targets: ["PKIX"]),
        .library(name: "CertificateDiscovery", targets: ["CertificateDiscovery"]),
        .library(name: "ByteStreams", targets: ["ByteStreams"]),
        .executable(name: "smime", targets: ["SMIMECLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: linkedIDN2, providers: [.apt(["libidn2-dev"]), .brew(["libidn2"])]),
        .target(name: "ByteStreams"),
        .target(name: "LibCrypto", dependencies: ["COpenSSL"]),
        .target(
            name: "PKIX",
            dependencies: ["LibCrypto", "ByteStreams", .product(name: "SwiftASN1", package: "swift-asn1")]
        ),
        .target(
            name: "CMSSyntax",
            dependencies: [
                "CZlib", "LibCrypto", "PKIX", "ByteStreams", .product(name: "SwiftASN1", package: "swift-asn1"),
            ]
        ),
        .target(name: "InternetMessage", dependencies: ["CIDN2", "ByteStreams"]),
        .target(name: "SMIME", dependencies: ["CMSSyntax", "LibCrypto", "InternetMessage", "PKIX", "ByteStreams"]),
        .target(
            name: "SMIMEStore",
            dependencies: [
                "LibCrypto", "InternetMessage", "PKIX", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(name: "CertificateDiscovery", dependencies: ["LibCrypto", "PKIX"]),
        .target(
            name: "SMIMEGateway",
            dependencies: ["CMSSyntax", "SMIMEStore", "LibCrypto", "InternetMessage", "PKIX", "SMIME", "ByteStreams"]
        ),
        .executableTarget(
            name: "SMIMECLI",
            dependencies: [
                "CMSSyntax", "SMIMEStore", "LibCrypto", "InternetMessage", "SMIMEGateway", "PKIX",
                "CertificateDiscovery",
                "SMIME",
                "ByteStreams",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .executableTarget(
            name: "RegistryBench",
            dependencies: ["SMIMEStore", "InternetMessage"],
            path: "Tests/RegistryBench"
        ),
        .executableTarget(
            name: "MailBench",
            dependencies: ["CMSSyntax", "LibCrypto", "PKIX", "SMIME", "ByteStreams"],
            path: "Tests/MailBench"
        ),
        .testTarget(name: "ByteStreamsTests", dependencies: ["ByteStreams", "TestSupport"]),
        .testTarget(name: "CMSSyntaxTests", dependencies: ["CMSSyntax", "LibCrypto", "PKIX", "ByteStreams", "TestSupport"]),
        .testTarget(name: "InternetMessageTests", dependencies: ["InternetMessage", "ByteStreams", "TestSupport"]),
        .testTarget(
            name: "SMIMETests",
            dependencies: ["CMSSyntax", "LibCrypto", "InternetMessage", "PKIX", "SMIME", "ByteStreams", "TestSupport"]
        ),
        .testTarget(
            name: "SMIMEStoreTests",
            dependencies: [
                "SMIMEStore", "LibCrypto", "InternetMessage", "PKIX", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "SMIMEGatewayTests",
            dependencies: [
                "CMSSyntax", "SMIMEStore", "LibCrypto", "InternetMessage", "SMIMEGateway", "PKIX",
                "CertificateDiscovery",
                "SMIME",
                "ByteStreams",
                "TestSupport",
            ]
        ),
        .testTarget(name: "CertificateDiscoveryTests", dependencies: ["PKIX", "CertificateDiscovery", "TestSupport"]),
        // Forges with libcrypto itself what our own code refuses to write.
        .testTarget(
            name: "HostileTests",
            dependencies: [
                "CMSSyntax", "COpenSSL", "SMIMEStore", "LibCrypto", "InternetMessage", "PKIX", "CertificateDiscovery",
                "SMIME",
                "SMIMECLI",
                "ByteStreams", "TestSupport",
            ],
            exclude: ["README.md"]
        ),
        .testTarget(
            name: "SMIMECLITests",
            dependencies: [
                "CMSSyntax", "LibCrypto", "InternetMessage", "PKIX", "SMIME", "SMIMECLI", "ByteStreams", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Transcripts"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// One bar for every Swift target: imports are private unless a file says otherwise, and a member is visible only
// when its module is imported by the file that uses it.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
        .treatAllWarnings(as: .error),
    ]
}
