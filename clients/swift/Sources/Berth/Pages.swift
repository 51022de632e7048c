import Connect

/// All pages of a list. A page is fetched when the loop asks for it. Throws a ``BerthError`` if a call fails.
///
/// ```swift
/// let pages = Pages(of: request, token: \.pageToken, next: \.nextPageToken) {
///     await berth.sessions.listSessions(request: $0)
/// }
/// for try await session in pages.items(\.sessions) { … }
/// ```
public struct Pages<Request: ProtobufMessage, Page: ProtobufMessage>: AsyncSequence {
    /// A page, which is the response of one call.
    public typealias Element = Page
    /// The RPC that reads one page.
    public typealias List = (Request) async -> ResponseMessage<Page>

    let request: Request
    let token: WritableKeyPath<Request, String>
    let next: KeyPath<Page, String>
    let list: List

    /// Creates the sequence. It calls nothing yet.
    ///
    /// - parameter request: The request of the first page.
    /// - parameter token: The request's `page_token`.
    /// - parameter next: The response's `next_page_token`.
    /// - parameter list: The RPC.
    public init(
        of request: Request,
        token: WritableKeyPath<Request, String>,
        next: KeyPath<Page, String>,
        list: @escaping List
    ) {
        self.request = request
        self.token = token
        self.next = next
        self.list = list
    }

    /// Starts at the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        return AsyncIterator(pages: self, request: self.request)
    }

    /// Fetches the pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let pages: Pages
        var request: Request?

        /// Fetches the next page. Returns nil after the last.
        public mutating func next() async throws -> Page? {
            guard var request = self.request else {
                return nil
            }
            self.request = nil // the sequence ends after an error
            let page = try await self.pages.list(request).value
            let token = page[keyPath: self.pages.next]
            if !token.isEmpty {
                request[keyPath: self.pages.token] = token
                self.request = request
            }
            return page
        }
    }

    /// All items of the list. A page is fetched when the loop asks for its first item.
    ///
    /// - parameter items: The items of a page.
    public func items<Item>(_ items: KeyPath<Page, [Item]>) -> Items<Request, Page, Item> {
        return Items(pages: self, items: items)
    }
}

/// All items of a list, page by page. Made by ``Pages/items(_:)``.
public struct Items<Request: ProtobufMessage, Page: ProtobufMessage, Item>: AsyncSequence {
    /// An item.
    public typealias Element = Item

    let pages: Pages<Request, Page>
    let items: KeyPath<Page, [Item]>

    /// Starts at the first item.
    public func makeAsyncIterator() -> AsyncIterator {
        return AsyncIterator(pages: self.pages.makeAsyncIterator(), items: self.items)
    }

    /// Fetches the pages of the items.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: Pages<Request, Page>.AsyncIterator
        let items: KeyPath<Page, [Item]>
        var page: [Item] = []
        var position = 0

        /// Returns the next item, or nil after the last.
        public mutating func next() async throws -> Item? {
            while self.position == self.page.count {
                guard let page = try await self.pages.next() else {
                    return nil
                }
                self.page = page[keyPath: self.items]
                self.position = 0
            }
            defer { self.position += 1 }
            return self.page[self.position]
        }
    }
}
