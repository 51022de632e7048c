// swift-tools-version:5.9

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
            exclude: ["Generated/README.md"]
        ),
        .testTarget(
            name: "BerthTests",
            dependencies: [
                "Berth",
                .product(name: "Connect", package: "connect-swift"),
            ]
        ),
    ]
)
