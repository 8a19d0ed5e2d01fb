// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "smime",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "SMIME", targets: ["SMIME"]),
        .library(name: "CMS", targets: ["CMS"]),
        .library(name: "MIME", targets: ["MIME"]),
        .library(name: "Keystore", targets: ["Keystore"]),
        .library(name: "Streams", targets: ["Streams"]),
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
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"]), .brew(["libidn2"])]),
        .target(name: "Streams"),
        .target(
            name: "CMS",
            dependencies: ["COpenSSL", "Streams", .product(name: "SwiftASN1", package: "swift-asn1")]
        ),
        .target(name: "MIME", dependencies: ["CIDN2", "Streams"]),
        .target(name: "SMIME", dependencies: ["CMS", "MIME", "Streams"]),
        .target(
            name: "Keystore",
            dependencies: ["CMS", "MIME", .product(name: "GRDB", package: "GRDB.swift")]
        ),
        .target(name: "MailFilter", dependencies: ["CMS", "Keystore", "MIME", "SMIME", "Streams"]),
        .executableTarget(
            name: "SMIMECLI",
            dependencies: [
                "CMS", "Keystore", "MIME", "MailFilter", "SMIME", "Streams",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "StreamsTests", dependencies: ["Streams", "TestSupport"]),
        .testTarget(name: "CMSTests", dependencies: ["CMS", "Streams", "TestSupport"]),
        .testTarget(name: "MIMETests", dependencies: ["MIME", "Streams", "TestSupport"]),
        .testTarget(name: "SMIMETests", dependencies: ["SMIME", "CMS", "MIME", "Streams", "TestSupport"]),
        .testTarget(
            name: "KeystoreTests",
            dependencies: ["Keystore", "CMS", "MIME", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")]
        ),
        .testTarget(
            name: "MailFilterTests",
            dependencies: ["MailFilter", "Keystore", "CMS", "MIME", "SMIME", "Streams", "TestSupport"]
        ),
        .testTarget(
            name: "SMIMECLITests",
            dependencies: ["SMIMECLI", "TestSupport"],
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
