// swift-tools-version:6.1

// At the root of the repository, because Swift's package manager looks for it here. The code is in clients/swift.
import PackageDescription

let package = Package(
    name: "Berth",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8)],
    products: [
        .library(name: "Berth", targets: ["Berth"]),
    ],
    dependencies: [
        .package(url: "https://github.com/connectrpc/connect-swift.git", from: "1.2.3"),
        // Must be at least as new as the generator in buf.gen.yaml.
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.38.1"),
    ],
    targets: [
        .target(
            name: "Berth",
            dependencies: [
                .product(name: "Connect", package: "connect-swift"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "clients/swift/Sources/Berth",
            exclude: ["Generated/README.md", "Generated/digests.txt"]
        ),
        .testTarget(
            name: "BerthTests",
            dependencies: [
                "Berth",
                .product(name: "Connect", package: "connect-swift"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "clients/swift/Tests/BerthTests"
        ),
    ]
)
